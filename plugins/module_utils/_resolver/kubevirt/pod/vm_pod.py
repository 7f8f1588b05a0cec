"""The pod of a VM, from its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...api import release_schema
from ...api.errors import FieldError
from ...api.matcher import INSTANCETYPE, ROLES, set_kinds
from ...api.tree import copy
from ..find import find
from ..find.lookup import Lookup
from ..vmi import expand
from ..vmi.cluster import KubeVirt
from .environment import Environment
from .manifests import Manifest, metadata_of, name_of
from .pod import Pod, Unrenderable
from .resources import launch

# What to do with running VMs.
KEEP, RESTART, MIGRATE = "keep", "restart", "migrate"


class NoPod(ValueError):
    """The VM has no pod; one line says why."""


class RenderedVM(NamedTuple):
    """The spec of a VM's VMI as stored, and the VMI's pod."""

    spec: Manifest
    pod: Pod


def render_vm(
    vm: Manifest,
    lookup: Lookup,
    kubevirt: KubeVirt,
    env: Environment,
    uid: str = "",
    source: Mapping[str, str] | None = None,
) -> RenderedVM:
    """The VMI and the pod of a VM that starts or migrates.

    lookup: instancetypes, preferences and revisions. uid: of the running VMI, if any. source: the labels of the node
    from which it migrates. Raises NoPod, FieldError.
    """
    release = kubevirt.release
    if not isinstance(vm.get("spec"), dict):
        raise FieldError("spec", "is missing; a VirtualMachine's manifest is needed")
    vm = copy(vm)
    if release.sets_matcher_kind:
        set_kinds(vm)
    specs = []
    for role in ROLES:
        matcher = role.matcher_of(vm) or {}
        if matcher.get("inferFromVolume") and not matcher.get("name"):
            raise NoPod(f"its {role.matcher} is to be inferred from the volume {matcher['inferFromVolume']}")
        effective = find.spec(vm, role, lookup, release)
        if effective.error is not None:
            raise NoPod(effective.error.message)
        specs.append(effective.spec)
    template = release_schema.canonical("VirtualMachineInstanceTemplateSpec", vm["spec"].get("template"), release)
    return _render(metadata_of(vm), template, specs[0], specs[1], kubevirt, env, uid, source)


def sample_pod(instancetype: Manifest, kubevirt: KubeVirt, env: Environment) -> Pod:
    """The pod of a VM that has only an instancetype. Raises NoPod, FieldError."""
    release = kubevirt.release
    template = release_schema.canonical(
        "VirtualMachineInstanceTemplateSpec", {"spec": {"domain": {"devices": {}}}}, release
    )
    spec = release_schema.canonical(INSTANCETYPE.spec_type, instancetype.get("spec", instancetype), release)
    return _render({"name": name_of(instancetype)}, template, spec, None, kubevirt, env).pod


def _render(
    vm_metadata: Manifest,
    template: Manifest,
    instancetype: Manifest | None,
    preference: Manifest | None,
    kubevirt: KubeVirt,
    env: Environment,
    uid: str = "",
    source: Mapping[str, str] | None = None,
) -> RenderedVM:
    problem = expand.fill_new(template, instancetype, preference, kubevirt.configuration, kubevirt.release)
    if problem is not None:
        raise NoPod(problem.message)
    name, namespace = str(vm_metadata.get("name") or ""), str(vm_metadata.get("namespace") or "")
    metadata = {**template["metadata"], "name": name, "namespace": namespace, "uid": uid}
    try:
        return RenderedVM(*launch(metadata, template["spec"], kubevirt, env, source))
    except Unrenderable as error:
        raise NoPod(f"KubeVirt cannot create a pod for the VM: {error}") from None
