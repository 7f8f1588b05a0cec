"""The surroundings of pods from manifests: names and labels, quotas, networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from ...api.errors import FieldError, QuantityError
from ..vmi.cluster import KubeVirt
from .environment import Environment
from .resources import environment_of

Manifest = dict[str, Any]

_NETWORK_RESOURCE = "k8s.v1.cni.cncf.io/resourceName"


def environments(
    vms: Sequence[Manifest],
    kubevirt: KubeVirt,
    namespaces: Mapping[str, Mapping[str, str]],
    quotas: Sequence[Manifest] = (),
    networks: Sequence[Manifest] | None = None,
) -> dict[str, Environment]:
    """The environments of VMs' pods by namespace.

    namespaces: labels by name. quotas: ResourceQuotas; one without a namespace counts in all.
    networks: NetworkAttachmentDefinitions; None if unknown. Raises FieldError.
    """
    resources = network_resources(networks)
    quotas_of = by_namespace(quotas)
    return {
        namespace: environment_of(kubevirt, namespaces.get(namespace), hard_of(quotas_of(namespace)), resources)
        for namespace in dict.fromkeys(map(namespace_of, vms))
    }


def by_namespace(manifests: Iterable[Manifest]) -> Callable[[str], list[Manifest]]:
    """namespace → the manifests that count in it, in the given order: its own, and those without a namespace.

    Raises FieldError.
    """
    in_namespace: dict[str | None, list[tuple[int, Manifest]]] = {}
    for index, manifest in enumerate(manifests):
        namespace = metadata_of(manifest).get("namespace") or None
        if namespace is None or isinstance(namespace, str):
            in_namespace.setdefault(namespace, []).append((index, manifest))

    def within(namespace: str) -> list[Manifest]:
        entries = [*in_namespace.get(namespace, ()), *in_namespace.get(None, ())]
        return [manifest for _number, manifest in sorted(entries, key=itemgetter(0))]

    return within


def malformed(kind: str, manifest: Manifest, error: Exception) -> str:
    """The message about an unreadable manifest."""
    reason = str(error) if isinstance(error, QuantityError) else "a field has a value of the wrong type"
    return f"{name_of(manifest) or 'an object without a name'} is not a {kind}: {reason}"


def metadata_of(manifest: Manifest) -> Manifest:
    """The metadata of a manifest. Raises FieldError if they are not a mapping."""
    metadata = manifest.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise FieldError("metadata", f"expected a mapping, found {metadata!r}")
    return dict(metadata)


def namespace_of(manifest: Manifest) -> str:
    return str(metadata_of(manifest).get("namespace") or "")


def name_of(manifest: Manifest) -> str:
    return str(metadata_of(manifest).get("name") or "")


def label_of(manifest: Manifest) -> str:
    """``shop/web``"""
    return f"{namespace_of(manifest)}/{name_of(manifest)}"


def labels_of(manifest: Manifest | None) -> dict[str, str]:
    """The labels of a manifest."""
    return dict(metadata_of(manifest or {}).get("labels") or {})


def hard_of(quotas: Sequence[Manifest]) -> tuple[Manifest, ...]:
    """`spec.hard` of ResourceQuotas. Raises FieldError if one has none."""
    limits = []
    for quota in quotas:
        hard = (quota.get("spec") or {}).get("hard") or {}
        if not isinstance(hard, Mapping):
            raise FieldError("quotas", f"{name_of(quota)} has no spec.hard")
        limits.append(dict(hard))
    return tuple(limits)


def network_resources(networks: Sequence[Manifest] | None) -> dict[str, str] | None:
    """The resource name that each NetworkAttachmentDefinition needs, by namespace and name; None if unknown."""
    if networks is None:
        return None
    resources = {}
    for metadata in map(metadata_of, networks):
        name = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
        resources[name] = (metadata.get("annotations") or {}).get(_NETWORK_RESOURCE, "")
    return resources
