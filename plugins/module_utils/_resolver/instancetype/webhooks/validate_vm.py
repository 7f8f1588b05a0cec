"""KubeVirt's validating webhook for VMs: the steps apply, defaults and requirements, which involve instance types."""

from __future__ import annotations

from typing import Any, Final

from ...api.errors import Crash
from ...api.matcher import ROLES, Role
from ...api.release import NEWEST, Release
from ..apply import applier, conflict, requirements, topology
from ..apply.requirements import Unmet
from ..find import find
from ..find.lookup import Lookup
from ..vmi import defaults
from ..vmi.configuration import Configuration
from .admission import INVALID, NOT_FOUND, Cause, Response, allowed, bad_request, crashed, invalid

Manifest = dict[str, Any]

# The steps of a VM's validation.
APPLY: Final = "apply"
DEFAULTS: Final = "defaults"
REQUIREMENTS: Final = "requirements"


def virtual_machine(vm: Manifest, objects: Lookup, config: Configuration, release: Release = NEWEST) -> Response:
    """The response to a canonical VM, which is modified. Missing objects of its matchers do not count."""
    if vm["metadata"].get("deletionTimestamp"):
        return allowed()
    template = vm["spec"]["template"]
    if template is None:
        return crashed("the VirtualMachine has no template", APPLY)
    specs = []
    for role in ROLES:
        found = find.spec(vm, role, objects, release)
        if found.error is not None and release.refuses_unknown_objects:
            return invalid([_not_found(role, found.error.message)], APPLY)
        specs.append(found.spec)
    given, preferred = specs
    try:
        if release.checks_requirements_first:
            missing = requirements.unmet(given, preferred, template["spec"], release)
            if missing is not None:
                return _insufficient(missing)
        causes = _apply(template, given, preferred, release)
        if causes:
            return invalid(causes, APPLY)
        problem = defaults.set_spec_defaults(template["spec"], config, release)
        if problem is not None:
            return bad_request(problem.message, DEFAULTS)
        missing = requirements.unmet(given, preferred, template["spec"], release)
    except Crash as crash:
        return crashed(str(crash), APPLY)
    return allowed() if missing is None else _insufficient(missing)


def _not_found(role: Role, message: str) -> Cause:
    return Cause(NOT_FOUND, f"Failure to find {role.matcher}: {message}", f"spec.{role.matcher}")


def _insufficient(missing: Unmet) -> Response:
    message = f"failure checking preference requirements: {missing.message}"
    return invalid([Cause(NOT_FOUND, message, ", ".join(missing.conflicts))], REQUIREMENTS)


def _apply(template: Manifest, given: Manifest | None, preferred: Manifest | None, release: Release) -> list[Cause]:
    """Applies both to the template; a spread with a remainder is reported instead of conflicts."""
    spread = topology.spread_indivisible(given, preferred, release)
    if spread is not None:
        return [Cause(INVALID, spread.message, spread.field)]
    conflicts = applier.apply_in_place(template["metadata"], template["spec"], given, preferred, release)
    return [Cause(INVALID, conflict.cause_message(one, release), one.full_path()) for one in conflicts]
