"""The edge of the module boot_source_info."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from ..._resolver.boot.source import matchers
from ..._resolver.boot.survey import BootSource
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.boot_sources import BootSourceQuery, boot_sources
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS
from .ending import amount

_SPEC: dict[str, dict[str, Any]] = {
    "namespace": {"type": "str"},
    "names": {"type": "list", "elements": "str", "aliases": ["name"]},
    "with_findings": {"type": "bool"},
    "check_registry": {"type": "bool", "default": False},
    "insecure_registry": {"type": "bool", "default": False},
}


@last_net
def run_boot_source_info() -> None:
    """The module boot_source_info."""
    module = make_module(argument_spec={**AUTH, **REQUESTS, **_SPEC})
    options = module.params
    wanted = BootSourceQuery(
        options["namespace"], options["names"], options["check_registry"], options["insecure_registry"]
    )
    try:
        found, warnings = boot_sources(Session(options), wanted)
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "LIST"))
        return
    for warning in warnings:
        module.warn(warning)
    if options["with_findings"] is not None:
        found = [one for one in found if bool(one.findings) == options["with_findings"]]
    now = datetime.now(timezone.utc)
    faulty = sum(bool(one.findings) for one in found)
    module.exit_json(
        changed=False,
        msg=f"{amount(len(found), 'boot sources')}, {faulty} with findings",
        boot_sources=[_tell(one, now) for one in found],
    )


def _tell(one: BootSource, now: datetime) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": one.name,
        "namespace": one.namespace,
        "kind": one.kind,
        "ready": one.ready,
        "created": one.created,
        "age_days": _days(one.created, now),
        "image": one.origin.image.name if one.origin.image else "",
        "digest": one.origin.digest,
        "cron": one.cron,
        "schedule": one.schedule,
        "volumes": one.volumes,
        "labels": one.labels,
        "findings": [finding._asdict() for finding in one.findings],
    }
    if one.leads_to is not None:
        told["leads_to"] = dict(zip(("kind", "namespace", "name"), one.leads_to))
    for role, (kind, name) in matchers(one.labels).items():
        told[role] = {"name": name, "kind": kind}
    return told


def _days(created: str, now: datetime) -> int | None:
    try:
        # Python 3.9 reads no Z.
        return max(0, (now - datetime.fromisoformat(created.replace("Z", "+00:00"))).days)
    except (ValueError, TypeError):
        return None
