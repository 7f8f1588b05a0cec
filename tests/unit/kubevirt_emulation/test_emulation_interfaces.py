"""Interfaces and annotations that a running VMI takes over from its VM."""

from __future__ import annotations

from typing import Any

import pytest
from interface_specs import LAN, POD, spec, state

from kubevirt_emulation.controllers.dynamic_metadata import changes
from kubevirt_emulation.controllers.interfaces import without_detached

Manifest = dict[str, Any]


@pytest.mark.parametrize(
    ("wanted", "running", "expected"),
    [
        (spec(POD, LAN), spec(POD), None),
        (spec(POD, state(LAN, "absent")), spec(POD, LAN), None),
        (spec(POD, state(LAN, "absent")), spec(POD), spec(POD)),
        (spec(state(LAN, "absent")), {"domain": {"devices": {}}}, spec()),
    ],
)
def test_a_detached_interface_goes(wanted: Manifest, running: Manifest, expected: Manifest | None) -> None:
    assert without_detached(wanted, running) == expected


def test_annotations_that_a_running_vmi_takes_over() -> None:
    evict, no_eviction = (f"descheduler.alpha.kubernetes.io/{name}" for name in ("evict", "prefer-no-eviction"))
    template = {"metadata": {"annotations": {evict: "true", "other": "x"}}}
    vm = {"metadata": {"annotations": {"kubevirt.io/skip-backup-hooks": "true", no_eviction: "x"}}}
    vmi = {"metadata": {"annotations": {no_eviction: "y", "kubevirt.io/vm-generation": "1"}}}
    found = changes({**vm, "spec": {"template": template}}, vmi)
    assert found == {evict: "true", no_eviction: None, "kubevirt.io/skip-backup-hooks": "true"}
