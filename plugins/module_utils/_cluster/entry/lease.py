"""The module lease: options, results, the message."""

from __future__ import annotations

from typing import Any

from ..act.lease import LEASE, LeaseOutcome, release, take
from ..client.errors import RequestFailed, TaskFailed
from ..client.session import Session
from .argument_spec import AUTH, REQUESTS
from .outcome import Mode, Module, Outcome, Params

_SPEC: dict[str, dict[str, Any]] = {
    **AUTH,
    **REQUESTS,
    "name": {"type": "str", "required": True},
    "namespace": {"type": "str", "required": True},
    "holder": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["held", "released"], "default": "held"},
    "duration": {"type": "int", "default": 300},
    "wait_timeout": {"type": "int", "default": 3600},
}


def _run(params: Params, mode: Mode) -> Outcome:
    if not params["holder"]:
        raise TaskFailed("holder: must not be empty; give each run a unique name")
    label = f"{params['namespace']}/{params['name']}"
    try:
        held = _held(params, mode, Session(params))
    except RequestFailed as error:
        raise TaskFailed(f"Lease {label}: {error}") from error
    result = {"changed": held.changed, "holder": held.holder, "waited": round(held.waited)}
    if params["state"] == "held" and held.holder != params["holder"]:
        message = f"Lease {label}: {held.holder} still holds the Lease after {round(held.waited)} s"
        return Outcome({**result, "msg": message}, failed=True)
    return Outcome(result)


def _held(params: Params, mode: Mode, session: Session) -> LeaseOutcome:
    namespace, name, holder = params["namespace"], params["name"], params["holder"]
    if mode.check:
        live = session.get(LEASE, namespace, name)
        current = str(((live or {}).get("spec") or {}).get("holderIdentity") or "")
        desired = holder if params["state"] == "held" else ""
        return LeaseOutcome(current != holder if desired else current == holder, desired)
    if params["state"] == "released":
        return release(session, namespace, name, holder)
    return take(session, namespace, name, holder, params["duration"], params["wait_timeout"])


MODULE = Module(_SPEC, _run)
