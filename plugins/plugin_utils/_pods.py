"""What the filters answer about the pods of VMs: requests, placement, and whether quotas admit them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..module_utils._resolver.api.errors import FieldError
from ..module_utils._resolver.api.release import NEWEST, Release
from ..module_utils._resolver.instancetype.find.lookup import Objects
from ..module_utils._resolver.instancetype.vmi import expand as expansion
from ..module_utils._resolver.instancetype.vmi.cluster import KubeVirt, kubevirt_of
from ..module_utils._resolver.placement import question
from ..module_utils._resolver.placement.question import Cluster
from ..module_utils._resolver.pod import resources as resource
from ..module_utils._resolver.pod.environment import Environment
from ..module_utils._resolver.pod.manifests import hard_of, labels_of, metadata_of, network_resources
from ..module_utils._resolver.pod.of_vm import KEEP, MIGRATE
from ..module_utils._resolver.pod.pod import Unrenderable
from ..module_utils._resolver.quota import question as admission
from ._questions import Given, Unanswerable, parts

Manifest = dict[str, Any]


class Place(NamedTuple):
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
    around: Environment


def resources(
    vm: Manifest, given: Given, objects: list[Manifest], release: Release = NEWEST, **place: Any
) -> dict[str, Any]:
    """{guest, pod}: the resources of guest and pod; see resources.resources. place: as in Place."""
    where = Place(**place)
    source = labels_of(where.migrates_from) if where.migrates_from is not None else None
    launch = _launch(vm, given, objects, release, where)
    return _made(resource.resources, launch, source, where)  # type: ignore[no-any-return]


def placement(
    vms: Sequence[Manifest],
    cluster: Cluster,
    objects: Sequence[Manifest] = (),
    kubevirt: Manifest | None = None,
    release: Release = NEWEST,
    of_running: str = MIGRATE,
) -> dict[str, Any]:
    """The placement of VMs in a cluster; see question.placement. objects: instancetypes, preferences and revisions."""
    known = _kubevirt(kubevirt, release)
    try:
        return question.placement(vms, Objects(list(objects)), known, cluster, of_running)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _of_configuration(error, kubevirt) from None


def quotas(
    vms: Sequence[Manifest],
    cluster: admission.Cluster,
    objects: Sequence[Manifest] = (),
    kubevirt: Manifest | None = None,
    release: Release = NEWEST,
    of_running: str = KEEP,
) -> dict[str, Any]:
    """Whether quotas and limit ranges admit VMs; see question.quotas. objects: those that VMs name."""
    known = _kubevirt(kubevirt, release)
    try:
        return admission.quotas(vms, Objects(list(objects)), known, cluster, of_running)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _of_configuration(error, kubevirt) from None


def _launch(vm: Manifest, given: Given, objects: list[Manifest], release: Release, where: Place) -> _Launch:
    kubevirt = _kubevirt(where.kubevirt, release)
    instancetype, preference, template = parts(vm, given, objects, release)
    problem = expansion.fill_new(template, instancetype, preference, kubevirt.configuration, release)
    if problem is not None:
        raise Unanswerable(problem.message)
    named = metadata_of(vm)
    metadata = {**template["metadata"], **{part: named[part] for part in ("name", "namespace") if named.get(part)}}
    around = resource.around(
        kubevirt, labels_of(where.namespace), hard_of(where.quotas), network_resources(where.networks)
    )
    return _Launch(metadata, template["spec"], kubevirt, around)


def _made(make: Any, launch: _Launch, source: Mapping[str, str] | None, where: Place) -> Any:
    try:
        return make(*launch, source)
    except Unrenderable as error:
        raise Unanswerable(f"KubeVirt cannot create a pod for the VM: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _of_configuration(error, where.kubevirt) from None


def _of_configuration(error: Exception, kubevirt: Manifest | None) -> Exception:
    """Blames the KubeVirt object, if given, for an error, because only its configuration is not checked beforehand."""
    if kubevirt is None or isinstance(error, FieldError):
        return error
    return FieldError("kubevirt", f"its configuration cannot be read: {error}")


def _kubevirt(manifest: Manifest | None, release: Release) -> KubeVirt:
    """The KubeVirt of an object, treated as the given release."""
    if manifest is None:
        return KubeVirt(release)
    found = kubevirt_of({"status": {}, **manifest}, ".".join(map(str, release.version)))
    if found.doubt:
        raise FieldError("kubevirt", found.doubt)
    return found
