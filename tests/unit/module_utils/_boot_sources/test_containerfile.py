"""The defaults in a Containerfile."""

import pytest

from plugins.module_utils._boot_sources.containerfile import image_labels

TYPE = "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_INSTANCETYPE"
TYPE_LABEL = "instancetype.kubevirt.io/default-instancetype"
PREFERENCE = "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE"
PREFERENCE_LABEL = "instancetype.kubevirt.io/default-preference"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"FROM scratch\nENV {TYPE}=u1.small\n", [(2, TYPE, TYPE_LABEL, "u1.small")]),
        (f"env {TYPE} u1.small", [(1, TYPE, TYPE_LABEL, "u1.small")]),
        (f"  ENV {TYPE}='u1.small' PATH=/bin", [(1, TYPE, TYPE_LABEL, "u1.small")]),
        (
            f'ENV {TYPE}=u1.small \\\n# between\n\n  {PREFERENCE}="fedora" \\\n  OTHER=x\nUSER 107',
            [(1, TYPE, TYPE_LABEL, "u1.small"), (4, PREFERENCE, PREFERENCE_LABEL, "fedora")],
        ),
        (f"ENV {TYPE}=${{TYPE}}", [(1, TYPE, TYPE_LABEL, None)]),
        (f"LABEL {TYPE_LABEL}=u1.small version=$V", [(1, "", TYPE_LABEL, "u1.small"), (1, "", "version", None)]),
        (f"ENV {TYPE}=don't", [(1, TYPE, TYPE_LABEL, "don't")]),
        (f"ENV {TYPE}=a \\", [(1, TYPE, TYPE_LABEL, "a")]),
        (f"# ENV {TYPE}=a\nRUN echo {TYPE}=a\nENV\nENV \\\nCOPY a b\nLABEL odd", [(6, "", "odd", "")]),
        (f"ENV A=1 odd {TYPE}=a", [(1, TYPE, TYPE_LABEL, "a")]),
        ("", []),
    ],
)
def test_defaults_have_lines(text: str, found: list[tuple[object, ...]]) -> None:
    assert [tuple(label) for label in image_labels(text)] == found


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        # A label of another stage is not in the image.
        (f"FROM builder AS build\nENV {TYPE}=a\nFROM scratch\nENV {PREFERENCE}=b", [4]),
        (
            f"FROM base As Parent\nENV {TYPE}=a\nFROM other\nFROM --platform=linux/amd64 parent\nENV {PREFERENCE}=b",
            [2, 5],
        ),
        (f"FROM base AS one\nENV {TYPE}=a\nFROM one AS two\nFROM \\\n two\n", [2]),
        (f"FROM\nENV {TYPE}=a", [2]),
    ],
)
def test_image_is_that_of_the_last_stage(text: str, lines: list[int]) -> None:
    assert [label.line for label in image_labels(text)] == lines
