"""Text in aligned columns."""

from plugins.module_utils._columns import aligned


def test_columns_are_as_wide_as_their_longest_cell() -> None:
    assert aligned([("NAME", "READY", "NOTE"), ("a", "", "b c"), ("longer", "yes", "")]) == [
        "NAME    READY  NOTE",
        "a              b c",
        "longer  yes",
    ]
    assert aligned([]) == []
