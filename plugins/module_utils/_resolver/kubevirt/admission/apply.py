"""The part of KubeVirt's webhooks that concerns instance types: apply them, set defaults, check requirements."""

from __future__ import annotations

from ...api.manifest import Manifest
from ..cluster import KubeVirt
from ..instancetype import applier, requirements, topology
from ..vm import defaults


def apply_and_check(
    template: Manifest, instancetype_spec: Manifest | None, preference_spec: Manifest | None, kubevirt: KubeVirt
) -> None:
    """Applies canonical specs and the defaults to a VM's canonical template, and checks the requirements.

    Raises KubeVirtError for the first step that fails: SpreadError, ConflictError, a default that cannot be set, or
    UnmetRequirement; and Panic where KubeVirt panics.
    """
    release, metadata, spec = kubevirt.release, template["metadata"], template["spec"]
    topology.check_spread(instancetype_spec, preference_spec)
    applier.apply_in_place(metadata, spec, instancetype_spec, preference_spec, release)
    defaults.set_spec_defaults(spec, kubevirt)
    requirements.check(instancetype_spec, preference_spec, spec, release)
