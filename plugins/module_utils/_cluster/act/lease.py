"""A Lease of coordination.k8s.io, so that of many runs one at a time does something."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from ..._resolver.api.kinds import Kind
from ..client.errors import ApiError
from ..client.session import Session

Manifest = dict[str, Any]

LEASE = Kind("Lease", "coordination.k8s.io", "v1", "leases", True)

# Seconds between two looks, shortened at random so that waiting runs do not look all at once.
_INTERVAL = 2.0
_CONFLICT = 409


@dataclass(frozen=True)
class Held:
    """changed: whether the Lease has another holder now. holder: who has it, "" for nobody. waited: seconds."""

    changed: bool
    holder: str
    waited: float = 0.0


def take(session: Session, namespace: str, name: str, holder: str, duration: int, seconds: float) -> Held:
    """Takes a Lease, or renews one that is held already; waits for another holder.

    duration: seconds after which others may take it if it is not renewed. seconds: the longest wait.
    The result has another holder if that holder did not release it. Raises ApiError and ConnectionFailed.
    """
    began = time.monotonic()
    # Only the local clock counts: another holder is gone when its Lease has stayed the same for as long as it said.
    seen, since = "", began
    while True:
        live = session.get(LEASE, namespace, name)
        spec = (live or {}).get("spec") or {}
        other = str(spec.get("holderIdentity") or "")
        version = str(((live or {}).get("metadata") or {}).get("resourceVersion") or "")
        if version != seen:
            seen, since = version, time.monotonic()
        expired = time.monotonic() - since >= (spec.get("leaseDurationSeconds") or 0)
        if other in ("", holder) or expired:
            if _write(session, namespace, name, live, {"holderIdentity": holder, "leaseDurationSeconds": duration}):
                return Held(other != holder, holder, time.monotonic() - began)
            continue
        pause = random.uniform(_INTERVAL / 2, _INTERVAL)
        waited = time.monotonic() - began
        if waited + pause > seconds:
            return Held(False, other, waited)
        time.sleep(pause)


def release(session: Session, namespace: str, name: str, holder: str) -> Held:
    """Gives a Lease back, if it is held; that of another holder stays. Raises ApiError and ConnectionFailed."""
    while True:
        live = session.get(LEASE, namespace, name)
        other = str(((live or {}).get("spec") or {}).get("holderIdentity") or "")
        if other != holder:
            return Held(False, other)
        if _write(session, namespace, name, live, {"holderIdentity": "", "leaseDurationSeconds": 1}):
            return Held(True, "")


def _write(session: Session, namespace: str, name: str, live: Manifest | None, spec: Manifest) -> bool:
    """Whether nobody was faster."""
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    metadata = {"name": name, "namespace": namespace}
    manifest: Manifest = {
        "apiVersion": LEASE.api_version,
        "kind": LEASE.kind,
        "metadata": metadata if live is None else {**metadata, "resourceVersion": live["metadata"]["resourceVersion"]},
        "spec": {**spec, "renewTime": now},
    }
    method, path = ("POST", LEASE.path(namespace)) if live is None else ("PUT", LEASE.path(namespace, name))
    try:
        # Sent twice it does no harm: the second finds what the first has written, and the holder in it.
        session.request(method, path, body=manifest, retry=True)
    except ApiError as error:
        if error.code == _CONFLICT or (error.code == 404 and live is not None):
            return False
        raise
    return True
