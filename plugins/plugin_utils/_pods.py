"""What the filters answer about the pods of VMs: what they ask for, and where they fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..module_utils._resolver.api.errors import FieldError, QuantityError
from ..module_utils._resolver.api.release import NEWEST, Release
from ..module_utils._resolver.instancetype.vmi import expand as expansion
from ..module_utils._resolver.instancetype.vmi.cluster import KubeVirt, kubevirt_of
from ..module_utils._resolver.placement.node import Node, node
from ..module_utils._resolver.placement.outcome import Asked, outcome, running
from ..module_utils._resolver.placement.workload import Workload, is_over, of_manifest, of_pod
from ..module_utils._resolver.pod import resources as resource
from ..module_utils._resolver.pod.environment import Environment
from ..module_utils._resolver.pod.pod import Unrenderable
from ._questions import Given, Unanswerable, parts

Manifest = dict[str, Any]

_NETWORK_RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
_NONE: Given = {"instancetype": None, "preference": None}


class Place(NamedTuple):
    """Where a VM is to run, as manifests. kubevirt: the KubeVirt object, for its configuration. namespace: the VM's.
    quotas: the ResourceQuotas there. networks: the NetworkAttachmentDefinitions; None: they are not known.
    migrates_from: the node that the VM migrates from; None: it starts."""

    kubevirt: Manifest | None = None
    namespace: Manifest | None = None
    quotas: Sequence[Manifest] = ()
    networks: Sequence[Manifest] | None = None
    migrates_from: Manifest | None = None


class Cluster(NamedTuple):
    """Where VMs are to run, as manifests. nodes: the Nodes. pods: the Pods of all namespaces. namespaces: the
    Namespaces. objects: instancetypes, preferences and revisions. drain: the names of nodes to empty. instancetypes:
    those of which more VMs may be wanted. The rest is as in Place."""

    nodes: Sequence[Manifest]
    pods: Sequence[Manifest] = ()
    namespaces: Sequence[Manifest] = ()
    objects: Sequence[Manifest] = ()
    drain: Sequence[str] = ()
    instancetypes: Sequence[Manifest] = ()
    kubevirt: Manifest | None = None
    quotas: Sequence[Manifest] = ()
    networks: Sequence[Manifest] | None = None


class _Launch(NamedTuple):
    """What the pod of a VM is made of."""

    metadata: Manifest
    spec: Manifest
    kubevirt: KubeVirt
    around: Environment


def resources(
    vm: Manifest, given: Given, objects: list[Manifest], release: Release = NEWEST, **place: Any
) -> dict[str, Any]:
    """{guest, pod}: what the VM's guest gets and what its pod asks for; see resources.resources. place: as in Place."""
    where = Place(**place)
    source = _labels(where.migrates_from) if where.migrates_from is not None else None
    launch = _launch(vm, given, objects, release, where)
    return _made(resource.resources, launch, source, where)  # type: ignore[no-any-return]


def placement(vms: Sequence[Manifest], cluster: Cluster, release: Release = NEWEST) -> dict[str, Any]:
    """What becomes of VMs in a cluster; see outcome.outcome. A VM whose pod is among the pods runs."""
    nodes = [_node(manifest, cluster.drain) for manifest in cluster.nodes]
    labels = {one.name: one.labels for one in nodes}
    pods = [_workload(manifest) for manifest in cluster.pods if not is_over(manifest)]
    there = running(pods)
    asked = []
    for vm in vms:
        name, namespace = _name(vm), str(_metadata(vm).get("namespace") or "")
        source = there.get((namespace, name))
        node_name = source.node if source is not None and source.node in labels else ""
        pod = _pod(vm, cluster, release, source.owner if source else "", labels.get(node_name))
        asked.append(Asked(name, namespace, pod, node_name))
    samples = {_name(one): _pod(_sample(one), cluster, release, "", None, one) for one in cluster.instancetypes}
    spaces = {_name(one): _labels(one) for one in cluster.namespaces}
    return outcome(nodes, pods, asked, cluster.drain, spaces, samples)


def _pod(
    vm: Manifest,
    cluster: Cluster,
    release: Release,
    uid: str,
    source: Mapping[str, str] | None,
    instancetype: Manifest | None = None,
) -> Workload:
    namespace = str(_metadata(vm).get("namespace") or "")
    quotas = [one for one in cluster.quotas if _metadata(one).get("namespace", namespace) == namespace]
    space = next((one for one in cluster.namespaces if _name(one) == namespace), None)
    where = Place(cluster.kubevirt, space, quotas, cluster.networks)
    given = {**_NONE, "instancetype": instancetype}
    try:
        launch = _launch(vm, given, list(cluster.objects), release, where)
        launch = launch._replace(metadata={**launch.metadata, "uid": uid})
        return of_pod(_made(resource.launcher, launch, source, where), _name(vm), namespace)
    except (FieldError, Unanswerable) as error:
        raise Unanswerable(f"{namespace}/{_name(vm)}: {error}".removeprefix("/")) from None


