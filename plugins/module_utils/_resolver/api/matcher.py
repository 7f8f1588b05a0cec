"""Instancetype and preference: how a VM refers to them.

Both work alike in KubeVirt, except for names; a `MatcherField` holds the names. An expanded VM declares what they
resolve to; it refers to them by annotations, its records.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from .keys import DOMAIN
from .kinds import KINDS, kind_meant
from .manifest import Manifest

LABEL_PREFIX: Final = "instancetype.kubevirt.io/default-"
"""The prefix of a volume's labels that name defaults for VMs."""


Inferring = Mapping[str, Callable[[Manifest, str], bool]]
"""Options with which a task infers what KubeVirt does not: whether each can infer from a VM's volume, by its name."""


class MatcherField(NamedTuple):
    """The names that belong to a field of a VM, `instancetype` or `preference`.

    name: the field of a VM's spec. reference: the field of a VM's status.
    matcher_type: the matcher's type in KubeVirt's messages.
    kind, cluster_kind: the namespaced and the cluster-wide kind.
    spec_type: the schema type of the object's spec.
    annotation, cluster_annotation: the VMI's annotations with the object's name. record: the annotation of an expanded
    VM with the object as a ControllerRevision has it, as JSON.
    """

    name: str
    reference: str
    matcher_type: str
    kind: str
    cluster_kind: str
    spec_type: str
    annotation: str
    cluster_annotation: str
    record: str

    @property
    def volume_label(self) -> str:
        """The label of a volume with the name of the object for VMs that boot from it."""
        return f"{LABEL_PREFIX}{self.name}"

    @property
    def volume_kind_label(self) -> str:
        """The label with the object's kind; without it, the kind is cluster-wide."""
        return f"{self.volume_label}-kind"

    def matcher_of(self, vm: Manifest) -> Manifest | None:
        """The VM's matcher, which may be empty; None if the VM has none."""
        matcher: Manifest | None = (vm.get("spec") or {}).get(self.name)
        return matcher

    def matcher_or_empty(self, vm: Manifest) -> Manifest:
        """The VM's matcher; {} if the VM has none."""
        return self.matcher_of(vm) or {}

    def recorded_in(self, vm: Manifest) -> Manifest | None:
        """The object of which an expanded VM has the values; {} if the record is unreadable, None if there is none.

        A matcher counts more than a record, which somebody has left behind.
        """
        text = ((vm.get("metadata") or {}).get("annotations") or {}).get(self.record)
        if text is None or self.matcher_of(vm) is not None:
            return None
        try:
            record = json.loads(text)
            readable = isinstance(record["metadata"]["name"], str) and self.kind_of(record) is not None
        except (ValueError, TypeError, KeyError, AttributeError):
            readable = False
        return record if readable else {}

    def named_in(self, vm: Manifest) -> Manifest | None:
        """The VM's matcher, or one that says of which object an expanded VM has the values; None for neither."""
        record = self.recorded_in(vm)
        if record is None:
            return self.matcher_of(vm)
        return {"kind": record["kind"], "name": record["metadata"]["name"]} if record else {}

    def reference_of(self, vm: Manifest) -> Manifest:
        """The reference in the VM's status; {} if there is none."""
        reference: Manifest = (vm.get("status") or {}).get(self.reference) or {}
        return reference

    def kind_of(self, matcher: Manifest) -> str | None:
        """The kind that a matcher means: an empty one the cluster-wide kind; None if KubeVirt does not know it."""
        kind = matcher.get("kind")
        return kind_meant(kind, (self.kind, self.cluster_kind)) if kind else self.cluster_kind


def _matcher_field(name: str) -> MatcherField:
    kind = name.capitalize()
    return MatcherField(
        name=name,
        reference=f"{name}Ref",
        matcher_type=f"{kind}Matcher",
        kind=f"VirtualMachine{kind}",
        cluster_kind=f"VirtualMachineCluster{kind}",
        spec_type=f"VirtualMachine{kind}Spec",
        annotation=f"kubevirt.io/{name}-name",
        cluster_annotation=f"kubevirt.io/cluster-{name}-name",
        record=f"{DOMAIN}/{name}",
    )


INSTANCETYPE: Final = _matcher_field("instancetype")
PREFERENCE: Final = _matcher_field("preference")

# In KubeVirt's order.
MATCHER_FIELDS: Final = (INSTANCETYPE, PREFERENCE)

MATCHER_FIELD_OF_KIND: Final = {
    kind: matcher_field for matcher_field in MATCHER_FIELDS for kind in (matcher_field.kind, matcher_field.cluster_kind)
}

# The labels of a volume that name the object and its kind, for each field.
VOLUME_LABELS: Final = tuple(
    label for matcher_field in MATCHER_FIELDS for label in (matcher_field.volume_label, matcher_field.volume_kind_label)
)

# The current KubeVirt stores instancetypes and preferences in this version.
API_VERSION: Final = "instancetype.kubevirt.io/v1beta1"


def set_kinds(vm: Manifest) -> None:
    """Sets the cluster-wide kind in a VM's matchers without kind, in the letters that older releases write."""
    for matcher_field in MATCHER_FIELDS:
        matcher = matcher_field.matcher_of(vm)
        if matcher is not None and not matcher.get("kind"):
            matcher["kind"] = matcher_field.cluster_kind.lower()


class ObjectKey(NamedTuple):
    """Identifies an object; namespace is "" for the cluster-wide kinds."""

    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, manifest: Manifest) -> ObjectKey:
        metadata = manifest["metadata"]
        return cls(manifest["kind"], metadata.get("namespace") or "", metadata["name"])

    @property
    def path(self) -> str:
        """The URL path of the object."""
        return KINDS[self.kind].path(self.namespace, self.name)

    @property
    def label(self) -> str:
        """The name in messages."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def references(vm: Manifest) -> list[ObjectKey]:
    """The instancetype and the preference that a VM's matchers or records name."""
    keys = []
    for matcher_field in MATCHER_FIELDS:
        matcher = matcher_field.named_in(vm) or {}
        kind = matcher_field.kind_of(matcher)
        if matcher.get("name") and kind is not None:
            namespace = "" if kind == matcher_field.cluster_kind else vm["metadata"].get("namespace") or ""
            keys.append(ObjectKey(kind, namespace, matcher["name"]))
    return keys
