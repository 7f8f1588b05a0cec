"""Processing of templates beyond the vectors of tests/templates."""

from typing import Any

import pytest

from plugins.module_utils._templates.process import conversion_error, process


def test_a_number_that_is_no_float_is_refused() -> None:
    error = process({"spec": {"virtualMachine": {"spec": {"a": 10**400}}}}, {}, "").errors[0]
    assert error.message.endswith("a number is larger than a 64-bit float")


# Errors of the conversion to Go's types; tests/templates has more, from virt-template's own code.


TIME = 'parsing time "{}" as "2006-01-02T15:04:05Z07:00": cannot parse "{}" as "{}"'


def vm(spec: Any = None, **metadata: Any) -> dict[str, Any]:
    return {"metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (vm(), None),
        (vm({"dataVolumeTemplates": {}}), "cannot restore slice from map"),
        (vm(labels=[]), "cannot restore map from slice"),
        (vm(generation=1.5), "cannot convert float64 to int64"),
        (vm(generation=-0.0), None),
        (vm(generation="1"), "unrecognized type: int64"),
        (vm(finalizers=[1]), "unrecognized type: string"),
        (vm(creationTimestamp=5), "json: cannot unmarshal number into Go value of type string"),
        (vm(creationTimestamp="2026-01-02T03:04:05.5+01:00"), None),
        (vm(creationTimestamp="2026-01-02 03:04"), TIME.format("2026-01-02 03:04", " 03:04", "T")),
        (vm(creationTimestamp="2026-01-02T03:04:05"), TIME.format("2026-01-02T03:04:05", "", "Z07:00")),
        (vm(creationTimestamp="2026-01-02T03:04:05Zx"), 'parsing time "2026-01-02T03:04:05Zx": extra text: "x"'),
        (
            vm({"dataVolumeTemplates": [{"spec": {"b": 1}, "a": 2}]}),
            'strict decoding error: unknown field "spec.dataVolumeTemplates[0].a", unknown field'
            ' "spec.dataVolumeTemplates[0].spec.b"',
        ),
        (
            vm({"template": {"spec": {"volumes": [{"name": "a", "containerDisk": 5}]}}}),
            "volumes[0].containerDisk: expected an object, found 5",
        ),
        (
            vm({"template": {"spec": {"terminationGracePeriodSeconds": "x", "hostname": 5}}}),
            "hostname: expected a string, found 5",
        ),
        (
            vm({"template": {"spec": {"domain": {"cpu": {"cores": -0.0}}}}}),
            "domain.cpu.cores: expected a whole number, found -0.0",
        ),
        (vm({"template": {"spec": {"terminationGracePeriodSeconds": -0.0}}}), None),
        (
            vm({"template": {"spec": {"Domain": {"CPU": {"Cores": "2"}}}}}),
            "domain.cpu.cores: expected a whole number, found '2'",
        ),
        (vm({"template": {"spec": []}}), "expected an object, found a list"),
        (
            vm({"template": {"spec": {"networks": [{"pod": []}]}}}),
            "networks[0].pod: expected an object, found a list",
        ),
        (
            vm({"template": {"spec": {"volumes": [{"memoryDump": {"claimName": 1}}]}}}),
            "volumes[0].memoryDump.claimName: expected a string, found 1",
        ),
    ],
)
def test_first_error_of_a_conversion(value: dict[str, Any], message: str | None) -> None:
    assert conversion_error("VirtualMachine", value) == message
