"""VMs with faults in namespaces of their own, side by side, and their diagnoses, read by one task."""

import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from waiting import wait_until

from modules_support import execute
from plugins.module_utils._diagnosis.chain import CHAIN
from vm_faults import MARK, Fault, NewPlaces, Place, put

Manifest = dict[str, Any]

ORDER = [link.name for link in CHAIN]


def diagnosed(kubeconfig: str, namespaces: Sequence[str]) -> dict[str, Manifest]:
    """The diagnoses by namespace, read by one task."""
    options = {"kubeconfig": kubeconfig, "label_selectors": [MARK], "include": ["diagnosis"]}
    result = execute("virtual_machine_info", options)
    assert "virtual_machines" in result, result
    return {vm["namespace"]: vm["diagnosis"] for vm in result["virtual_machines"] if vm["namespace"] in namespaces}


def await_links(kubeconfig: str, expected: Mapping[str, str]) -> dict[str, Manifest]:
    """The diagnoses by namespace, once all name their links at the same time. expected: namespace → link."""
    last: dict[str, Manifest] = {}

    def all_named() -> bool:
        last.update(diagnosed(kubeconfig, list(expected)))
        return not _others(last, expected)

    try:
        wait_until(all_named)
    except AssertionError:
        raise AssertionError(_others(last, expected)) from None
    return last


def _others(found: Mapping[str, Manifest], expected: Mapping[str, str]) -> dict[str, Any]:
    """The links that are named instead of the expected ones."""
    return {
        namespace: (link, found.get(namespace))
        for namespace, link in expected.items()
        if found.get(namespace, {}).get("link") != link
    }


def first_of(faults: Sequence[Fault]) -> str:
    return min((fault.link for fault in faults), key=ORDER.index)


def put_all(groups: Sequence[Sequence[Fault]], new: NewPlaces) -> list[Place]:
    """Puts VMs with faults into new namespaces, side by side."""
    places = new([_slug(group) for group in groups])
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(put, groups, places))
    return places


def _slug(faults: Sequence[Fault]) -> str:
    text = "-".join(fault.name.lower() for fault in faults) or "healthy"
    plain = "".join(character if character.isalnum() else "-" for character in text)
    return f"{plain[:50].strip('-')}-{uuid.uuid4().hex[:8]}"
