"""The protocol of a Lease, an object of the cluster with one holder: runs that share a limit take turns by it."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Final

from ..._cluster.client.concurrency import display
from ..._cluster.client.errors import ApiError
from ..._cluster.client.session import Session
from ..._cluster.writes.send import send
from ..._resolver.api.kinds import Kind
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.write import create, replace

LEASE: Final = Kind("Lease", "coordination.k8s.io", "v1", "leases", True)
# Seconds between two reads, shortened at random so that waiting runs do not read at the same moment.
_INTERVAL: Final = 2.0
_CONFLICT: Final = 409


@dataclass(frozen=True)
class LeaseOutcome:
    """The outcome of taking or releasing a Lease.

    changed: the Lease has another holder than before. holder: the current holder, "" for none. waited: seconds.
    """

    changed: bool
    holder: str
    waited: float = 0.0


def acquire(session: Session, namespace: str, name: str, holder: str, duration: int, seconds: float) -> LeaseOutcome:
    """Takes or renews a Lease, after waiting until another holder has released it or the Lease has expired.

    duration: seconds after which an unrenewed Lease expires. seconds: the longest wait.
    If the wait was too short, the result names the other holder. Users see a line about each holder that is waited for.
    Raises RequestFailed.
    """
    began = time.monotonic()
    # Clocks differ, so only the local clock counts: a Lease has expired if it stayed unchanged for its own duration.
    last_version, since = "", began
    first, sent, told = "", _spec(holder, duration), ""
    while True:
        live = session.get(LEASE, namespace, name)
        spec = (live or {}).get("spec") or {}
        other = str(spec.get("holderIdentity") or "")
        version = str(((live or {}).get("metadata") or {}).get("resourceVersion") or "")
        if version != last_version:
            last_version, since = version, time.monotonic()
        if other == holder and spec.get("renewTime") == sent["renewTime"]:
            # The previous write took effect, but its response was lost.
            return LeaseOutcome(first != holder, holder, time.monotonic() - began)
        expired = time.monotonic() - since >= (spec.get("leaseDurationSeconds") or 0)
        if other in ("", holder) or expired:
            first, sent = other, _spec(holder, duration)
            if _write(session, namespace, name, live, sent):
                return LeaseOutcome(other != holder, holder, time.monotonic() - began)
            continue
        if version != told:
            display.get()(_waiting(namespace, name, spec))
            told = version
        pause = random.uniform(_INTERVAL / 2, _INTERVAL)
        waited = time.monotonic() - began
        if waited + pause > seconds:
            return LeaseOutcome(False, other, waited)
        time.sleep(pause)


def release(session: Session, namespace: str, name: str, holder: str) -> LeaseOutcome:
    """Releases a Lease that `holder` has; leaves another holder's Lease alone. Raises RequestFailed."""
    sent: Manifest = {}
    while True:
        live = session.get(LEASE, namespace, name)
        spec = (live or {}).get("spec") or {}
        other = str(spec.get("holderIdentity") or "")
        if other != holder:
            # The previous write may have taken effect, although its response was lost.
            return LeaseOutcome(bool(sent) and spec.get("renewTime") == sent["renewTime"], other)
        sent = _spec("", 1)
        if _write(session, namespace, name, live, sent):
            return LeaseOutcome(True, "")


def _waiting(namespace: str, name: str, spec: Manifest) -> str:
    """The line for users of a run that waits for the holder of a Lease."""
    seconds = spec.get("leaseDurationSeconds") or 0
    until = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    return (
        f"Lease {namespace}/{name}: {spec.get('holderIdentity')} has held it since {spec.get('renewTime')}; this run"
        f" waits until it is released, or until {until:%Y-%m-%dT%H:%M:%SZ} unless it is renewed. If that run has ended,"
        f" take the Lease over: kubectl delete lease {name} --namespace {namespace}"
    )


def _spec(holder: str, duration: int) -> Manifest:
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"holderIdentity": holder, "leaseDurationSeconds": duration, "renewTime": now}


def _write(session: Session, namespace: str, name: str, live: Manifest | None, spec: Manifest) -> bool:
    """Writes the Lease, and leaves what else an existing one has. False if another client wrote it first, or the
    response to an earlier attempt was lost."""
    before = live or {"metadata": {"name": name, "namespace": namespace}}
    manifest: Manifest = {
        **before,
        "apiVersion": LEASE.api_version,
        "kind": LEASE.kind,
        "spec": {**(before.get("spec") or {}), **spec},
    }
    path = LEASE.path(namespace, None if live is None else name)
    try:
        send(session, (create if live is None else replace)(path, manifest))
    except ApiError as error:
        if error.code == _CONFLICT or (error.code == 404 and live is not None):
            return False
        raise
    return True
