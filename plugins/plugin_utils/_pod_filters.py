"""Filters about the pods of VMs: their requests, placement, and admission by quotas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ansible.errors import AnsibleFilterError

from ..module_utils._resolver.api.errors import FieldError
from ..module_utils._resolver.api.release import NEWEST, Release
from ..module_utils._resolver.kubevirt.find.lookup import Objects
from ..module_utils._resolver.kubevirt.pod import resources as resource
from ..module_utils._resolver.kubevirt.pod.environment import Environment
from ..module_utils._resolver.kubevirt.pod.manifests import hard_of, labels_of, metadata_of, network_resources
from ..module_utils._resolver.kubevirt.pod.pod import Unrenderable
from ..module_utils._resolver.kubevirt.vmi import expand as expansion
from ..module_utils._resolver.kubevirt.vmi.cluster import KubeVirt, kubevirt_of, version_of
from ._filters import boolean_option, check_option, manifests, release_option, single_manifest
from ._manifest_checks import gated
from ._vm_filters import FilterProblem, Overrides, parts

Manifest = dict[str, Any]
Evaluate = Callable[..., dict[str, Any]]


class PodEnvironment(NamedTuple):
    """Where a VM is to run, as manifests.

    kubevirt: the KubeVirt object, for its configuration. namespace: the VM's. quotas: its ResourceQuotas. networks: the
    NetworkAttachmentDefinitions; None if unknown. migrates_from: the node of a migration; None for a start.
    """

    kubevirt: Manifest | None = None
    namespace: Manifest | None = None
    quotas: Sequence[Manifest] = ()
    networks: Sequence[Manifest] | None = None
    migrates_from: Manifest | None = None


class _Launch(NamedTuple):
    """What determines the pod of a VM."""

    metadata: Manifest
    spec: Manifest
    kubevirt: KubeVirt
    environment: Environment


def resources(
    vm: Manifest, overrides: Overrides, objects: list[Manifest], release: Release = NEWEST, **options: Any
) -> dict[str, Any]:
    """{guest, pod}: the resources of guest and pod; see resources.resources. options: see PodEnvironment."""
    environment = PodEnvironment(**options)
    source = labels_of(environment.migrates_from) if environment.migrates_from is not None else None
    launch = _launch(vm, overrides, objects, release, environment)
    return _render(resource.resources, launch, source, environment)  # type: ignore[no-any-return]


def evaluate_vms(
    name: str,
    evaluate: Evaluate,
    vms: Any,
    cluster: Any,
    of_running: str,
    *,
    kubevirt: Any,
    kubevirt_version: Any,
    objects: Any,
    accept_unknown_fields: Any,
) -> dict[str, Any]:
    """The result of a filter for a list of VMs. Raises AnsibleFilterError.

    name: of the filter. evaluate: placement or check_quotas, with the objects that it takes. The rest are options of
    the filter: the release is that of `kubevirt`, a KubeVirt object, unless `kubevirt_version` names another; objects
    are instancetypes, preferences and revisions.
    """
    kubevirt_object = check_option(name, "kubevirt", kubevirt, single_manifest) if kubevirt is not None else None
    known_objects = manifests(name, "objects", objects)
    accept = boolean_option("accept_unknown_fields", name, accept_unknown_fields)
    release = release_option(name, kubevirt_version or version_of(kubevirt_object or {}) or None)
    try:
        gated_vms = [gated(vm, accept) for vm in manifests(name, "VirtualMachines", vms)]
        cluster_kubevirt = _kubevirt(kubevirt_object, release)
        try:
            return evaluate(gated_vms, Objects(known_objects), cluster_kubevirt, cluster, of_running)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _of_configuration(error, kubevirt_object) from None
    except (FieldError, FilterProblem) as error:
        raise AnsibleFilterError(f"{name}: {' '.join(str(error).split())}") from error


def _launch(
    vm: Manifest, overrides: Overrides, objects: list[Manifest], release: Release, environment: PodEnvironment
) -> _Launch:
    kubevirt = _kubevirt(environment.kubevirt, release)
    instancetype, preference, template = parts(vm, overrides, objects, release)
    problem = expansion.fill_new(template, instancetype, preference, kubevirt.configuration, release)
    if problem is not None:
        raise FilterProblem(problem.message)
    own = metadata_of(vm)
    metadata = {
        **template["metadata"],
        **{part: own[part] for part in ("name", "namespace") if own.get(part)},
    }
    pod_environment = resource.environment_of(
        kubevirt, labels_of(environment.namespace), hard_of(environment.quotas), network_resources(environment.networks)
    )
    return _Launch(metadata, template["spec"], kubevirt, pod_environment)


def _render(render: Any, launch: _Launch, source: Mapping[str, str] | None, environment: PodEnvironment) -> Any:
    try:
        return render(*launch, source)
    except Unrenderable as error:
        raise FilterProblem(f"KubeVirt cannot create a pod for the VM: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _of_configuration(error, environment.kubevirt) from None


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
