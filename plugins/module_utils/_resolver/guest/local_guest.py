"""Guests of the local cluster: QEMU runs them on the machine of the user, or they are simulated."""

from __future__ import annotations

import re
from typing import Any, Final

from ..api.keys import SIMULATED_BECAUSE_ANNOTATION, SSH_ADDRESS_ANNOTATION
from ..api.manifest import Manifest

# No other host: whoever may annotate a VMI must not choose where Ansible connects to.
_ADDRESS: Final = re.compile(r"127\.0\.0\.1:([0-9]{1,5})", re.ASCII)


def local_guest(vmi: Manifest) -> dict[str, Any]:
    """The address of a VMI's SSH server as `ssh`, or `simulated_because`; {} on any other cluster."""
    annotations = vmi["metadata"].get("annotations") or {}
    address = _ADDRESS.fullmatch(str(annotations.get(SSH_ADDRESS_ANNOTATION, "")))
    if address is not None:
        return {"ssh": {"host": "127.0.0.1", "port": int(address[1])}}
    reason = annotations.get(SIMULATED_BECAUSE_ANNOTATION)
    return {"simulated_because": str(reason)} if reason else {}
