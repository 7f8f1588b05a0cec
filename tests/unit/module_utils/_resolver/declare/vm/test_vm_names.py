"""Names that are made, and names that volumes may have."""

import pytest

from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.declare.vm.volumes import Disks, generated_name

WRONG = "must consist of a-z, 0-9 and -, with a letter or digit at both ends"
LONG = "is longer than 63 characters"


def test_a_name_depends_only_on_its_seed() -> None:
    """It must not change between releases: a second run would make a second VM."""
    assert generated_name("vm", "a", "b") == generated_name("vm", "a", "b") == "vm-th29g"
    assert (
        len(
            {
                generated_name("vm", "a", "b"),
                generated_name("vm", "ab"),
                generated_name("vm", "a"),
                generated_name("vmi", "a", "b"),
            }
        )
        == 4
    )


@pytest.mark.parametrize(
    ("name", "faults"),
    [
        ("Root", WRONG),
        ("-a", WRONG),
        ("a.b", "has dots"),
        ("a" * 64, LONG),
        ("ü" * 32, f"{LONG} and {WRONG}"),
        (f"{'a' * 60}.{'b' * 60}", f"{LONG} and has dots"),
        (".".join(["a" * 62] * 4) + "a", f"{LONG} and has dots"),
    ],
)
def test_invalid_names_are_refused(name: str, faults: str) -> None:
    with pytest.raises(FieldError) as error:
        Disks("web").add_named("name", name, {})
    assert str(error.value) == f"name: {name!r} {faults}; use a name such as root-disk"
