"""Labels from an image's environment; tests/boot_sources has more, from CDI's own code."""

from __future__ import annotations

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot.image import labels


def test_variable_becomes_a_label() -> None:
    assert labels(["PATH=/bin", "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE=fedora"]) == {
        "instancetype.kubevirt.io/default-preference": "fedora"
    }


def test_prefix_is_optional_and_last_variable_counts() -> None:
    assert labels(["KUBEVIRT_IO_A_B=1", "KUBEVIRT_IO_A_B=2", "KUBEVIRT_IO_C"]) == {"kubevirt.io/a-b": "2"}
