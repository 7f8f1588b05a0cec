"""The impact of an upgrade of KubeVirt, of the catalog, or of both, on the VMs and objects of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..._resolver.api.kinds import BY_NAME, Kind
from ..._resolver.api.matcher import ROLE_OF_KIND
from ..._resolver.catalog.upgrade import ObjectChange, PlannedLookup, deployed, objects
from ..._resolver.kubevirt.vmi.cluster import Cluster, KubeVirt
from ..._resolver.kubevirt.vmi.readiness import has_guest
from ..._resolver.upgrade.templates import TemplateChange, template_change
from ..._resolver.upgrade.vm import Admissions, VMChange, admissions, upgrade_side, vm_change
from ..client.session import Session
from .kubevirt import kubevirt
from .lookup import ListLookup
from .quota import read_limits
from .revisions import instances, namespaced_name
from .snapshot import list_if_permitted

Manifest = dict[str, Any]

# Of the API of templates, the newest first.
_VERSIONS = ("v1beta1", "v1alpha1")


class UpgradeImpact(NamedTuple):
    """The VMs and objects of a cluster before and after an upgrade.

    before, after: KubeVirt on either side. admissions: None if nothing limits the VMs' pods.

    warnings: what could not be read, and what that means.
    """

    before: KubeVirt
    after: KubeVirt
    vms: list[VMChange]
    objects: list[ObjectChange]
    templates: list[TemplateChange]
    admissions: Admissions | None
    warnings: list[str]


def upgrade_impact(
    session: Session, vms: Sequence[Manifest], namespace: str | None, after: KubeVirt, catalog: Sequence[Manifest]
) -> UpgradeImpact:
    """Reads a cluster and computes the effects of an upgrade.

    vms: those to look at, all of the namespace unless that is None. catalog: the objects of the new catalog.

    Raises FieldError for unreadable quotas, and ApiError and ConnectionFailed where something cannot be listed for
    other reasons than rights.
    """
    before = kubevirt(session)
    lookup = ListLookup(session, everywhere=namespace is None)
    namespaces = sorted({vm["metadata"]["namespace"] for vm in vms} | ({namespace} if namespace else set()))
    kinds = [(kind, name) for kind in ROLE_OF_KIND for name in (namespaces if BY_NAME[kind].namespaced else [""])]
    lookup.gather([*kinds, *(("ControllerRevision", name) for name in namespaces)])
    live = [item for kind, name in kinds for item in lookup.list(kind, name)]
    replaced = deployed(live, catalog)
    warnings: list[str] = []
    room = read_limits(session, vms, namespace, warnings)
    sides = (
        upgrade_side(Cluster(lookup, before), vms, room),
        upgrade_side(Cluster(PlannedLookup(replaced, lookup), after), vms, room),
    )
    running = instances(session, namespace) if any(has_guest(vm) for vm in vms) else {}
    vm_changes = [vm_change(vm, running.get(namespaced_name(vm)), *sides) for vm in vms]
    templates = [template_change(item, *sides) for item in _templates(session, namespace, warnings)]
    object_changes = objects(live, replaced, before.release, after.release)
    admitted = admissions(vms, *sides, room) if room is not None else None
    warnings += [f"{kind}: {problem.message}" for kind, problem in sorted(lookup.problems.items())]
    return UpgradeImpact(before, after, vm_changes, object_changes, templates, admitted, warnings)


def _templates(session: Session, namespace: str | None, warnings: list[str]) -> list[Manifest]:
    for version in _VERSIONS:
        kind = Kind("VirtualMachineTemplate", "template.kubevirt.io", version, "virtualmachinetemplates", True)
        before = len(warnings)
        live = list_if_permitted(session, kind, warnings, namespace)
        if live is not None or len(warnings) > before:
            return live or []
    return []
