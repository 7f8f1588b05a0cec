"""What the filters answer about the pods of VMs: requests, placement, and whether quotas admit them."""

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
from ._filters import answering, checked, gated, manifests, one_manifest, truth
from ._questions import Given, Unanswerable, parts

Manifest = dict[str, Any]
Ask = Callable[..., dict[str, Any]]


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


def of_vms(
    name: str,
    ask: Ask,
    vms: Any,
    cluster: Any,
    of_running: str,
    *,
    kubevirt: Any,
    kubevirt_version: Any,
    objects: Any,
    accept_unknown_fields: Any,
) -> dict[str, Any]:
    """The answer of a filter to a list of VMs. Raises AnsibleFilterError.

    name: of the filter. ask: placement or check_quotas, with the objects that it takes. The rest are options of
    the filter: the release is that of `kubevirt`, a KubeVirt object, unless `kubevirt_version` names another; objects
    are instancetypes, preferences and revisions.
    """
    found = checked(name, "kubevirt", kubevirt, one_manifest) if kubevirt is not None else None
    known = manifests(name, "objects", objects)
    accept = truth("accept_unknown_fields", name, accept_unknown_fields)
    release = answering(name, kubevirt_version or version_of(found or {}) or None)
    try:
        given = [gated(vm, accept) for vm in manifests(name, "VirtualMachines", vms)]
        there = _kubevirt(found, release)
        try:
            return ask(given, Objects(known), there, cluster, of_running)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _of_configuration(error, found) from None
    except (FieldError, Unanswerable) as error:
        raise AnsibleFilterError(f"{name}: {' '.join(str(error).split())}") from error


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