def _sample(instancetype: Manifest) -> Manifest:
    """A VM with nothing but an instancetype."""
    template = {"spec": {"domain": {"devices": {}}}}
    return {"metadata": {"name": _name(instancetype)}, "spec": {"template": template}}


def _launch(vm: Manifest, given: Given, objects: list[Manifest], release: Release, where: Place) -> _Launch:
    kubevirt = _kubevirt(where.kubevirt, release)
    instancetype, preference, template = parts(vm, given, objects, release)
    # A VMI gets the defaults when it is created, of a VM without matchers and in releases whose expand-spec lacks them.
    stores_request = release.requests_guest_memory or not release.expand_sets_defaults
    creating = release._replace(expand_sets_defaults=True, requests_guest_memory=stores_request)
    failed = expansion.fill(template, instancetype, preference, kubevirt.configuration, creating)
    if failed is not None:
        raise Unanswerable(failed.error.message if failed.error else "cannot be expanded")
    named = _metadata(vm)
    metadata = {**template["metadata"], **{part: named[part] for part in ("name", "namespace") if named.get(part)}}
    around = resource.around(kubevirt, _labels(where.namespace), _hard(where.quotas), _resources(where.networks))
    return _Launch(metadata, template["spec"], kubevirt, around)


def _made(make: Any, launch: _Launch, source: Mapping[str, str] | None, where: Place) -> Any:
    try:
        return make(*launch, source)
    except Unrenderable as error:
        raise Unanswerable(f"KubeVirt cannot create a pod for the VM: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if where.kubevirt is None:
            raise
        raise FieldError("kubevirt", f"its configuration cannot be read: {error}") from None


def _node(manifest: Manifest, drained: Sequence[str]) -> Node:
    try:
        return node(manifest, _name(manifest) in drained)
    except (AttributeError, QuantityError, TypeError) as error:
        raise FieldError("nodes", f"{_name(manifest)} is no Node: {error}") from None


def _workload(manifest: Manifest) -> Workload:
    try:
        return of_manifest(manifest)
    except (AttributeError, QuantityError, TypeError) as error:
        raise FieldError("pods", f"{_name(manifest)} is no Pod: {error}") from None


def _metadata(manifest: Manifest) -> Manifest:
    found = manifest.get("metadata") or {}
    if not isinstance(found, Mapping):
        raise FieldError("metadata", f"expected a mapping, found {found!r}")
    return dict(found)


def _name(manifest: Manifest) -> str:
    return str(_metadata(manifest).get("name") or "")


def _labels(manifest: Manifest | None) -> dict[str, str]:
    found = _metadata(manifest or {}).get("labels") or {}
    if not isinstance(found, Mapping):
        raise FieldError("metadata.labels", f"expected a mapping, found {found!r}")
    return dict(found)


def _hard(quotas: Sequence[Manifest]) -> tuple[Manifest, ...]:
    found = []
    for quota in quotas:
        spec = quota.get("spec") or {}
        hard = (spec.get("hard") if isinstance(spec, Mapping) else spec) or {}
        if not isinstance(hard, Mapping):
            raise FieldError("quotas", f"{_name(quota)} has no spec.hard")
        found.append(dict(hard))
    return tuple(found)


def _resources(networks: Sequence[Manifest] | None) -> dict[str, str] | None:
    """The resource name that each network needs, by namespace and name."""
    if networks is None:
        return None
    found = {}
    for metadata in map(_metadata, networks):
        annotations = metadata.get("annotations") or {}
        if not isinstance(annotations, Mapping):
            raise FieldError("networks", f"expected a mapping of annotations, found {annotations!r}")
        name = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
        found[name] = annotations.get(_NETWORK_RESOURCE, "")
    return found


def _kubevirt(manifest: Manifest | None, release: Release) -> KubeVirt:
    """The KubeVirt of an object, as if it was of the release."""
    if manifest is None:
        return KubeVirt(release)
    found = kubevirt_of({"status": {}, **manifest}, ".".join(map(str, release.version)))
    if found.doubt:
        raise FieldError("kubevirt", found.doubt)
    return found
