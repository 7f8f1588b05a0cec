"""User data as the minimal guest reads them."""

import gzip
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from pathlib import Path

from loaded_files import load

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.vm import cloud_init

GUEST = Path(__file__).resolve().parents[3] / "tools" / "guests" / "minimal"
USER_DATA = load(GUEST / "user_data.py")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0A ops@example"


def test_generated_data_make_the_default_user() -> None:
    options = {"user": "ops: #1", "password": 'a"b#', "ssh_keys": [KEY]}
    volume = cloud_init.volume(options)
    assert volume
    data = USER_DATA.parse(volume["cloudInitNoCloud"]["userData"].encode())
    assert data.unknown == []
    (user,) = USER_DATA.users(data.config, {"public-keys": {"0": "from meta data"}})
    assert user["name"] == "ops: #1" and user["plain_text_passwd"] == 'a"b#' and user["lock_passwd"] is False
    assert user["ssh_authorized_keys"] == [KEY, "from meta data"]
    assert user["groups"] == USER_DATA.DEFAULT_USER["groups"]


def test_listed_users_replace_the_default_one() -> None:
    config = {"users": ["default", {"name": "ada", "sudo": False}, "bob, eve"], "user": {"name": "ops", "uid": 7}}
    made = USER_DATA.users(config, {})
    assert [user["name"] for user in made] == ["ops", "ada", "bob", "eve"] and made[0]["uid"] == 7
    assert USER_DATA.users({"users": []}, {}) == []
    assert [user["name"] for user in USER_DATA.users({}, {})] == ["debian"]


def test_passwords_are_plain_or_hashes() -> None:
    listed = {"chpasswd": {"list": "ada:x:y\nbob:$6$abc\n"}}
    assert USER_DATA.passwords(listed) == [("ada", "x:y", False), ("bob", "$6$abc", True)]
    users = {
        "chpasswd": {"users": [{"name": "ada", "password": "x", "type": "text"}, {"name": "bob", "password": "$6$"}]}
    }
    assert USER_DATA.passwords(users) == [("ada", "x", False), ("bob", "$6$", True)]


def test_names_of_the_host() -> None:
    names = USER_DATA.host_names
    assert names({}, {"local-hostname": "web-1"}) == ("web-1", "web-1")
    assert names({"hostname": "db", "fqdn": "db.example.org"}, {"local-hostname": "web-1"}) == ("db", "db.example.org")
    assert names({"fqdn": "db.example.org"}, {}) == ("db", "db.example.org")
    assert names({}, {}) == ("localhost", "localhost")


def test_parts_may_be_compressed_and_mixed() -> None:
    mixed = MIMEMultipart()
    mixed.attach(MIMEText("#cloud-config\nhostname: web\n", "cloud-config"))
    mixed.attach(MIMEText("#!/bin/sh\ntrue\n", "x-shellscript"))
    data = USER_DATA.parse(gzip.compress(mixed.as_bytes()))
    assert data == ({"hostname": "web"}, [b"#!/bin/sh\ntrue\n"], [])
    assert USER_DATA.parse(b"") == ({}, [], [])


def test_what_is_not_done_is_named() -> None:
    assert USER_DATA.parse(b"#cloud-config\npackages: [nginx]\n").unknown == ["user data: packages is not known"]
    assert USER_DATA.parse(b"#include\nhttps://example.org").unknown == [
        "user data: not known, they start with '#include\\nhttps://exa'"
    ]
    assert USER_DATA.parse(b"#cloud-config\npassword: 'secret\n").unknown == ["user data: no YAML, line 3"]
    assert USER_DATA.parse(b"#cloud-config\n- secret\n").unknown == ["user data: no mapping of options"]
