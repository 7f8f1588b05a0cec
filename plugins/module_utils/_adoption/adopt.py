"""Finds the instancetype and preference that leave the VMI of a VM with its own CPU, memory and devices unchanged.

A pair fits if its VMI has no differences, or only accepted ones. The best pair removes most from the VM's manifest; the
order of `fitting`, then the name decide between equal ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from .._resolver.api import release_schema
from .._resolver.api.errors import FieldError, KubeVirtError, Panic, value_or_none
from .._resolver.api.manifest import Manifest
from .._resolver.api.matcher import INSTANCETYPE, PREFERENCE, MatcherField
from .._resolver.api.quantity import parse
from .._resolver.api.state import is_active
from .._resolver.api.tree import copy, differences
from .._resolver.choose import sizes, windows
from .._resolver.choose.fitting import Constraints, fitting
from .._resolver.choose.sizes import GuestSize
from .._resolver.kubevirt.admission import mutate, validate
from .._resolver.kubevirt.cluster import Cluster
from .._resolver.kubevirt.instancetype import applier, find
from .._resolver.kubevirt.instancetype.conflict import ConflictError
from .._resolver.kubevirt.instancetype.find import Specs
from .._resolver.kubevirt.instancetype.topology import CORES, NAMES, SOCKETS, THREADS
from .._resolver.kubevirt.vm.vmi import guest_figures
from . import guest_class
from .effective import effective
from .removal import reduced, without_field

# The number of nearest matches to report if nothing fits.
_NEAREST: Final = 3
_CPU: Final = "domain.cpu"


class Candidate(NamedTuple):
    """A pair, and the VM with it.

    instancetype, preference: matchers; None for none. vm: rewritten.
    removed: the fields removed from its template, path → value.
    differences: the changed fields of the VMI, [{field, before, after}], including accepted ones.
    refusal: why KubeVirt would reject the VM, in its words, or None. gap: how the guest would be smaller or change its
    class, or "". size: the size of the guest, if KubeVirt builds one.
    """

    instancetype: Manifest
    preference: Manifest | None
    vm: Manifest
    removed: Mapping[str, Any]
    differences: tuple[dict[str, Any], ...]
    refusal: str | None = None
    gap: str = ""
    size: GuestSize = GuestSize()


class Adoption(NamedTuple):
    """The pair of instancetype and preference with which a VM can be adopted.

    chosen: None if no pair fits. In that case, nearest: the nearest pairs that leave the guest as large as it is, in
    its class; remedy: how the VM can be adopted with the first of them, or "". problem: why no pair could be tried, or
    why none is near. size, size_text: the guest's, for whoever makes an instancetype for it.
    """

    chosen: Candidate | None = None
    nearest: tuple[Candidate, ...] = ()
    remedy: str = ""
    problem: str | None = None
    size: GuestSize = GuestSize()
    size_text: str = ""

    @property
    def proposal(self) -> Candidate | None:
        """The pair to take, or where none fits, the nearest one that KubeVirt accepts."""
        accepted = (candidate for candidate in self.nearest if candidate.refusal is None)
        return self.chosen or next(accepted, None)

    def within(self, waste: Fraction | None) -> Candidate | None:
        """The pair to take without asking: `proposal`, unless it is larger than the guest by more than a share."""
        chosen = self.proposal
        if chosen is None or waste is None:
            return chosen
        return chosen if sizes.waste_of(chosen.size, self.size) <= waste else None


class _Choice(NamedTuple):
    """matcher, spec (canonical): of an instancetype or preference; None for none."""

    matcher: Manifest | None = None
    spec: Manifest | None = None


def adopt(
    vm: Manifest,
    instancetypes: Iterable[Manifest],
    preferences: Iterable[Manifest] | None,
    cluster: Cluster,
    accept: Sequence[str] = (),
    enough: int = _NEAREST,
) -> Adoption:
    """Chooses an instancetype and a preference for a VM (plain manifest).

    instancetypes, preferences: the manifests to choose from, of either kind; preferences None for no preference. A VM
    that has a preference keeps it. cluster: must know these manifests too.
    accept: fields of the VMI that may differ, with everything inside them. enough: so many pairs that KubeVirt
    accepts are compared if none fits.
    """
    try:
        before = effective(vm, cluster)
    except KubeVirtError as error:
        return Adoption(problem=error.message)
    target = _AdoptedVM(vm, before, cluster, tuple(accept))
    if not target.size.memory:
        return Adoption(problem="the VM states no memory, so its size is not known; set domain.memory.guest")
    ranked = _choices(fitting(filter(is_active, instancetypes), Constraints(), cluster.release), INSTANCETYPE, cluster)
    preferred = _preferences(vm, preferences, cluster)
    exact = [choice for choice in ranked if _size(choice.spec) == _size_of_guest(before)]
    fits: list[Candidate] = []
    for instancetype in exact:
        candidates = [target.attempt(instancetype, preference) for preference in preferred]
        # Most pairs differ; spare them the webhook.
        validated = [target.with_refusal(candidate) for candidate in candidates if target.fits(candidate)]
        fits += [target.reduce(candidate, instancetype) for candidate in validated if target.fits(candidate)]
    if fits:
        # min takes the first of equals, and the candidates are in order.
        best = min(fits, key=lambda candidate: (len(candidate.differences), -len(candidate.removed)))
        return Adoption(best, size=target.size, size_text=target.size_text)
    ordered, other = target.nearest(ranked, preferred, enough)
    if other is not None:
        lost = [words for path, words in target.size.size_class.items() if other.size.size_class.get(path) != words]
        needed = ", ".join([target.size_text, *lost])
        reason = f"{other.instancetype['name']}, the nearest in size, {other.gap}; create one with {needed}"
        problem = f"each instancetype makes the guest smaller or changes its class: {reason}"
        return Adoption(problem=problem, size=target.size, size_text=target.size_text)
    sized = [choice.matcher for choice in exact]
    fixable = [candidate for candidate in ordered[:1] if candidate.instancetype in sized and candidate.refusal is None]
    remedy = target.remedy(fixable[0]) if fixable else ""
    return Adoption(None, ordered, remedy, None, target.size, target.size_text)


@dataclass(frozen=True)
class _AdoptedVM:
    """The VM, and its effective VMI without an instancetype."""

    vm: Manifest
    before: Manifest
    cluster: Cluster
    accept: tuple[str, ...]

    @cached_property
    def size(self) -> GuestSize:
        return self._size_of(self.vm, self.before)

    @property
    def size_text(self) -> str:
        """``4 vCPUs (4 cores), 8Gi``"""
        figures = guest_figures(self.before)
        parts = [f"{figures[name]} {name}" for name in (SOCKETS, CORES, THREADS) if figures[name] > 1]
        topology = f" ({', '.join(parts)})" if parts else ""
        words = [f"{sizes.vcpus_text(figures['vcpus'])}{topology}", sizes.memory_text(self.size.memory)]
        if windows.used_sockets(self.vm, figures["vcpus"]) < figures["vcpus"]:
            words.append(f"and a preference with cores, since Windows uses {windows.MOST_SOCKETS} sockets at most")
        return ", ".join(words)

    def _size_of(self, vm: Manifest, spec: Manifest) -> GuestSize:
        """The size of the guest with an effective spec."""
        figures = guest_figures(spec)
        # The preference of a candidate may name another Windows than the VM.
        sockets = min(windows.used_sockets(told, figures[SOCKETS]) for told in (self.vm, vm))
        vcpus = sockets * figures[CORES] * figures[THREADS]
        demands = guest_class.demands_of(spec)
        kept = {path: words for path, words in demands.items() if not self._accepted(path)}
        return GuestSize(vcpus, parse(figures.get("memory", "0")).value, kept)

    def attempt(self, instancetype: _Choice, preference: _Choice) -> Candidate:
        """The VM with a pair, without the fields that conflict with its instancetype; not yet validated."""
        rewritten = copy(self.vm)
        rewritten["spec"][INSTANCETYPE.name] = instancetype.matcher
        if preference.matcher is not None:
            rewritten["spec"][PREFERENCE.name] = preference.matcher
        specs = {INSTANCETYPE: instancetype.spec, PREFERENCE: preference.spec}
        return self._evaluate(rewritten, self._without_conflicts(rewritten, instancetype, preference), specs)

    def fits(self, candidate: Candidate) -> bool:
        return candidate.refusal is None and not candidate.gap and not self._unaccepted(candidate)

    def nearest(
        self, choices: Sequence[_Choice], preferred: Sequence[_Choice], enough: int
    ) -> tuple[tuple[Candidate, ...], Candidate | None]:
        """The nearest pairs, by size, then by the number of differences; pairs that KubeVirt rejects come last.
        If each instancetype makes the guest smaller or changes its class: the pair nearest in size.
        """
        large = [choice for choice in choices if not sizes.shortage(_size(choice.spec), self.size)]
        pairs: list[Candidate] = []
        for choice in self._by_nearness(large or choices, preferred[0])[:_NEAREST]:
            if sum(pair.refusal is None and not pair.gap for pair in pairs) < enough:
                pairs.append(self._with_best_preference(choice, preferred))
        kept = [pair for pair in pairs if not pair.gap]
        # A preference decides whether KubeVirt rejects a pair.
        kept.sort(key=lambda pair: pair.refusal is not None)
        return tuple(kept), pairs[0] if pairs and not kept else None

    def _by_nearness(self, choices: Sequence[_Choice], preference: _Choice) -> list[_Choice]:
        """The choices, the nearest first, without the ones that are farther than the last one to compare.

        The class depends on the preference so seldom that the given one decides.
        """
        ranks: list[tuple[tuple[bool, bool, Fraction, int], int]] = []
        good = 0
        wastes = sorted((sizes.waste_of(_size(choice.spec), self.size), index) for index, choice in enumerate(choices))
        for waste, group in groupby(wastes, key=itemgetter(0)):
            if good >= _NEAREST:
                break
            for _waste, index in group:
                candidate = self.attempt(choices[index], preference)
                other_class = candidate.size.size_class != self.size.size_class
                refused = candidate.refusal is not None
                ranks.append(((other_class, refused, waste, self._unaccepted(candidate)), index))
                good += not (other_class or refused)
        return [choices[index] for _rank, index in sorted(ranks)]

    def _with_best_preference(self, choice: _Choice, preferred: Sequence[_Choice]) -> Candidate:
        candidates = [self.attempt(choice, preference) for preference in preferred]
        best = min(candidates, key=lambda pair: (pair.refusal is not None, bool(pair.gap), self._unaccepted(pair)))
        return self.with_refusal(best)

    def _unaccepted(self, candidate: Candidate) -> int:
        """The number of differences that are not accepted."""
        return sum(not self._accepted(difference["field"]) for difference in candidate.differences)

    def reduce(self, candidate: Candidate, instancetype: _Choice) -> Candidate:
        """The candidate without the fields to which the preference or the instancetype gives the same value."""
        preference = value_or_none(
            find.effective_spec, candidate.vm, PREFERENCE, self.cluster.objects, self.cluster.release
        )

        def applied(template: Manifest) -> Manifest | None:
            return value_or_none(applier.apply, template, instancetype.spec, preference, self.cluster.release)

        def plain(template: Manifest) -> Manifest | None:
            return value_or_none(applier.apply, template, None, None, self.cluster.release)

        template, removed = reduced(candidate.vm["spec"]["template"], plain, applied)
        vm = {**candidate.vm, "spec": {**candidate.vm["spec"], "template": template}}
        specs = {INSTANCETYPE: instancetype.spec, PREFERENCE: preference}
        smaller = self._evaluate(vm, {**candidate.removed, **removed}, specs)
        return smaller if self.fits(smaller) else candidate

    def _evaluate(self, rewritten: Manifest, removed: Mapping[str, Any], specs: Specs) -> Candidate:
        cluster = self.cluster
        candidate = Candidate(
            INSTANCETYPE.matcher_or_empty(rewritten), PREFERENCE.matcher_of(rewritten), rewritten, {}, ()
        )
        try:
            admitted = mutate.mutate(rewritten, cluster.objects, self.vm, "UPDATE", cluster.release)
            after = effective(admitted, cluster, specs)
        except KubeVirtError as error:
            return candidate._replace(refusal=error.message)
        size = self._size_of(rewritten, after)
        return candidate._replace(
            removed=removed,
            differences=tuple(differences(self.before, after)),
            gap="" if sizes.is_enough(size, self.size) else self._gap(size, after),
            size=size,
        )

    def _gap(self, size: GuestSize, after: Manifest) -> str:
        """How an insufficient size differs from the size of the guest."""
        lack = sizes.shortage(size, self.size)
        before, others = guest_class.demands_of(self.before), guest_class.demands_of(after)
        parts = [f"has {lack}" if lack else "", guest_class.class_difference(before, others, self._accepted)]
        return " and ".join(filter(None, parts))

    def with_refusal(self, candidate: Candidate) -> Candidate:
        """The candidate with the refusal of KubeVirt's webhook, if any."""
        cluster = self.cluster
        admitted = value_or_none(mutate.mutate, candidate.vm, cluster.objects, self.vm, "UPDATE", cluster.release)
        if candidate.refusal is not None or admitted is None:
            return candidate
        response = validate.virtual_machine(admitted, cluster)
        return candidate if response.allowed else candidate._replace(refusal=response.message)

    def remedy(self, candidate: Candidate) -> str:
        """Says how a pair of the VM's size would fit: by accepted differences, or a preference with its topology."""
        fields = [entry["field"] for entry in candidate.differences if not self._accepted(entry["field"])]
        if not {f"{_CPU}.{CORES}", f"{_CPU}.{THREADS}"} & set(fields):
            return f"set {self._accepting(fields)}"
        others = [field for field in fields if not field.startswith(f"{_CPU}.")]
        remedy = f"set {self._accepting([_CPU, *others])} to change the topology of its vCPUs"
        cpu = self.before["domain"]["cpu"]
        parts = [name for name in (SOCKETS, CORES, THREADS) if cpu.get(name, 1) > 1]
        if len(parts) > 1 or parts == [SOCKETS] or PREFERENCE.matcher_of(self.vm) is not None:
            return remedy
        name = next(name for name, part in NAMES.items() if part == parts[0])
        # Whatever its topology, a VM with an instancetype has sockets.
        others += [] if SOCKETS in cpu else [f"{_CPU}.{SOCKETS}"]
        accepting = f" and {self._accepting(others)}" if others else ""
        return f"{remedy}, or use a preference with spec.cpu.preferredCPUTopology: {name}{accepting} to keep it"

    def _accepting(self, fields: Sequence[str]) -> str:
        return f"accept: [{', '.join(dict.fromkeys((*self.accept, *fields)))}]"

    def _accepted(self, field: str) -> bool:
        return any(field == path or field.startswith((f"{path}.", f"{path}[")) for path in self.accept)

    def _without_conflicts(self, rewritten: Manifest, instancetype: _Choice, preference: _Choice) -> dict[str, Any]:
        removed: dict[str, Any] = {}
        template = rewritten["spec"]["template"]
        # After one conflict is removed, KubeVirt may report another.
        while new := [path for path in self._conflicts(template, instancetype, preference) if path not in removed]:
            for path in new:
                template, removed[path] = without_field(template, path)
        rewritten["spec"]["template"] = template
        return removed

    def _conflicts(self, template: Manifest, instancetype: _Choice, preference: _Choice) -> tuple[str, ...]:
        """The paths that conflict in a template; none if KubeVirt would panic, as building the VMI reports that."""
        try:
            applier.apply(template, instancetype.spec, preference.spec, self.cluster.release)
        except ConflictError as error:
            return error.conflicts
        except Panic:
            pass
        return ()


