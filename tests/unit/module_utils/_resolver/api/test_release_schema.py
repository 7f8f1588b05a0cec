"""Fields of values whose shape is not that of their type."""

from plugins.module_utils._resolver.api import release_schema
from plugins.module_utils._resolver.api.release import NEWEST


def test_values_of_a_wrong_shape_have_no_fields() -> None:
    for expression, value in (("VirtualMachineSpec", [1]), ("[]Disk", {"name": "a"}), ("string", {"a": 1})):
        assert list(release_schema.fields(expression, value)) == []
        assert list(release_schema.unknown(expression, value, NEWEST)) == []
        assert release_schema.without_unknown_fields(expression, value, NEWEST) == value
        assert list(release_schema.missing_fields(expression, value, NEWEST, scalars=True)) == []
