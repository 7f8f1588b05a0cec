"""The filters of the pods of VMs: their requests, placement, and admission by quotas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._capacity.placement import simulation
from ...module_utils._capacity.placement.simulation import PlacementObjects
from ...module_utils._capacity.pod import resources as pod_resources
from ...module_utils._capacity.pod.environment import Environment
from ...module_utils._capacity.pod.pod import MigrationSource
from ...module_utils._capacity.pod.render import KEEP, MIGRATE, RESTART, hard_of, network_resources
from ...module_utils._capacity.quota.check import QuotaObjects, check_quotas
from ...module_utils._resolver.api.errors import FieldError, KubeVirtError
from ...module_utils._resolver.api.manifest import Manifest, labels_of, metadata_of
from ...module_utils._resolver.api.name_rules import one_line
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.kubevirt.cluster import KubeVirt, kubevirt_of
from ...module_utils._resolver.kubevirt.instancetype.lookup import Objects
from ...module_utils._resolver.kubevirt.vm import expand
from .._manifest_checks import gated
from ._shared import (
    accepts_unknown,
    check_option,
    choice,
    list_of,
    manifests,
    release_option,
    single_manifest,
    vm_filter,
)
from .vm import Overrides, parts


def _resources(
    vm: Manifest,
    overrides: Overrides,
    objects: list[Manifest],
    release: Release,
    kubevirt: Manifest | None = None,
    namespace: Manifest | None = None,
    quotas: Sequence[Manifest] = (),
    networks: Sequence[Manifest] | None = None,
    migrates_from: Manifest | None = None,
) -> dict[str, Any]:
    source = MigrationSource(labels_of(migrates_from)) if migrates_from is not None else None
    cluster = _kubevirt(kubevirt, release)
    instancetype, preference, template = parts(vm, overrides, objects, release)
    expand.apply_defaults(template, instancetype, preference, cluster)
    own = metadata_of(vm)
    metadata = {**template["metadata"], **{part: own[part] for part in ("name", "namespace") if own.get(part)}}
    environment = Environment(cluster, labels_of(namespace or {}), hard_of(quotas), network_resources(networks))
    try:
        return pod_resources.resources(metadata, template["spec"], environment, source)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _of_configuration(error, kubevirt) from None


resources = vm_filter(
    _resources,
    kubevirt=single_manifest,
    namespace=single_manifest,
    quotas=partial(manifests, "quotas"),
    networks=partial(manifests, "networks"),
    migrates_from=single_manifest,
)


def quota(
    vms: Any,
    quotas: Any = (),
    limit_ranges: Any = (),
    application_quotas: Any = (),
    cluster_quotas: Any = (),
    aaq: Any = None,
    namespaces: Any = (),
    networks: Any = None,
    pods: Any = (),
    guests: Any = (),
    virtual_machines: Any = (),
    storage_class: Any = "",
    running: Any = KEEP,
    **options: Any,
) -> dict[str, Any]:
    """See its documentation. options: see `_evaluated`."""
    check_option("running", running, choice(KEEP, RESTART, MIGRATE))
    cluster = QuotaObjects(
        quotas=manifests("quotas", quotas),
        limit_ranges=manifests("limit_ranges", limit_ranges),
        application_quotas=manifests("application_quotas", application_quotas),
        cluster_quotas=manifests("cluster_quotas", cluster_quotas),
        aaq=None if aaq is None else check_option("aaq", aaq, single_manifest),
        namespaces=manifests("namespaces", namespaces),
        networks=None if networks is None else manifests("networks", networks),
        pods=manifests("pods", pods),
        guests=manifests("guests", guests),
        vms=manifests("virtual_machines", virtual_machines),
        default_class=str(storage_class or ""),
    )
    return _evaluated(check_quotas, vms, cluster, running, **options)


def placement(
    vms: Any,
    nodes: Any = (),
    pods: Any = (),
    namespaces: Any = (),
    quotas: Any = (),
    networks: Any = None,
    drain: Any = (),
    instancetypes: Any = (),
    running: Any = MIGRATE,
    **options: Any,
) -> dict[str, Any]:
    """See its documentation. options: see `_evaluated`."""
    check_option("running", running, choice(MIGRATE, RESTART))
    check_option("drain", drain, list_of("names"))
    cluster = PlacementObjects(
        manifests("nodes", nodes),
        manifests("pods", pods),
        manifests("namespaces", namespaces),
        manifests("quotas", quotas),
        None if networks is None else manifests("networks", networks),
        list(drain),
        manifests("instancetypes", instancetypes),
    )
    return _evaluated(simulation.placement, vms, cluster, running, **options)


def _evaluated(
    evaluate: Callable[..., dict[str, Any]],
    vms: Any,
    cluster: Any,
    running_policy: str,
    *,
    kubevirt: Any = None,
    kubevirt_version: Any = None,
    objects: Any = (),
    accept_unknown_fields: Any = False,
) -> dict[str, Any]:
    """The result of a filter for a list of VMs. Raises AnsibleFilterError.

    evaluate: placement or check_quotas, with the objects that it takes. The rest are options of the filter:
    `kubevirt_version` names the release, otherwise the KubeVirt object `kubevirt` does; objects are instancetypes,
    preferences and revisions.
    """
    kubevirt_object = check_option("kubevirt", kubevirt, single_manifest) if kubevirt is not None else None
    known_objects = Objects(manifests("objects", objects))
    accept = accepts_unknown(accept_unknown_fields)
    release = release_option(kubevirt_version, kubevirt_object)
    try:
        gated_vms = [gated(vm, accept) for vm in manifests("VirtualMachines", vms)]
        cluster_kubevirt = _kubevirt(kubevirt_object, release)
        try:
            return evaluate(gated_vms, known_objects, cluster_kubevirt, cluster, running_policy)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _of_configuration(error, kubevirt_object) from None
    except (FieldError, KubeVirtError) as error:
        raise AnsibleFilterError(one_line(error)) from None


def _of_configuration(error: Exception, kubevirt: Manifest | None) -> Exception:
    """Blames the KubeVirt object, if given, for an error, because only its configuration is not checked beforehand."""
    if kubevirt is None or isinstance(error, FieldError):
        return error
    return FieldError("kubevirt", f"its configuration cannot be read: {error}")


def _kubevirt(manifest: Manifest | None, release: Release) -> KubeVirt:
    """The KubeVirt of an object, treated as the given release."""
    if manifest is None:
        return KubeVirt(release)
    result = kubevirt_of({"status": {}, **manifest}, ".".join(map(str, release.version)))
    if result.assumption:
        raise FieldError("kubevirt", result.assumption)
    return result