def _choices(manifests: Iterable[Manifest], matcher_field: MatcherField, cluster: Cluster) -> list[_Choice]:
    """The choices for manifests that match the schema."""
    choices = []
    for manifest in manifests:
        with suppress(FieldError):
            spec = release_schema.canonical(matcher_field.spec_type, manifest.get("spec"), cluster.release)
            choices.append(_Choice({"kind": manifest["kind"], "name": manifest["metadata"]["name"]}, spec))
    return choices


def _preferences(vm: Manifest, preferences: Iterable[Manifest] | None, cluster: Cluster) -> list[_Choice]:
    """The candidates: first none, then the given preferences. For a VM with a preference, only that."""
    if PREFERENCE.matcher_of(vm) is not None:
        return [_Choice(None, value_or_none(find.effective_spec, vm, PREFERENCE, cluster.objects, cluster.release))]
    offered = filter(is_active, preferences or ())
    named = sorted(offered, key=lambda manifest: (str(manifest["metadata"]["name"]), manifest["kind"]))
    # Many catalogs contain the same preference under several names.
    different: dict[str, _Choice] = {}
    for choice in _choices(named, PREFERENCE, cluster):
        different.setdefault(json.dumps(choice.spec, sort_keys=True), choice)
    return [_Choice(), *different.values()]


def _size(instancetype: Manifest | None) -> GuestSize:
    """The size of an instancetype, without its class."""
    spec = instancetype or {}
    return GuestSize(int(spec["cpu"]["guest"]), parse(spec["memory"]["guest"]).value)


def _size_of_guest(effective: Manifest) -> GuestSize:
    size = guest_figures(effective)
    return GuestSize(int(size["vcpus"]), parse(size.get("memory", "0")).value)
