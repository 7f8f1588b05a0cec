"""Names that are too long for what KubeVirt makes of them."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.finding import ERROR
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.preflight.derived_names import too_long

KIND = "VirtualMachineClusterInstancetype"


def vm(length: int, instancetype: dict[str, Any] | None = None, **domain: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"template": {"spec": {"domain": domain}}}
    if instancetype is not None:
        spec["instancetype"] = instancetype
    return {"metadata": {"name": "a" * length, "namespace": "shop"}, "spec": spec}


def lines(manifest: dict[str, Any], live: dict[str, Any] | None = None, generation: int = 1) -> list[tuple[str, bool]]:
    there = {"kind": KIND, "metadata": {"name": "small", "generation": generation}}
    return [
        (name.line, name.severity == ERROR)
        for name in too_long(manifest, live, Cluster(Objects([there]), KubeVirt(NEWEST)))
    ]


@pytest.mark.parametrize(("length", "dropped"), [(239, ""), (240, "1 character"), (253, "14 characters")])
def test_the_name_of_the_pod(length: int, dropped: str) -> None:
    """Recorded with KubeVirt 1.9.0: 239 characters start, 240 do not."""
    found = lines(vm(length))
    assert bool(found) is bool(dropped)
    assert all(text.endswith(f"cannot start it; drop {dropped}") and new for text, new in found)


@pytest.mark.parametrize(("length", "generation", "fits"), [(200, 1, True), (201, 1, False), (200, 10, False)])
def test_the_name_of_the_revision(length: int, generation: int, fits: bool) -> None:
    """Recorded: 200 characters and those of `small` fill a name."""
    manifest = vm(length, {"name": "small", "kind": KIND})
    found = lines(manifest, generation=generation)
    assert (found == []) is fits
    if not fits:
        ((text, new),) = found
        assert text == (
            "metadata.name, spec.instancetype.name: the name of its instancetype's revision would have 254 characters"
            " of at most 253, so KubeVirt accepts the VM, but cannot start it; drop 1 character"
        )
        assert new
        # A VM that exists has its revision.
        assert lines(manifest, manifest, generation) == [(text, False)]
    assert lines(vm(length, {"name": "small", "revisionName": "r"})) == []


def test_the_label_of_the_revision() -> None:
    ((text, _new),) = lines(vm(3, {"name": "i" * 64}))
    assert text.startswith("spec.instancetype.name: 'iii") and text.endswith("drop 1 character")
    assert lines(vm(3, {"name": "i" * 63})) == []


@pytest.mark.parametrize(
    "domain", [{"devices": {"tpm": {"persistent": True}}}, {"firmware": {"bootloader": {"efi": {"persistent": True}}}}]
)
def test_the_label_of_the_persistent_state(domain: dict[str, Any]) -> None:
    assert lines(vm(63, **domain)) == []
    ((text, _new),) = lines(vm(65, **domain))
    assert "as a label of the persistent state" in text and text.endswith("drop 2 characters")
    assert lines(vm(65, devices={"tpm": {}})) == []
