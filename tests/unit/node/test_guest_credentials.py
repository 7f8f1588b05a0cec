"""Keys and passwords that a guest's agent takes."""

import base64
from typing import Any

from node_support import vmi

from node.guests.credentials import commands, secrets_of
from node.guests.report import Report
from node.handler import vmi as steps
from node.handler.vmi import Traits

SECRETS = {"keys": {"b": b"two\n", "a": b"one\n\n"}, "more": {"key": b"three"}, "passwords": {"ops": b"secret\n"}}


def credential(kind: str, secret: str, **method: Any) -> dict[str, Any]:
    return {kind: {"source": {"secret": {"secretName": secret}}, "propagationMethod": method}}


def with_credentials() -> dict[str, Any]:
    result = vmi("Running")
    result["spec"]["accessCredentials"] = [
        credential("sshPublicKey", "keys", qemuGuestAgent={"users": ["ops", "root"]}),
        credential("sshPublicKey", "more", qemuGuestAgent={"users": ["ops"]}),
        credential("sshPublicKey", "drive", noCloud={}),
        credential("userPassword", "passwords", qemuGuestAgent={}),
    ]
    return result


def test_users_get_the_keys_of_all_secrets() -> None:
    assert secrets_of(with_credentials()) == ["keys", "more", "passwords"]
    password = base64.b64encode(b"secret").decode()
    assert commands(with_credentials(), SECRETS) == [
        ("guest-set-user-password", {"username": "ops", "password": password, "crypted": False}),
        ("guest-ssh-add-authorized-keys", {"username": "ops", "keys": ["one", "two", "three"], "reset": True}),
        ("guest-ssh-add-authorized-keys", {"username": "root", "keys": ["one", "two"], "reset": True}),
    ]
    assert commands(vmi("Running"), {}) == []


def test_vmi_says_whether_the_guest_has_taken_them() -> None:
    manifest = vmi("Running")

    def condition(credentials: str | None) -> tuple[str, str]:
        steps.advance(manifest, Traits(), report=Report(credentials=credentials))
        found = [
            item for item in manifest["status"].get("conditions", []) if item["type"] == "AccessCredentialsSynchronized"
        ]
        return (found[0]["status"], found[0].get("message", "")) if found else ("", "")

    assert [condition(None), condition("no user ops"), condition("")] == [
        ("", ""),
        ("False", "no user ops"),
        ("True", ""),
    ]
