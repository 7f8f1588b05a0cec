"""Labels from an image's environment; what CDI's own code made of more is in tests/boot_sources."""

from __future__ import annotations

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot.image import labels


def test_a_default_of_an_image() -> None:
    assert labels(["PATH=/bin", "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE=fedora"]) == {
        "instancetype.kubevirt.io/default-preference": "fedora"
    }


def test_the_prefix_is_optional_and_the_last_variable_counts() -> None:
    assert labels(["KUBEVIRT_IO_A_B=1", "KUBEVIRT_IO_A_B=2", "KUBEVIRT_IO_C"]) == {"kubevirt.io/a-b": "2"}
