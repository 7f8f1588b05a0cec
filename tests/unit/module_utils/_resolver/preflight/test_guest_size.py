"""Warnings of guests that are too small to boot, or have sockets that their system does not use."""

from typing import Any

import pytest

from plugins.module_utils._resolver.preflight.guest_size import too_little_memory, unused_sockets


def applied(memory: str | None, preference: str | None = None) -> dict[str, Any]:
    domain = {"memory": {"guest": memory}} if memory else {}
    spec: dict[str, Any] = {"template": {"spec": {"domain": domain}}}
    return {"spec": {**spec, **({"preference": {"name": preference}} if preference else {})}}


@pytest.mark.parametrize(
    ("memory", "preference", "least"),
    [
        ("4Mi", None, "32Mi"),
        ("32Mi", None, None),
        ("32Mi", "windows.11", "512Mi"),
        ("256M", "Fedora", "512Mi"),
        ("512Mi", "fedora.s390x", None),
        ("4Mi", "own", "32Mi"),
        ("much", None, None),
        (None, None, None),
    ],
)
def test_least_memory(memory: str | None, preference: str | None, least: str | None) -> None:
    warning = too_little_memory(applied(memory, preference), {} if preference else None)
    assert (warning is None) if least is None else (warning or "").endswith(f"give it {least} or more")


def test_requirements_of_the_preference_are_checked_by_kubevirt() -> None:
    assert too_little_memory(applied("4Mi", "fedora"), {"requirements": {"memory": {"guest": "1Mi"}}}) is None
    assert too_little_memory(applied("4Mi", "fedora"), {"requirements": {"cpu": {"guest": 1}}})


def with_sockets(
    sockets: int, preference: str = "", annotation: str = "", instancetype: str | None = None
) -> dict[str, Any]:
    vm = applied("4Gi", preference)
    vm["spec"]["template"]["spec"]["domain"]["cpu"] = {"sockets": sockets, "cores": 2}
    vm["spec"]["template"]["metadata"] = {"annotations": {"vm.kubevirt.io/os": annotation}} if annotation else {}
    return {"spec": {**vm["spec"], **({"instancetype": {"name": instancetype}} if instancetype else {})}}


def test_the_remedy_is_where_sockets_come_from() -> None:
    assert unused_sockets(with_sockets(4, "windows.11")) == (
        "spec.template.spec.domain.cpu.sockets: Windows 11 uses 2 sockets at most, and the guest has 4;"
        " set cores instead of sockets"
    )
    typed = unused_sockets(with_sockets(4, "windows.11", instancetype="u1.xlarge"))
    assert (typed or "").endswith("; use a preference with preferredCPUTopology: cores")
