"""Finds the preference that gives a VM most of what its manifest writes by hand, with the least change of its guest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .._adoption.effective import effective
from .._adoption.removal import reduced
from .._resolver.api.errors import KubeVirtError, value_or_none
from .._resolver.api.manifest import Manifest, name_of
from .._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from .._resolver.api.state import is_active
from .._resolver.api.tree import differences, without_secrets
from .._resolver.kubevirt.admission import mutate, validate
from .._resolver.kubevirt.cluster import Cluster
from .._resolver.kubevirt.instancetype import applier, find


class ReplacingPreference(NamedTuple):
    """A preference that can take the place of fields of a VM.

    name, kind: the preference's kind.

    removed: the fields of the VM's template that it gives the same value, path → value. differences: the guest's, see
    `Candidate`. refusal: why KubeVirt accepts it only with an instancetype, too, or "".
    """

    name: str
    kind: str
    removed: Mapping[str, Any]
    differences: list[dict[str, Any]]
    refusal: str


def replacing_preference(vm: Manifest, preferences: Iterable[Manifest], cluster: Cluster) -> ReplacingPreference | None:
    """The preference for a VM without one; None if none gives any of its fields.

    preferences: the preferences to choose from; the cluster must know them. One that KubeVirt accepts wins, then the
    fewest differences, then the most fields, then the name.
    """
    before = value_or_none(effective, vm, cluster)
    if before is None:
        return None
    size = value_or_none(find.effective_spec, vm, INSTANCETYPE, cluster.objects, cluster.release)
    best: ReplacingPreference | None = None
    specs = set[str]()
    for manifest in sorted(filter(is_active, preferences), key=name_of):
        # Many catalogs contain the same preference under several names.
        text = json.dumps(manifest.get("spec"), sort_keys=True, default=str)
        if text in specs:
            continue
        specs.add(text)
        attempt = _attempt(vm, before, manifest, size, cluster)
        if attempt is not None and (best is None or _rank(attempt) < _rank(best)):
            best = attempt
    return best


def _attempt(
    vm: Manifest, before: Manifest, manifest: Manifest, size: Manifest | None, cluster: Cluster
) -> ReplacingPreference | None:
    matcher = {"kind": manifest["kind"], "name": name_of(manifest)}
    rewritten = {**vm, "spec": {**vm["spec"], PREFERENCE.name: matcher}}
    try:
        admitted = mutate.mutate(rewritten, cluster.objects, release=cluster.release)
        after = effective(admitted, cluster)
    except KubeVirtError:
        return None
    response = validate.virtual_machine(admitted, cluster)
    if size is not None and not response.allowed:
        return None
    preference = value_or_none(find.effective_spec, rewritten, PREFERENCE, cluster.objects, cluster.release)

    def applied(template: Manifest) -> Manifest | None:
        return value_or_none(applier.apply, template, size, preference, cluster.release)

    def plain(template: Manifest) -> Manifest | None:
        return value_or_none(applier.apply, template, size, None, cluster.release)

    removed = reduced(vm["spec"]["template"], plain, applied)[1]
    if not removed:
        return None
    changes = without_secrets(differences(before, after))
    refusal = "" if response.allowed else response.message
    return ReplacingPreference(matcher["name"], matcher["kind"], removed, changes, refusal)


def _rank(attempt: ReplacingPreference) -> tuple[bool, int, int]:
    return bool(attempt.refusal), len(attempt.differences), -len(attempt.removed)
