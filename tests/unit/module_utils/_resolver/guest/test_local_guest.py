"""Guests of the local cluster in results."""

from __future__ import annotations

import pytest

from plugins.module_utils._resolver.api.keys import SIMULATED_BECAUSE_ANNOTATION, SSH_ADDRESS_ANNOTATION
from plugins.module_utils._resolver.guest.local_guest import local_guest


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        (None, {}),
        ({}, {}),
        ({SSH_ADDRESS_ANNOTATION: "127.0.0.1:40022"}, {"ssh": {"host": "127.0.0.1", "port": 40022}}),
        ({SSH_ADDRESS_ANNOTATION: ""}, {}),
        ({SSH_ADDRESS_ANNOTATION: "10.0.0.1:22"}, {}),
        ({SSH_ADDRESS_ANNOTATION: "127.0.0.1:22\n"}, {}),
        ({SIMULATED_BECAUSE_ANNOTATION: "no image"}, {"simulated_because": "no image"}),
    ],
)
def test_only_loopback_addresses_count(annotations: dict[str, str] | None, expected: dict[str, object]) -> None:
    assert local_guest({"metadata": {"name": "vm", "annotations": annotations}}) == expected
