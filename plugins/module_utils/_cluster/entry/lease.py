"""The module lease: options, results, the message."""

from __future__ import annotations

from typing import Any

from ..act.lease import LEASE, Held, release, take
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS


@last_net
def run_lease() -> None:
    """The module lease."""
    module = make_module(
        argument_spec={
            **AUTH,
            **REQUESTS,
            "name": {"type": "str", "required": True},
            "namespace": {"type": "str", "required": True},
            "holder": {"type": "str", "required": True},
            "state": {"type": "str", "choices": ["held", "released"], "default": "held"},
            "duration": {"type": "int", "default": 300},
            "wait_timeout": {"type": "int", "default": 3600},
        }
    )
    options = module.params
    if not options["holder"]:
        module.fail_json(msg="holder: must not be empty; give each run a unique name")
    place = f"{options['namespace']}/{options['name']}"
    try:
        held = _done(module, Session(options))
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=f"Lease {place}: {explain(error, 'PUT', LEASE)}")
    told = {"changed": held.changed, "holder": held.holder, "waited": round(held.waited)}
    if options["state"] == "held" and held.holder != options["holder"]:
        module.fail_json(msg=f"Lease {place}: {held.holder} still holds the Lease after {round(held.waited)} s", **told)
    module.exit_json(**told)


def _done(module: Any, session: Session) -> Held:
    options = module.params
    namespace, name, holder = options["namespace"], options["name"], options["holder"]
    if module.check_mode:
        live = session.get(LEASE, namespace, name)
        other = str(((live or {}).get("spec") or {}).get("holderIdentity") or "")
        wanted = holder if options["state"] == "held" else ""
        return Held(other != holder if wanted else other == holder, wanted)
    if options["state"] == "released":
        return release(session, namespace, name, holder)
    return take(session, namespace, name, holder, options["duration"], options["wait_timeout"])
