"""The check's findings about the defaults that image owners publish."""

from collections.abc import Callable

import pytest
from checked_files import CHECKED

Check = Callable[..., tuple[int, list[str]]]

DEFAULT = "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_"


def containerfile(*defaults: str) -> str:
    return "\n".join(["FROM scratch", *(f"ENV {DEFAULT}{default}" for default in defaults), "COPY a /disk/"])


@pytest.mark.parametrize("name", ["Containerfile", "Dockerfile", "images/fedora.containerfile", "b.dockerfile"])
def test_names_that_no_catalog_has(check: Check, name: str) -> None:
    assert check({name: containerfile("INSTANCETYPE=u1.medum", "PREFERENCE=fedora")}) == (
        1,
        [
            f"{name}:2: error: {DEFAULT}INSTANCETYPE: no catalog has the VirtualMachineClusterInstancetype u1.medum;"
            " did you mean u1.medium or u1.2xmedium? [not-found]",
            f"0 objects {CHECKED}: 1 error",
        ],
    )


def test_containerfiles_in_folders_are_found(check: Check) -> None:
    check({"images/Containerfile": containerfile("PREFERENCE=fedroa"), "images/run.sh": "exit"})
    (_code, lines) = check({"vm.txt": "a: b"}, "images")
    assert lines[0].startswith(f"images/Containerfile:2: error: {DEFAULT}PREFERENCE: no catalog has")


def test_right_defaults_are_no_finding(check: Check) -> None:
    assert check({"Containerfile": containerfile("INSTANCETYPE=u1.medium", "PREFERENCE=fedora")}) == (
        0,
        [f"0 objects {CHECKED}: nothing found"],
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            containerfile("INSTANCETYPE=own", "INSTANCETYPE_KIND=VirtualMachineInstancetype"),
            f"2: error: {DEFAULT}INSTANCETYPE: no catalog has the VirtualMachineInstancetype own; check the spelling"
            " [not-found]",
        ),
        (
            containerfile("PREFERENCE=fedora", "PREFERENCE_KIND=Flavor"),
            f"2: error: {DEFAULT}PREFERENCE: KubeVirt knows no preference of the kind Flavor; choose from"
            " VirtualMachineClusterPreference, VirtualMachinePreference [not-found]",
        ),
        (
            containerfile("INSTANCETYPE=u1.nano", "PREFERENCE=windows.11"),
            "3: error: KubeVirt rejects VMs with both defaults: insufficient CPU resources of 1 vCPU provided by"
            " instance type, preference requires 2 vCPU [refused]",
        ),
        (
            containerfile("PREFERANCE=fedora"),
            f"2: warning: {DEFAULT}PREFERANCE: KubeVirt does not read the label"
            f" instancetype.kubevirt.io/default-preferance; did you mean {DEFAULT}PREFERENCE or"
            f" {DEFAULT}PREFERENCE_KIND? [lost-field]",
        ),
        (
            "LABEL vendor=me instancetype.kubevirt.io/default-preference=fedora",
            "1: warning: instancetype.kubevirt.io/default-preference: CDI reads no labels of images, so this has no"
            f" effect; write ENV {DEFAULT}PREFERENCE [lost-field]",
        ),
        (
            containerfile("PREFERENCE=windows 11").replace("=", " "),
            f"2: error: {DEFAULT}PREFERENCE: 'windows 11' must consist of letters, digits, '-', '_' and '.', with a"
            " letter or digit at both ends, so no import of the image would end [invalid]",
        ),
        (
            f"ARG P\nENV {DEFAULT}PREFERENCE=$P",
            f"2: note: {DEFAULT}PREFERENCE: the build decides on the value, so it is not checked [unchecked]",
        ),
    ],
)
def test_other_errors_have_lines(check: Check, text: str, line: str) -> None:
    assert check({"Containerfile": text})[1][0] == f"Containerfile:{line}"
