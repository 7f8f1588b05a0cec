"""The launcher pod of a VMI (``renderLaunchManifest``): its requests, its scheduling, and all its containers.

The containers besides the guest's are for container disks, console log, shared filesystems and hooks. `createTargetPod`
of KubeVirt makes the target pod of a migration.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..._resolver.api.manifest import Manifest
from ..._resolver.api.quantity import Quantity, parse
from ..._resolver.kubevirt.admission import launcher_pod
from ..._resolver.kubevirt.vm.vmi import Spec, is_guaranteed, kernel_boot
from . import amounts, behaviour, scheduling
from .amounts import ZERO, Amounts, Container
from .compute import compute
from .environment import Environment, Unrenderable
from .overhead import overhead
from .scheduling import away_from, labels, node_selector

_HOOKS: Final = "hooks.kubevirt.io/hookSidecars"
_DISK_STORAGE: Final = {"ephemeral-storage": parse("50M")}


class _Type(NamedTuple):
    """The requests and limits of a type of container (as in supportContainerResources), by resource name.

    guaranteed: the limits in a guaranteed pod, if they are others.
    """

    name: str
    requests: Mapping[str, str]
    limits: Mapping[str, str]
    guaranteed: Mapping[str, str] | None = None


_DISK: Final = _Type("container-disk", {"cpu": "1m", "memory": "1M"}, {"cpu": "10m", "memory": "40M"})
_DISK_BINARY: Final = _Type(
    "container-disk", {"cpu": "10m", "memory": "1M"}, {"cpu": "100m", "memory": "40M"}, {"cpu": "10m", "memory": "40M"}
)
_CONSOLE_LOG: Final = _Type("guest-console-log", {"cpu": "5m", "memory": "35M"}, {"cpu": "15m", "memory": "60M"})
_FILESYSTEM: Final = _Type("virtiofs", {"cpu": "10m", "memory": "1M"}, {"cpu": "100m", "memory": "80M"})
_HOOK: Final = _Type("sidecar", {}, {}, {"cpu": "200m", "memory": "64M"})


def _container(
    name: str, kind: _Type, spec: Spec, env: Environment, init: bool = False, restarts: bool = False
) -> Container:
    """A container of a type."""
    guaranteed = is_guaranteed(spec)
    default_limits = kind.guaranteed if guaranteed and kind.guaranteed is not None else kind.limits
    requests = _amounts(kind.name, "requests", kind.requests, env)
    limits = _amounts(kind.name, "limits", default_limits, env)
    return Container(name, {**requests, **limits} if guaranteed else requests, limits, (), init, restarts)


def _amounts(kind: str, field: str, defaults: Mapping[str, str], env: Environment) -> Amounts:
    """The cluster's settings for a type of container, else KubeVirt's defaults. field: requests or limits."""
    result = amounts.read_amounts(defaults)
    # The first setting for the type counts.
    for setting in reversed(env.configuration.get("supportContainerResources") or ()):
        if setting.get("type") == kind:
            configured = amounts.read_amounts((setting.get("resources") or {}).get(field))
            for name in ("cpu", "memory"):
                if configured.get(name, ZERO).nanos:
                    result[name] = configured[name]
    return result


def console_log(spec: Spec, env: Environment) -> Iterator[Container]:
    """The container that copies the serial console into a log."""
    devices = spec["domain"]["devices"]
    disabled = "disableSerialConsoleLog" in (env.configuration.get("virtualMachineOptions") or {})
    if devices.get("autoattachSerialConsole", True) and devices.get("logSerialConsole", not disabled):
        sidecar = env.release.has(behaviour.CONSOLE_LOG_IS_SIDECAR)
        yield _container("guest-console-log", _CONSOLE_LOG, spec, env, init=sidecar, restarts=sidecar)


def disks(spec: Spec, env: Environment, migrated: bool) -> Iterator[Container]:
    """The containers of container disks, the kernel's last, and the init containers that fetch their images.

    migrated: a migration target does not fetch images with a known digest.
    """
    images = list(_images(spec))
    if env.kubevirt.has_gate("ImageVolume"):
        # Images are mounted as volumes. The kernel's container has the name of a volume too.
        named = dict(images) if migrated else {}
        for name, _image in images:
            if "@sha256:" not in named.get(name, ""):
                yield _disk(name, spec, env, init=True)
        return
    for name, _image in images:
        yield _disk(name, spec, env)
    if images:
        yield _container("container-disk-binary", _DISK_BINARY, spec, env, init=True)
    for name, _image in images:
        yield _disk(f"{name}-init", spec, env, init=True)


def _images(spec: Spec) -> Iterator[tuple[str, str]]:
    for volume in spec.get("volumes", ()):
        if "containerDisk" in volume:
            yield volume["name"], volume["containerDisk"]["image"]
    kernel = kernel_boot(spec)
    if kernel is not None:
        yield "kernel-boot-volume", kernel.get("image", "")


def _disk(name: str, spec: Spec, env: Environment, init: bool = False) -> Container:
    container = _container(f"volume{name}", _DISK, spec, env, init=init)
    return container._replace(requests={**container.requests, **_DISK_STORAGE})


def filesystems(spec: Spec, env: Environment) -> Iterator[Container]:
    """The containers that share filesystems with the guest."""
    shared = {filesystem["name"] for filesystem in spec["domain"]["devices"].get("filesystems", ())}
    for volume in spec.get("volumes", ()):
        if volume["name"] in shared and "containerPath" not in volume:
            yield _container(f"virtiofs-{volume['name']}", _FILESYSTEM, spec, env)


def hooks(metadata: Mapping[str, Any], spec: Spec, env: Environment) -> Iterator[Container]:
    """The containers of hook sidecars and network binding plugins. Raises Unrenderable."""
    for index in range(_hook_count(metadata) + _binding_sidecars(spec, env)):
        yield _container(f"hook-sidecar-{index}", _HOOK, spec, env)


def _hook_count(metadata: Mapping[str, Any]) -> int:
    text = (metadata.get("annotations") or {}).get(_HOOKS)
    if text is None:
        return 0
    try:
        listed = json.loads(text)
    except ValueError as error:
        raise Unrenderable(f"the annotation {_HOOKS} is no JSON: {error}") from None
    if listed is not None and not isinstance(listed, list):
        raise Unrenderable(f"the annotation {_HOOKS} is no list")
    return len(listed or ())


def _binding_sidecars(spec: Spec, env: Environment) -> int:
    interfaces = spec["domain"]["devices"].get("interfaces", ())
    names = {interface["binding"]["name"] for interface in interfaces if "binding" in interface}
    for name in sorted(names):
        if name not in env.binding_plugins:
            raise Unrenderable(f"couldn't find configuration for network binding: {name}")
    return sum(bool((env.binding_plugins[name] or {}).get("sidecarImage")) for name in names)


class Pod(NamedTuple):
    """A launcher pod.

    labels: the labels of the pod. containers: the containers in the pod's order, then the init containers. overhead:
    the first container's memory beyond the guest's. node_selector, affinity, tolerations, spread, claims, scheduler,
    priority_class, runtime_class: fields of a pod's spec, empty without one.
    """

    labels: dict[str, str]
    containers: tuple[Container, ...]
    overhead: Quantity
    node_selector: dict[str, str]
    affinity: Manifest
    tolerations: list[Manifest]
    spread: list[Manifest]
    claims: list[Manifest]
    scheduler: str
    priority_class: str
    runtime_class: str

    @property
    def requests(self) -> Amounts:
        """The requests of the whole pod, as scheduler and quota count them."""
        return amounts.requests(self.containers)

    @property
    def limits(self) -> Amounts:
        return amounts.limits(self.containers)

    @property
    def qos_class(self) -> str:
        return amounts.qos_class(self.containers)


class MigrationSource(NamedTuple):
    """Where a migrating guest runs.

    labels: the labels of its node. selector: the node selector of its pod; None: a new pod's.
    """

    labels: Mapping[str, str]
    selector: Mapping[str, str] | None = None


def pod(
    metadata: Manifest, spec: Spec, env: Environment, status: Mapping[str, Any], source: MigrationSource | None = None
) -> Pod:
    """The pod of a VMI as stored, from its canonical spec, metadata and known status.

    source: the pod is the target of a migration from there. Raises Unrenderable.
    """
    problems = [
        f"the volume {volume['name']}: Sysprep must have Secret or ConfigMap reference set"
        for volume in spec.get("volumes", ())
        if "sysprep" in volume and not volume["sysprep"].keys() & {"secret", "configMap"}
    ]
    problems += [cause.message for cause in launcher_pod.not_permitted(spec, "spec", env.kubevirt)]
    if problems:
        raise Unrenderable(" ".join(problems))
    extra = overhead(spec, env)
    containers = [
        compute(metadata, spec, env, extra),
        *disks(spec, env, source is not None),
        *filesystems(spec, env),
        *console_log(spec, env),
        *hooks(metadata, spec, env),
    ]
    rendered = Pod(
        labels=labels(metadata, spec, env),
        containers=tuple(sorted(containers, key=lambda container: (container.init, not container.restarts))),
        overhead=extra,
        node_selector=node_selector(spec, status, env),
        affinity=scheduling.affinity(spec, env),
        tolerations=spec.get("tolerations", []),
        spread=spec.get("topologySpreadConstraints", []),
        claims=spec.get("resourceClaims", []),
        scheduler=spec.get("schedulerName", ""),
        priority_class=spec.get("priorityClassName", ""),
        runtime_class=env.configuration.get("defaultRuntimeClass") or "",
    )
    return rendered if source is None else _migrated(rendered, metadata, spec, env, source)


_FEATURE: Final = "cpu-feature.node.kubevirt.io/"
_MODEL: Final = "cpu-model-migration.node.kubevirt.io/"
_VENDOR: Final = "cpu-vendor.node.kubevirt.io/"
_HOST_MODEL: Final = "host-model-cpu.node.kubevirt.io/"
_HOST_FEATURE: Final = "host-model-required-features.node.kubevirt.io/"


def _migrated(rendered: Pod, metadata: Manifest, spec: Spec, env: Environment, source: MigrationSource) -> Pod:
    """The target pod of a running VMI's migration, from a new pod. Raises Unrenderable."""
    host_model = (spec["domain"].get("cpu") or {}).get("model") == "host-model"
    present = rendered.node_selector if source.selector is None else source.selector
    if host_model and env.release.has(behaviour.NEEDS_HOST_MODEL) and not _host_model(present, source.labels):
        raise Unrenderable(f"the node has no label {_HOST_MODEL}MODEL with its CPU model")
    selector = with_source_cpu(
        rendered.node_selector, source.labels, present if host_model else None, env.release.has(behaviour.VENDOR_LABEL)
    )
    return rendered._replace(node_selector=selector, affinity=away_from(rendered.affinity, metadata.get("uid", "")))


