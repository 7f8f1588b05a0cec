"""The edge of the module upgrade_info."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ..._resolver.api.errors import FieldError
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import ROLE_OF_KIND
from ..._resolver.api.release import UnknownRelease
from ..._resolver.catalog.place import references
from ..._resolver.kubevirt.admission import cluster as configured
from ..._resolver.kubevirt.vmi.cluster import KubeVirt, upgraded
from ..._resolver.refresh.drift import needs
from ..._resolver.upgrade.objects import ObjectChange
from ..._resolver.upgrade.quotas import Admission, Admissions, key_of
from ..._resolver.upgrade.steps import Step, settings, steps
from ..._resolver.upgrade.templates import TemplateChange
from ..._resolver.upgrade.vm import VMChange
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.upgrade import Rehearsal, rehearsal
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS
from .selection import SELECTION, named, selection

_SPEC: dict[str, dict[str, Any]] = {
    "kubevirt_version": {"type": "str"},
    "kubevirt_configuration": {"type": "dict"},
    "catalog": {"type": "list", "elements": "dict", "default": []},
}


@last_net
def run_upgrade_info() -> None:
    """The module upgrade_info."""
    module = make_module(argument_spec={**AUTH, **SELECTION, **_SPEC, **REQUESTS})
    options = selection(module)
    try:
        catalog = [_object(index, one) for index, one in enumerate(options["catalog"])]
        session = Session(options)
        after = _after(module, kubevirt(session), options)
        found = rehearsal(session, named(module, session), options["namespace"], after, catalog)
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "LIST", BY_NAME["VirtualMachine"]))
    except FieldError as error:
        module.fail_json(msg=str(error))
    for warning in (*found.warnings, found.before.doubt):
        if warning:
            module.warn(warning)
    module.exit_json(changed=False, **_told(found))


def _after(module: Any, before: KubeVirt, options: dict[str, Any]) -> KubeVirt:
    try:
        after = upgraded(before, options["kubevirt_version"] or "", options["kubevirt_configuration"])
        configured.read(dict(after.settings), after.configuration.architecture, after.release)
        return after
    except UnknownRelease as error:
        module.fail_json(msg=f"kubevirt_version: {error}")
    except ValueError as error:
        module.fail_json(msg=f"kubevirt_configuration: {error}; pass spec.configuration of a KubeVirt object")
    raise AssertionError("fail_json returned")


def _object(index: int, manifest: dict[str, Any]) -> dict[str, Any]:
    metadata = manifest.get("metadata")
    if (
        manifest.get("kind") not in ROLE_OF_KIND
        or not isinstance(metadata, dict)
        or not metadata.get("name")
        or not isinstance(manifest.get("spec"), dict)
    ):
        raise FieldError(
            f"catalog[{index}]",
            "is no manifest of an instancetype or preference; convert catalogs with the filter catalog_objects",
        )
    return manifest


def _told(found: Rehearsal) -> dict[str, Any]:
    users: dict[Any, list[str]] = defaultdict(list)
    for one in found.machines:
        for place in references(one.vm):
            users[place].append(one.label)
    todo = steps(found.machines, found.held, found.before, found.after, found.templates, found.admissions)
    admitted = found.admissions or Admissions({}, [])
    return {
        "kubevirt": {"before": _version(found.before), "after": _version(found.after)},
        "settings": settings(found.before, found.after),
        "steps": [_step(one) for one in todo],
        "virtual_machines": [_machine(one, admitted.vms.get(key_of(one.vm), Admission())) for one in found.machines],
        "quotas": admitted.quotas,
        "templates": [_template(one) for one in found.templates],
        "objects": [_held(one, users[one.place]) for one in found.held if one.concerned],
    }


def _version(one: KubeVirt) -> str:
    return one.version.removeprefix("v") or ".".join(map(str, one.release.version))


def _step(one: Step) -> dict[str, Any]:
    return {**one._asdict(), "virtual_machines": list(one.virtual_machines), "templates": list(one.templates)}


def _starts(one: VMChange | TemplateChange, manifest: dict[str, Any]) -> dict[str, Any]:
    """What VMs and templates have in common."""
    told: dict[str, Any] = {
        "name": manifest["metadata"]["name"],
        "namespace": manifest["metadata"]["namespace"],
        "changes": list(one.changes),
        "guest_before": one.before.guest,
        "guest_after": one.after.guest,
        "pod_before": dict(one.before.pod),
        "pod_after": dict(one.after.pod),
        "lost": list(one.lost),
    }
    texts = {
        "refusal": one.refusal,
        "refusal_before": one.refusal_before,
        "problem": one.after.problem,
        "problem_before": one.before.problem,
    }
    return {**told, **_given(texts)}


def _given(texts: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text}


def _template(one: TemplateChange) -> dict[str, Any]:
    return {**_starts(one, one.manifest), "concerned": one.concerned}


def _machine(one: VMChange, admission: Admission) -> dict[str, Any]:
    told: dict[str, Any] = {
        **_starts(one, one.vm),
        "needs": one.effect,
        "restart_required": bool(one.restart_reason),
        "pinned": one.pinned,
        "drifted": one.refresh.drifted,
        "refresh": {
            "guest_after": one.refresh.effect.guest_after,
            "needs": needs(one.refresh.effect),
            "refusal": one.refresh.effect.refusal or "",
        },
    }
    texts = {"restart_reason": one.restart_reason, "quota_after": admission.after, "quota_before": admission.before}
    told.update(_given(texts))
    told["concerned"] = _concerned(one) or admission.before != admission.after
    return told


def _concerned(one: VMChange) -> bool:
    same = (one.refusal, one.after.problem) == (one.refusal_before, one.before.problem)
    return not same or bool(
        one.changes or one.lost or one.pinned or one.restart_reason or one.before.pod != one.after.pod
    )


def _held(one: ObjectChange, users: list[str]) -> dict[str, Any]:
    return {
        **one.place._asdict(),
        "becomes": one.becomes,
        "changes": list(one.changes),
        "lost": list(one.lost),
        "effects": list(one.effects),
        "used_by": users,
    }
