"""Networks, firmware and TPM of a VM from options."""

from __future__ import annotations

from typing import Any

from ...api.errors import FieldError
from ...api.names import shown

Options = dict[str, Any]
Part = dict[str, Any]


def networks(entries: list[Options]) -> tuple[list[Part], list[Part]]:
    """The networks of a VM and their interfaces, in the given order. Raises FieldError."""
    found: list[Part] = []
    interfaces: list[Part] = []
    for index, entry in enumerate(entries):
        name = entry.get("name") or "default"
        if any(network["name"] == name for network in found):
            raise FieldError(f"networks[{index}].name", f"another network is already named {shown(name)}")
        multus = entry.get("multus")
        found.append({"name": name, **({"multus": {"networkName": multus}} if multus else {"pod": {}})})
        interfaces.append(_interface(name, entry))
    return found, interfaces


def _interface(name: str, entry: Options) -> Part:
    interface: Part = {"name": name}
    if entry.get("binding_plugin"):
        interface["binding"] = {"name": entry["binding_plugin"]}
    else:
        # masquerade is the usual binding of the pod network: the VM is reached by its pod's address.
        interface[entry.get("binding") or ("bridge" if entry.get("multus") else "masquerade")] = {}
    for option, field in (("model", "model"), ("mac_address", "macAddress"), ("boot_order", "bootOrder")):
        if entry.get(option) is not None:
            interface[field] = entry[option]
    if entry.get("ports"):
        interface["ports"] = [
            {field: port[field] for field in ("name", "port", "protocol") if port.get(field) is not None}
            for port in entry["ports"]
        ]
    return interface


def efi(options: Options) -> Part:
    """The EFI fields of a domain. Secure boot, the default, needs system management mode."""
    fields = (("secure_boot", "secureBoot"), ("persistent", "persistent"))
    loader = {field: options[name] for name, field in fields if options.get(name) is not None}
    domain: Part = {"firmware": {"bootloader": {"efi": loader}}}
    if options.get("secure_boot") is not False:
        domain["features"] = {"smm": {"enabled": True}}
    return domain


def tpm(options: Options) -> Part:
    """The TPM device. Its state lasts as long as the VMI; with `persistent`, as long as the VM."""
    return {"persistent": options["persistent"]} if options.get("persistent") is not None else {}
