"""Reads VMs, and what holds of them: few by their names, many by lists."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ..._cluster.client.errors import ApiError
from ..._cluster.client.session import Session
from ..._cluster.reads.kubevirt import kubevirt
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.reads.revisions import inspect_each
from ..._resolver.api.errors import FieldError
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, qualified_name
from ..._resolver.api.name_rules import one_line
from ..._resolver.change.drift import Drift, drift
from ..._resolver.guest.effect import UNREAD_VMI, MaybeVMI
from ..._resolver.kubevirt.cluster import Cluster
from ..._resolver.kubevirt.vm.readiness import has_guest
from ..facts import VMFacts, facts_of
from ..transitions import KnownVM

log = logging.getLogger(__name__)

_VM: Final = KINDS["VirtualMachine"]
_VMI: Final = KINDS["VirtualMachineInstance"]
# Up to so many VMs of a namespace, single reads cost less than lists. Up to so many VMs of a cluster, one look lists
# all of them; beyond it goes from namespace to namespace, so that memory holds the objects of one.
_SINGLE: Final = 10
_AT_ONCE: Final = 1000


class VMSelection(NamedTuple):
    """Which VMs. namespace: None for all. labels, fields: selectors, "" for none."""

    namespace: str | None
    labels: str = ""
    fields: str = ""

    @property
    def query(self) -> dict[str, str]:
        named = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return {name: text for name, text in named.items() if text}


class SeenVM(NamedTuple):
    """A VM as a look has found it. name: NAMESPACE/NAME. drift: None if it is deleted, or (`left`) not selected."""

    name: str
    drift: Drift | None
    facts: VMFacts | None = None
    left: bool = False


def all_vms(session: Session, selection: VMSelection, known: Mapping[str, KnownVM]) -> Iterator[SeenVM]:
    """All selected VMs, and known VMs that are gone. Raises RequestFailed."""
    listed = {qualified_name(vm): vm for vm in session.list(_VM, selection.namespace, True, **selection.query)}
    names = dict.fromkeys(listed)
    listed.clear()
    places: list[str | None] = [selection.namespace]
    if selection.namespace is None and len(names) > _AT_ONCE:
        places = list(dict.fromkeys(name.partition("/")[0] for name in names))
    for place in places:
        for vm in inspect_each(session, place, None, selection.labels or None) if names else ():
            if vm.label in names:
                yield from _seen(vm)
    for name in [name for name in known if name not in names]:
        yield from _gone(session, name, known)


def namespace_vms(
    session: Session, selection: VMSelection, namespace: str, known: Mapping[str, KnownVM]
) -> Iterator[SeenVM]:
    """The known VMs of a namespace. New ones are told by their own watch. Raises RequestFailed."""
    names = {name for name in known if name.startswith(f"{namespace}/")}
    return _by_list(session, selection, namespace, names, known)


def some_vms(
    session: Session, selection: VMSelection, vms: Mapping[str, bool | None], known: Mapping[str, KnownVM]
) -> Iterator[SeenVM]:
    """Single VMs, as `PendingLook` has them. Raises RequestFailed."""
    by_namespace: dict[str, set[str]] = {}
    for name, left in vms.items():
        if left:
            yield from _gone(session, name, known)
        elif left is False or name in known:
            by_namespace.setdefault(name.partition("/")[0], set()).add(name)
    lookup = ClusterLookup(session, strict=True, single=True)
    for namespace, names in by_namespace.items():
        if len(names) > _SINGLE:
            yield from _by_list(session, selection, namespace, names, known)
            continue
        for name in sorted(names):
            vm = session.get(_VM, namespace, name.partition("/")[2])
            if vm is None:
                yield from _gone(session, name, known)
            else:
                vm = {**vm, "apiVersion": _VM.api_version, "kind": _VM.kind}
                yield from _seen(_drift(session, vm, lookup))


def _by_list(
    session: Session, selection: VMSelection, namespace: str, names: set[str], known: Mapping[str, KnownVM]
) -> Iterator[SeenVM]:
    found: set[str] = set()
    own = [name.partition("/")[2] for name in names]
    for vm in inspect_each(session, namespace, own, selection.labels or None) if names else ():
        found.add(vm.label)
        yield from _seen(vm)
    for name in sorted(names - found):
        yield from _gone(session, name, known)


def _drift(session: Session, vm: Manifest, lookup: ClusterLookup) -> Drift:
    vmi: MaybeVMI = None
    if has_guest(vm):
        try:
            vmi = session.get(_VMI, vm["metadata"]["namespace"], vm["metadata"]["name"])
        except ApiError as error:
            if error.code != 403:
                raise
            vmi = UNREAD_VMI
    return drift(vm, vmi, Cluster(lookup, kubevirt(session)))


def _seen(drift: Drift) -> Iterator[SeenVM]:
    try:
        yield SeenVM(qualified_name(drift.vm), drift, facts_of(drift))
    except (AttributeError, FieldError, KeyError, TypeError, ValueError) as error:
        # A VM that this collection cannot judge must not hide the others.
        log.warning("%s: cannot be judged: %s", qualified_name(drift.vm), one_line(error))


def _gone(session: Session, name: str, known: Mapping[str, KnownVM]) -> Iterator[SeenVM]:
    """A known VM that is deleted, or no longer selected: one GET tells which."""
    if name not in known:
        return
    namespace, _slash, own = name.partition("/")
    live = session.get(_VM, namespace, own, True)
    same = live is not None and live["metadata"].get("uid") == known[name].uid
    yield SeenVM(name, None, left=same)
