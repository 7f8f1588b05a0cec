"""The manifest of a VM from the options of the module virtual_machine.

The options cover `virtctl create vm` and yield the same manifests (tests/virtctl compares them), except for the random
names of virtctl, which are constant here.
"""

from __future__ import annotations

from typing import Any, Final

from ...api.errors import FieldError
from ...api.manifest import Manifest, Options
from ...api.matcher import MATCHER_FIELDS
from ...api.name_rules import quoted
from ...api.tree import copy, merge
from ...api.type_remedies import type_remedy
from ..argument_spec import to_manifest
from ..option_rows import Table, set_fields, unmet_needs
from ..validation import canonical_quantity, check_name, validated
from . import cloud_init, inference
from .options import PLAIN, VM
from .volumes import BOOT_VOLUME, SYSPREP_DISK, Disks, Import, boot_volume, lacks_labels, sysprep_source

Part = dict[str, Any]


def _networks(entries: list[Options]) -> tuple[list[Part], list[Part]]:
    """The networks of a VM and their interfaces, in the given order. Raises FieldError."""
    result: list[Part] = []
    interfaces: list[Part] = []
    for index, entry in enumerate(entries):
        name = entry.get("name") or "default"
        if any(network["name"] == name for network in result):
            raise FieldError(f"networks[{index}].name", f"another network is already named {quoted(name)}")
        multus = entry.get("multus")
        result.append({"name": name, **({"multus": {"networkName": multus}} if multus else {"pod": {}})})
        interfaces.append(_interface(name, entry))
    return result, interfaces


def _interface(name: str, entry: Options) -> Part:
    # The option `binding` names a field of the API; the field of that name is a plugin.
    interface: Part = to_manifest("Interface", {**entry, "name": name, "binding": None})
    if entry.get("binding_plugin"):
        interface["binding"] = {"name": entry["binding_plugin"]}
    else:
        # masquerade is the usual binding of the pod network: the VM is reached by its pod's address.
        interface[entry.get("binding") or ("bridge" if entry.get("multus") else "masquerade")] = {}
    return interface


_GUEST_AGENT: Final = "ga"
# Methods that need a cloud-init volume → its type.
_BY_CLOUD_INIT: Final = {"nocloud": "noCloud", "configdrive": "configDrive"}


def _build_credentials(credentials: list[Options], cloud_init: Options | None) -> tuple[list[Part], Options | None]:
    """The credentials as the API has them, and the options of `cloud_init` with what they require.

    Keys through the guest agent need permission to write them; keys through cloud-init need a volume of the right type.
    Raises FieldError for an invalid credential.
    """
    effective = copy(cloud_init) if cloud_init is not None else None
    built = []
    for index, credential in enumerate(credentials):
        path = f"access_credentials[{index}]"
        if not credential.get("secret"):
            raise FieldError(f"{path}.secret", "required; set it to the name of the Secret with the keys or passwords")
        if credential.get("type") == "password":
            built.append(_password(path, credential))
        else:
            part, effective = _ssh(path, credential, effective)
            built.append(part)
    return built, effective


def _password(path: str, credential: Options) -> Part:
    method = credential.get("method") or _GUEST_AGENT
    if method != _GUEST_AGENT:
        raise FieldError(f"{path}.method", f"{method} does not work with passwords; use ga")
    _no_users(path, credential)
    return _credential("userPassword", credential, {"qemuGuestAgent": {}})


def _ssh(path: str, credential: Options, cloud_init: Options | None) -> tuple[Part, Options | None]:
    method = credential.get("method") or _GUEST_AGENT
    effective = dict(cloud_init or {})
    if method == _GUEST_AGENT:
        users = credential.get("users") or [user for user in (effective.get("user"),) if user]
        if not users:
            raise FieldError(f"{path}.users", "required; set users, or cloud_init.user, to the owners of the keys")
        if effective.get("manage_ssh") is None:
            effective["manage_ssh"] = True
        return _credential("sshPublicKey", credential, {"qemuGuestAgent": {"users": users}}), effective
    _no_users(path, credential)
    if effective.get("type") is None:
        effective["type"] = method
    elif effective["type"] != method:
        raise FieldError(
            f"{path}.method", f"is {method}, but cloud_init.type is {effective['type']}; set both to the same type"
        )
    return _credential("sshPublicKey", credential, {_BY_CLOUD_INIT[method]: {}}), effective


def _no_users(path: str, credential: Options) -> None:
    if any(credential.get("users") or []):
        raise FieldError(f"{path}.users", "only valid for SSH keys with the method ga; remove users")


def _credential(field: str, credential: Options, method: Part) -> Part:
    return {field: {"source": {"secret": {"secretName": credential["secret"]}}, "propagationMethod": method}}


DEFAULT_MEMORY: Final = "512Mi"


