"""The manifest of a VM from the options of the module virtual_machine.

The options cover `virtctl create vm` and yield the same manifests (tests/virtctl compares them), except for the random
names of virtctl, which are constant here.
"""

from __future__ import annotations

from typing import Any, Final

from ...api.errors import FieldError
from ...api.matcher import ROLES
from ...api.tree import merge
from ..amount import amount
from ..gate import check_name, passed
from . import access_credentials, boot, cloud_init, devices, inference
from .volumes import SYSPREP_DISK, Disks, sysprep_source

Options = dict[str, Any]
Manifest = dict[str, Any]

DEFAULT_MEMORY: Final = "512Mi"


def manifest(options: Options, gate: bool = True) -> Manifest:
    """The manifest of the options, as `gate.passed` returns it.

    It contains a run strategy and memory only if given; `virtual_machine.reconcile` adds the defaults for a new VM.
    options: None if not given. `spec` and `template` hold fields without an option and are merged with the others.
    gate: see `gate.passed`. Raises schema.FieldError for an invalid VM; the order of the checks is that of virtctl.
    """
    if gate:
        check_name(options)
    check_exclusive(options)
    spec: Manifest = {"template": {"spec": _vmi_spec(options)}}
    if options.get("run_strategy") is not None:
        spec["runStrategy"] = options["run_strategy"]
    _add_volumes(options, spec)
    merge(spec["template"], options.get("template") or {}, "template")
    merge(spec, options.get("spec") or {}, "spec")
    for role in ROLES:
        found = inference.matcher(role, options, spec)
        if found is not None:
            merge(spec, {role.matcher: found}, "spec")
    metadata = {field: options[field] for field in ("name", "namespace", "labels", "annotations") if options.get(field)}
    result = passed("VirtualMachine", {"metadata": metadata, "spec": spec}, options, gate)
    return {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", **result}


def check_exclusive(options: Options) -> None:
    """Raises FieldError for options that exclude each other."""
    instancetype = options.get("instancetype")
    if options.get("memory") is not None and instancetype is not None and instancetype.get("infer") != inference.AUTO:
        raise FieldError("memory", "cannot be combined with instancetype, which sets the memory; remove one of them")


def warnings(options: Options) -> list[str]:
    """Warnings about valid options. Raises FieldError like `manifest`."""
    _credentials, wanted = _credentials_and_cloud_init(options)
    told = cloud_init.warnings(wanted)
    disk = options.get("boot")
    sized = any(options.get(name) is not None for name in ("instancetype", "memory", "cpu"))
    asks = options.get("infer_from_registry") and disk and boot.has_image(disk)
    if disk and boot.tells_nothing(disk) and not sized and not asks:
        way = ", or infer_from_registry" if boot.has_image(disk) else ""
        told.append(
            f"boot: KubeVirt cannot infer an instancetype from this disk, so a new VM has {DEFAULT_MEMORY} of"
            f" memory; set instancetype and preference{way}"
        )
    return told


def _vmi_spec(options: Options) -> Manifest:
    # The API requires `devices` even if it is empty.
    domain: Manifest = {"devices": {}}
    spec: Manifest = {"domain": domain}
    if options.get("memory") is not None:
        domain["memory"] = {"guest": amount("memory", options["memory"])}
    if options.get("cpu") is not None:
        domain["cpu"] = {field: value for field, value in options["cpu"].items() if value is not None}
    for option, field in (
        ("termination_grace_period", "terminationGracePeriodSeconds"),
        ("node_selector", "nodeSelector"),
        ("tolerations", "tolerations"),
        ("eviction_strategy", "evictionStrategy"),
    ):
        if options.get(option) is not None:
            spec[field] = options[option]
    if options.get("networks"):
        spec["networks"], domain["devices"]["interfaces"] = devices.networks(options["networks"])
    if options.get("efi") is not None:
        domain.update(devices.efi(options["efi"]))
    if options.get("tpm") is not None:
        domain["devices"]["tpm"] = devices.tpm(options["tpm"])
    return spec


def _add_volumes(options: Options, spec: Manifest) -> None:
    disks = Disks(options["name"])
    if options.get("boot"):
        disks.add("boot", boot.volume(options["boot"]))
    for index, entry in enumerate(options.get("volumes") or []):
        disks.add(f"volumes[{index}]", entry)
    if options.get("sysprep") is not None:
        disks.add_named("sysprep", SYSPREP_DISK, sysprep_source("sysprep", options["sysprep"]))
    credentials, wanted = _credentials_and_cloud_init(options)
    if wanted is not None:
        disks.check_free("cloud_init", cloud_init.DISK)
        made = cloud_init.volume(wanted)
        if made is not None:
            disks.add_named("cloud_init", cloud_init.DISK, made)
    vmi = spec["template"]["spec"]
    if disks.volumes:
        vmi["volumes"] = disks.volumes
    if disks.disks:
        vmi["domain"]["devices"]["disks"] = disks.disks
    if credentials:
        vmi["accessCredentials"] = credentials
    templates = disks.data_volume_templates + (options.get("data_volume_templates") or [])
    if templates:
        spec["dataVolumeTemplates"] = templates


def _credentials_and_cloud_init(options: Options) -> tuple[list[Manifest], Options | None]:
    """The credentials, and the effective options of the volume cloudinitdisk; None for no such volume."""
    given = options.get("cloud_init")
    credentials, wanted = access_credentials.build(options.get("access_credentials") or [], given)
    # The user's own cloud-init volume is left alone.
    own = given is None and any(entry.get("cloud_init") is not None for entry in options.get("volumes") or [])
    return credentials, None if own else wanted
