"""The pods of VMs from manifests, and their surroundings: names and labels, quotas, networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeVar

from ..._resolver.api import behaviour, release_schema
from ..._resolver.api.errors import FieldError, KubeVirtError, QuantityError
from ..._resolver.api.manifest import (
    Manifest,
    annotations_of,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    qualified_name,
)
from ..._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS, set_kinds
from ..._resolver.api.tree import copy
from ..._resolver.kubevirt.cluster import KubeVirt
from ..._resolver.kubevirt.instancetype import find
from ..._resolver.kubevirt.instancetype.lookup import Lookup, Objects
from ..._resolver.kubevirt.vm import expand
from .environment import Environment
from .pod import MigrationSource, Pod
from .resources import RenderedVM, launch

T = TypeVar("T")

_NETWORK_RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
_SAMPLE = "sample"


def environments(
    vms: Sequence[Manifest],
    kubevirt: KubeVirt,
    namespaces: Sequence[Manifest],
    quotas: Sequence[Manifest] = (),
    networks: Sequence[Manifest] | None = None,
    claims: Sequence[Manifest] = (),
) -> dict[str, Environment]:
    """The environments of VMs' pods by namespace.

    namespaces: the Namespaces. quotas: ResourceQuotas; one without a namespace counts in all.
    networks: NetworkAttachmentDefinitions; None if unknown. claims: PersistentVolumeClaims. Raises FieldError.
    """
    resources = network_resources(networks)
    labels = {name_of(namespace): labels_of(namespace) for namespace in namespaces}
    quotas_of, claims_of = by_namespace(quotas), by_namespace(claims)
    return {
        namespace: Environment(
            kubevirt,
            labels.get(namespace) or {},
            hard_of(quotas_of(namespace)),
            resources,
            {name_of(claim): metadata_of(claim).get("uid", "") for claim in claims_of(namespace)},
        )
        for namespace in dict.fromkeys(map(namespace_of, vms))
    }


def by_namespace(manifests: Iterable[Manifest]) -> Callable[[str], list[Manifest]]:
    """namespace → the manifests that count in it, in the given order: its own, and manifests without a namespace.

    Raises FieldError.
    """
    in_namespace: dict[str | None, list[tuple[int, Manifest]]] = {}
    for index, manifest in enumerate(manifests):
        namespace = metadata_of(manifest).get("namespace") or None
        if namespace is None or isinstance(namespace, str):
            in_namespace.setdefault(namespace, []).append((index, manifest))

    def within(namespace: str) -> list[Manifest]:
        counting = [*in_namespace.get(namespace, ()), *in_namespace.get(None, ())]
        return [manifest for _number, manifest in sorted(counting, key=itemgetter(0))]

    return within


def read_as(kind: str, reader: Callable[[Manifest], T], manifest: Manifest) -> T:
    """Reads a manifest as an object of a kind. Raises FieldError if that is not possible."""
    try:
        return reader(manifest)
    except (AttributeError, QuantityError, TypeError) as error:
        reason = str(error) if isinstance(error, QuantityError) else "a field has a value of the wrong type"
        name = name_of(manifest) or "an object without a name"
        raise FieldError(f"{kind[0].lower()}{kind[1:]}s", f"{name} is not a {kind}: {reason}") from None


def hard_of(quotas: Sequence[Manifest]) -> tuple[Manifest, ...]:
    """`spec.hard` of ResourceQuotas. Raises FieldError if one has none."""
    limits = tuple((quota.get("spec") or {}).get("hard") or {} for quota in quotas)
    for quota, hard in zip(quotas, limits):
        if not isinstance(hard, Mapping):
            raise FieldError("quotas", f"{name_of(quota)} has no spec.hard")
    return limits


def network_resources(networks: Sequence[Manifest] | None) -> dict[str, str] | None:
    """The resource name that each NetworkAttachmentDefinition needs, by namespace and name; None if unknown."""
    if networks is None:
        return None
    return {qualified_name(network): annotations_of(network).get(_NETWORK_RESOURCE, "") for network in networks}


# Policies for running VMs.
KEEP, RESTART, MIGRATE = "keep", "restart", "migrate"


def render_vm(
    vm: Manifest, lookup: Lookup, env: Environment, uid: str = "", source: MigrationSource | None = None
) -> RenderedVM:
    """The VMI and the pod of a VM that starts or migrates.

    lookup: instancetypes, preferences and revisions. uid: the UID of the running VMI, if any. source:
    the place from which the VM migrates. Raises KubeVirtError, FieldError.
    """
    release = env.kubevirt.release
    if not isinstance(vm.get("spec"), dict):
        raise FieldError("spec", "is missing; a VirtualMachine's manifest is needed")
    vm = copy(vm)
    if release.has(behaviour.SETS_MATCHER_KIND):
        set_kinds(vm)
    specs = []
    for matcher_field in MATCHER_FIELDS:
        matcher = matcher_field.matcher_or_empty(vm)
        if matcher.get("inferFromVolume") and not matcher.get("name"):
            volume = matcher["inferFromVolume"]
            raise KubeVirtError(f"its {matcher_field.name} is to be inferred from the volume {volume}")
        specs.append(find.effective_spec(vm, matcher_field, lookup, release))
    template = release_schema.canonical("VirtualMachineInstanceTemplateSpec", vm["spec"].get("template"), release)
    expand.apply_defaults(template, specs[0], specs[1], env.kubevirt)
    metadata = {**template["metadata"], "name": name_of(vm), "namespace": namespace_of(vm), "uid": uid}
    return launch(metadata, template["spec"], env, source)


def sample_pod(instancetype: Manifest, env: Environment) -> Pod:
    """The pod of a VM that has only an instancetype. Raises KubeVirtError, FieldError."""
    spec = {
        INSTANCETYPE.name: {"name": _SAMPLE, "kind": INSTANCETYPE.cluster_kind},
        "template": {"spec": {"domain": {"devices": {}}}},
    }
    canonical = release_schema.canonical(
        INSTANCETYPE.spec_type, instancetype.get("spec", instancetype), env.kubevirt.release
    )
    known = {"kind": INSTANCETYPE.cluster_kind, "metadata": {"name": _SAMPLE}, "spec": canonical}
    return render_vm({"metadata": {"name": name_of(instancetype)}, "spec": spec}, Objects([known]), env).pod


def joint_verdict(results: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """{evaluated, fits, problem} of several such answers; `problem` is empty for a pod that fits.

    Where one answer is certain that the pod does not fit, it does not matter that another one is not evaluated.
    """
    all_results = list(results)
    certain = any(result["evaluated"] and not result["fits"] for result in all_results)
    problems = dict.fromkeys(result["problem"] for result in all_results if not result["fits"])
    return {
        "evaluated": certain or all(result["evaluated"] for result in all_results),
        "fits": not problems,
        "problem": "; ".join(problems),
    }
