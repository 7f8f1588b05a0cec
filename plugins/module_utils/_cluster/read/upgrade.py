"""An upgrade of a cluster's KubeVirt, of its catalog, or of both, rehearsed with its VMs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import ROLE_OF_KIND
from ..._resolver.catalog.upgrade import Planned
from ..._resolver.declare.status import has_guest
from ..._resolver.instancetype.vmi.cluster import Cluster, KubeVirt
from ..._resolver.upgrade.machine import Machine, rehearse, side
from ..._resolver.upgrade.objects import Held, deployed, objects
from ..client.session import Session
from .kubevirt import kubevirt
from .revisions import instances, place_of_vm
from .wide_lookup import WideLookup

Manifest = dict[str, Any]


class Rehearsal(NamedTuple):
    """before, after: KubeVirt on either side. warnings: what could not be read, and what that means."""

    before: KubeVirt
    after: KubeVirt
    machines: list[Machine]
    held: list[Held]
    warnings: list[str]


def rehearsal(
    session: Session, vms: Sequence[Manifest], namespace: str | None, after: KubeVirt, catalog: Sequence[Manifest]
) -> Rehearsal:
    """vms: those to look at, all of the namespace unless that is None. catalog: the objects of the new catalog.

    Raises ApiError and ConnectionFailed where revisions, instancetypes or VMIs cannot be listed for other reasons than
    rights.
    """
    before = kubevirt(session)
    lookup = WideLookup(session, everywhere=namespace is None)
    spaces = sorted({vm["metadata"]["namespace"] for vm in vms} | ({namespace} if namespace else set()))
    kinds = [(kind, space) for kind in ROLE_OF_KIND for space in (spaces if BY_NAME[kind].namespaced else [""])]
    lookup.gather([*kinds, *(("ControllerRevision", space) for space in spaces)])
    live = [one for kind, space in kinds for one in lookup.list(kind, space)]
    replaced = deployed(live, catalog)
    sides = side(Cluster(lookup, before)), side(Cluster(Planned(replaced, lookup), after))
    running = instances(session, namespace) if any(has_guest(vm) for vm in vms) else {}
    machines = [rehearse(vm, running.get(place_of_vm(vm)), *sides) for vm in vms]
    warnings = [f"{kind}: {problem.message}" for kind, problem in sorted(lookup.problems.items())]
    return Rehearsal(before, after, machines, objects(live, replaced, before.release, after.release), warnings)