def with_source_cpu(
    selector: Mapping[str, str], labels: Mapping[str, str], present: Mapping[str, str] | None, vendor: bool = True
) -> dict[str, str]:
    """A node selector that also requires a CPU like the source's.

    labels: the labels of the source's node. present: the node selector of the source's pod, if its guest has the CPU
    model of its host; else None. vendor: require CPUs of one vendor.
    """
    result = {**selector, **(_host_model(present, labels) if present is not None else {})}
    vendors = [label for label in labels if label.startswith(_VENDOR)]
    if vendor and vendors and not any(label.startswith(_VENDOR) for label in result):
        result[vendors[0]] = "true"
    return result


def _host_model(present: Mapping[str, str], labels: Mapping[str, str]) -> dict[str, str]:
    """The labels of nodes with the CPU of the source, or of the first source after several migrations.

    {} if the source has no model: newer releases then let the guest migrate to any node.
    """
    inherited = {label: value for label, value in present.items() if _FEATURE in label or _MODEL in label}
    models = [label for label in labels if label.startswith(_HOST_MODEL)]
    if inherited or not models:
        return inherited
    features = {
        _FEATURE + label.removeprefix(_HOST_FEATURE): value
        for label, value in labels.items()
        if label.startswith(_HOST_FEATURE)
    }
    return {**features, _MODEL + models[-1].removeprefix(_HOST_MODEL): labels[models[-1]]}