def manifest(options: Options, table: Table = VM) -> Manifest:
    """The manifest of the options, as `validation.validated` returns it.

    It contains a run strategy and memory only if given; `virtual_machine.with_live_values` adds the defaults of a new
    VM.
    options: None if not given. table: all options of a VM, also of capabilities. `spec` and `template` hold
    fields without an option and are merged with the others.
    A VM to be deleted is only named, whatever else the options say.
    Raises FieldError for an invalid VM; the checks have virtctl's order.
    """
    check_name(options)
    if options.get("state") == "absent":
        options = {name: options.get(name) for name in ("name", "namespace")}
    for option, problem in unmet_needs(table, options):
        raise FieldError(option, problem)
    check_exclusive(options)
    spec: Manifest = {"template": {"spec": _vmi_spec(options)}}
    set_fields(PLAIN, options, {"spec": spec})
    _add_volumes(options, spec)
    try:
        merge(spec["template"], options.get("template") or {}, "template")
        merge(spec, options.get("spec") or {}, "spec")
    except FieldError as error:
        raise FieldError(error.path, error.reason + type_remedy(error.reason)) from error
    try:
        matchers = {field.name: inference.matcher(field, options, spec, table.inferring) for field in MATCHER_FIELDS}
    except (AttributeError, TypeError):
        # A part of `template` or `spec` is of another type than the API's, which the check names.
        matchers = {}
    merge(spec, {name: matcher for name, matcher in matchers.items() if matcher is not None}, "spec")
    metadata = {field: options[field] for field in ("name", "namespace", "labels", "annotations") if options.get(field)}
    result = validated("VirtualMachine", {"metadata": metadata, "spec": spec}, options)
    return {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", **result}


def check_exclusive(options: Options) -> None:
    """Raises FieldError for options that exclude each other."""
    instancetype = options.get("instancetype")
    if options.get("memory") is not None and instancetype is not None and instancetype.get("infer") != inference.AUTO:
        raise FieldError("memory", "cannot be combined with instancetype, which sets the memory; remove one of them")


def warnings(options: Options, table: Table = VM) -> list[str]:
    """Warnings about valid options. table: see `manifest`. Raises FieldError like `manifest`."""
    _credentials, effective = _credentials_and_cloud_init(options)
    result = cloud_init.warnings(effective)
    disk = options.get("boot")
    sized = any(options.get(name) is not None for name in ("instancetype", "memory", "cpu"))
    if not disk or not lacks_labels(disk) or sized:
        return result
    disks = _disks(options)
    spec = {"template": {"spec": {"volumes": disks.volumes}}, "dataVolumeTemplates": disks.data_volume_templates}
    if not inference.infers_otherwise(options, spec, BOOT_VOLUME, table.inferring):
        others = inference.options_for(spec, BOOT_VOLUME, table.inferring)
        result.append(
            f"boot: KubeVirt cannot infer an instancetype from this disk, so a new VM has {DEFAULT_MEMORY} of"
            f" memory; set instancetype and preference{''.join(f', or {option}' for option in others)}"
        )
    return result


def _vmi_spec(options: Options) -> Manifest:
    # The API requires `devices` even if it is empty.
    domain: Manifest = {"devices": {}}
    spec: Manifest = {"domain": domain}
    if options.get("memory") is not None:
        domain["memory"] = {"guest": canonical_quantity("memory", options["memory"])}
    if options.get("networks"):
        spec["networks"], domain["devices"]["interfaces"] = _networks(options["networks"])
    efi = options.get("efi")
    if efi is not None and efi.get("secure_boot") is not False:
        # Secure boot, the default, needs system management mode.
        domain["features"] = {"smm": {"enabled": True}}
    return spec


def import_options(options: Options) -> dict[str, Import]:
    """The claims that a VM imports, with the options that declare them. options: valid ones."""
    return _disks(options).imports


def _disks(options: Options) -> Disks:
    """The disks of the options `boot` and `volumes`. Raises FieldError."""
    disks = Disks(options["name"])
    if options.get("boot"):
        disks.add("boot", boot_volume(options["boot"]))
    for index, entry in enumerate(options.get("volumes") or []):
        disks.add(f"volumes[{index}]", entry)
    return disks


def _add_volumes(options: Options, spec: Manifest) -> None:
    disks = _disks(options)
    if options.get("sysprep") is not None:
        disks.add_named("sysprep", SYSPREP_DISK, sysprep_source("sysprep", options["sysprep"]))
    credentials, effective = _credentials_and_cloud_init(options)
    if effective is not None:
        disks.check_free("cloud_init", cloud_init.DISK)
        source = cloud_init.volume(effective)
        if source is not None:
            disks.add_named("cloud_init", cloud_init.DISK, source)
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
    declared = options.get("cloud_init")
    credentials, effective = _build_credentials(options.get("access_credentials") or [], declared)
    # The user's own cloud-init volume is left alone.
    has_own_volume = declared is None and any(
        entry.get("cloud_init") is not None for entry in options.get("volumes") or []
    )
    return credentials, None if has_own_volume else effective
