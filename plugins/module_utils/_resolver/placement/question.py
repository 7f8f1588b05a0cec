"""From the manifests of VMs and of a cluster to what becomes of the VMs there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..api import release_schema
from ..api.errors import FieldError, QuantityError
from ..api.matcher import INSTANCETYPE, ROLES
from ..api.tree import copy
from ..instancetype.find import find
from ..instancetype.find.lookup import Lookup
from ..instancetype.vmi import expand
from ..instancetype.vmi.cluster import KubeVirt
from ..instancetype.webhooks import mutate
from ..pod.environment import Environment
from ..pod.pod import Unrenderable
from ..pod.resources import around, launcher
from .node import Node, node
from .outcome import Asked, outcome, running
from .workload import Workload, is_over, of_manifest, of_pod

Manifest = dict[str, Any]

_NETWORK_RESOURCE = "k8s.v1.cni.cncf.io/resourceName"


class Cluster(NamedTuple):
    """Where VMs are to run, as manifests. nodes: the Nodes. pods: the Pods of all namespaces. namespaces: the
    Namespaces, quotas: the ResourceQuotas, networks: the NetworkAttachmentDefinitions, None: not known. drain: the
    names of nodes to empty. instancetypes: those of which more VMs may be wanted."""

    nodes: Sequence[Manifest]
    pods: Sequence[Manifest] = ()
    namespaces: Sequence[Manifest] = ()
    quotas: Sequence[Manifest] = ()
    networks: Sequence[Manifest] | None = None
    drain: Sequence[str] = ()
    instancetypes: Sequence[Manifest] = ()


class _Refused(ValueError):
    """There is no pod of a VM; one line says why."""


def placement(vms: Sequence[Manifest], lookup: Lookup, kubevirt: KubeVirt, cluster: Cluster) -> dict[str, Any]:
    """What becomes of VMs in a cluster; see outcome.outcome. A VM whose pod is among the pods runs.

    lookup: the instancetypes, preferences and revisions. Raises FieldError for what is no node, pod, ....
    """
    nodes = [_node(manifest, cluster.drain) for manifest in cluster.nodes]
    labels = {one.name: one.labels for one in nodes}
    pods = [_workload(manifest) for manifest in cluster.pods if not is_over(manifest)]
    spaces = {name_of(one): labels_of(one) for one in cluster.namespaces}
    there = running(pods)
    environments = _environments(vms, kubevirt, cluster, spaces)
    asked = []
    for vm in vms:
        namespace = _namespace_of(vm)
        source = there.get((namespace, name_of(vm)))
        place = source.node if source is not None and source.node in labels else ""
        try:
            pod = _pod(vm, lookup, kubevirt, environments[namespace], source.owner if source else "", labels.get(place))
            asked.append(Asked(name_of(vm), namespace, pod, place))
        except (_Refused, FieldError) as error:
            asked.append(Asked(name_of(vm), namespace, None, place, " ".join(str(error).split())))
    samples = {name_of(one): _sample(one, kubevirt, around(kubevirt)) for one in cluster.instancetypes}
    return outcome(nodes, pods, asked, cluster.drain, spaces, samples)


def _pod(
    vm: Manifest,
    lookup: Lookup,
    kubevirt: KubeVirt,
    environment: Environment,
    uid: str = "",
    source: Mapping[str, str] | None = None,
) -> Workload:
    """uid: of the VMI that runs. source: the labels of its node. Raises _Refused, FieldError."""
    release = kubevirt.release
    if not isinstance(vm.get("spec"), dict):
        raise FieldError("spec", "is missing; a VirtualMachine's manifest is needed")
    vm = copy(vm)
    if release.sets_matcher_kind:
        mutate.set_kinds(vm)
    specs = []
    for role in ROLES:
        matcher = role.matcher_of(vm) or {}
        if matcher.get("inferFromVolume") and not matcher.get("name"):
            raise _Refused(f"its {role.matcher} is to be inferred from the volume {matcher['inferFromVolume']}")
        found = find.spec(vm, role, lookup, release)
        if found.error is not None:
            raise _Refused(found.error.message)
        specs.append(found.spec)
    template = release_schema.canonical("VirtualMachineInstanceTemplateSpec", vm["spec"].get("template"), release)
    return _workload_of(metadata_of(vm), template, specs[0], specs[1], kubevirt, environment, uid, source)


def _sample(instancetype: Manifest, kubevirt: KubeVirt, environment: Environment) -> Workload:
    """The pod of a VM with nothing but an instancetype. Raises FieldError."""
    release = kubevirt.release
    template = release_schema.canonical(
        "VirtualMachineInstanceTemplateSpec", {"spec": {"domain": {"devices": {}}}}, release
    )
    spec = release_schema.canonical(INSTANCETYPE.spec_type, instancetype.get("spec", instancetype), release)
    try:
        return _workload_of({"name": name_of(instancetype)}, template, spec, None, kubevirt, environment)
    except _Refused as error:
        raise FieldError("instancetypes", f"{name_of(instancetype)}: {error}") from None


def _workload_of(
    own: Manifest,
    template: Manifest,
    instancetype: Manifest | None,
    preference: Manifest | None,
    kubevirt: KubeVirt,
    environment: Environment,
    uid: str = "",
    source: Mapping[str, str] | None = None,
) -> Workload:
    problem = expand.fill_new(template, instancetype, preference, kubevirt.configuration, kubevirt.release)
    if problem is not None:
        raise _Refused(problem.message)
    name, namespace = str(own.get("name") or ""), str(own.get("namespace") or "")
    metadata = {**template["metadata"], "name": name, "namespace": namespace, "uid": uid}
    try:
        return of_pod(launcher(metadata, template["spec"], kubevirt, environment, source), name, namespace)
    except Unrenderable as error:
        raise _Refused(f"KubeVirt cannot create a pod for the VM: {error}") from None


def _environments(
    vms: Sequence[Manifest], kubevirt: KubeVirt, cluster: Cluster, spaces: Mapping[str, Mapping[str, str]]
) -> dict[str, Environment]:
    """By namespace; a quota without one counts in all."""
    networks = network_resources(cluster.networks)
    found = {}
    for namespace in dict.fromkeys(map(_namespace_of, vms)):
        quotas = [one for one in cluster.quotas if metadata_of(one).get("namespace", namespace) == namespace]
        found[namespace] = around(kubevirt, spaces.get(namespace), hard_of(quotas), networks)
    return found


def _node(manifest: Manifest, drained: Sequence[str]) -> Node:
    try:
        return node(manifest, name_of(manifest) in drained)
    except (AttributeError, QuantityError, TypeError) as error:
        raise FieldError("nodes", f"{name_of(manifest)} is no Node: {error}") from None


def _workload(manifest: Manifest) -> Workload:
    try:
        return of_manifest(manifest)
    except (AttributeError, QuantityError, TypeError) as error:
        raise FieldError("pods", f"{name_of(manifest)} is no Pod: {error}") from None


def metadata_of(manifest: Manifest) -> Manifest:
    """Raises FieldError for one that is no mapping."""
    found = manifest.get("metadata") or {}
    if not isinstance(found, Mapping):
        raise FieldError("metadata", f"expected a mapping, found {found!r}")
    return dict(found)


def _namespace_of(manifest: Manifest) -> str:
    return str(metadata_of(manifest).get("namespace") or "")


def name_of(manifest: Manifest) -> str:
    return str(metadata_of(manifest).get("name") or "")


def labels_of(manifest: Manifest | None) -> dict[str, str]:
    """Raises FieldError for labels that are no mapping."""
    found = metadata_of(manifest or {}).get("labels") or {}
    if not isinstance(found, Mapping):
        raise FieldError("metadata.labels", f"expected a mapping, found {found!r}")
    return dict(found)


def hard_of(quotas: Sequence[Manifest]) -> tuple[Manifest, ...]:
    """`spec.hard` of ResourceQuotas. Raises FieldError for one without."""
    found = []
    for quota in quotas:
        spec = quota.get("spec") or {}
        hard = (spec.get("hard") if isinstance(spec, Mapping) else spec) or {}
        if not isinstance(hard, Mapping):
            raise FieldError("quotas", f"{name_of(quota)} has no spec.hard")
        found.append(dict(hard))
    return tuple(found)


def network_resources(networks: Sequence[Manifest] | None) -> dict[str, str] | None:
    """The resource name that each NetworkAttachmentDefinition needs, by namespace and name; None: not known."""
    if networks is None:
        return None
    found = {}
    for metadata in map(metadata_of, networks):
        annotations = metadata.get("annotations") or {}
        if not isinstance(annotations, Mapping):
            raise FieldError("networks", f"expected a mapping of annotations, found {annotations!r}")
        name = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
        found[name] = annotations.get(_NETWORK_RESOURCE, "")
    return found
