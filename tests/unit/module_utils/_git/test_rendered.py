"""Manifests to store: the options that may be secret, the fields of a release, the names of files."""

from typing import Any

import pytest

from plugins.module_utils._git.rendered import check_release, file_name, secret_option
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.release import NEWEST, parse_release

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nabcdefghijklmnopqrst\n"


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"cloud_init": {"user": "me", "ssh_keys": ["ssh-ed25519 AAAA"], "password": None}}, ""),
        ({"labels": {"password": "no"}, "access_credentials": [{"type": "password", "secret": "x"}]}, ""),
        ({"boot": {"url": "https://example.com/disk.qcow2"}, "cloud_init": {"user_data": ""}}, ""),
        ({"cloud_init": {"password": "x"}}, "cloud_init.password"),
        ({"cloud_init": {"password_file": "/etc/password"}}, "cloud_init.password_file"),
        ({"volumes": [{"cloud_init": {"network_data": "x"}}]}, "volumes[0].cloud_init.network_data"),
        ({"spec": {"template": {"spec": {"volumes": [{"cloudInitNoCloud": {"userData": "x"}}]}}}}, "userData"),
        ({"boot": {"url": "https://me:pass@example.com/disk"}}, "boot.url"),
        ({"parameters": [{"name": "SIZE", "value": "1"}, {"name": "PASSWORD", "value": "x"}]}, "parameters[1].value"),
        ({"template": {"args": ["ok", KEY]}}, "template.args[1]"),
        ([KEY], "[0]"),
    ],
)
def test_first_option_that_may_be_secret_is_named(options: Any, path: str) -> None:
    found = secret_option(options)
    assert found.endswith(path) and bool(found) is bool(path)


def test_fields_unknown_to_the_release_are_refused() -> None:
    vm: dict[str, Any] = {"kind": "VirtualMachine", "metadata": {"name": "a"}}
    vm["spec"] = {"template": {"spec": {"domain": {"devices": {"gpus": [{"name": "a", "claimName": "b"}]}}}}}
    check_release(vm, NEWEST)
    with pytest.raises(FieldError, match=r"gpus\[0\]\.claimName: KubeVirt 1\.4 does not know the field; remove it"):
        check_release(vm, parse_release("1.4"))


def test_fields_unknown_to_all_are_accepted() -> None:
    oldest = parse_release("1.4")
    check_release({"kind": "VirtualMachine", "metadata": {"name": "a"}, "spec": {"fieldOfTomorrow": 1}}, oldest)
    check_release({"kind": "DataImportCron", "metadata": {"name": "a"}, "spec": {"x": 1}}, oldest)


def manifest(kind: str, name: str, namespace: str | None = None) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, **({"namespace": namespace} if namespace else {})}}


def test_file_names_tell_all_objects_apart() -> None:
    assert file_name(manifest("VirtualMachine", "web", "shop")) == "shop_virtualmachine_web.yaml"
    assert file_name(manifest("VirtualMachine", "web.1")) == "virtualmachine_web.1.yaml"


@pytest.mark.parametrize("names", [("../web", "shop"), ("web", "../shop"), ("a_b", "shop")])
def test_impossible_names_are_no_file_names(names: tuple[str, str]) -> None:
    with pytest.raises(FieldError, match=r"^name(space)?: '"):
        file_name(manifest("DataSource", *names))
