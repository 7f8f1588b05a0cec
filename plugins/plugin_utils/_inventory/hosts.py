"""The VMs of a cluster as hosts of Ansible's inventory: their names, variables and addresses."""

from __future__ import annotations

import re
import string
from typing import Any, Final
from urllib.parse import urlsplit

from ansible.errors import AnsibleParserError

from ...module_utils._cluster.client.session import Session
from ...module_utils._cluster.modules.vm_results import VMFacts, vm_result
from ...module_utils._cluster.reads.kubevirt import kubevirt
from ...module_utils._cluster.reads.lookup import ClusterLookup
from ...module_utils._resolver.api.kinds import KINDS
from ...module_utils._resolver.api.manifest import OS_ANNOTATION, Manifest, namespaced_name
from ...module_utils._resolver.api.matcher import PREFERENCE
from ...module_utils._resolver.api.tree import value_at
from ...module_utils._resolver.change import drift
from ...module_utils._resolver.guest.effect import UNREAD_VMI
from ...module_utils._resolver.guest.local_guest import local_guest
from ...module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from ...module_utils._resolver.kubevirt.instancetype.lookup import get_readable
from ...module_utils._resolver.kubevirt.vm.readiness import RUNNING
from ...module_utils._resolver.secrets.secret_texts import LAST_APPLIED
from .address import Endpoint, interface_address, is_loopback, service_endpoint, services_by_vmi

Options = dict[str, Any]

HOST_FIELDS: Final = ("name", "namespace", "uid")

# Without a prefix, variables such as `name` would clash with Ansible's own.
_PREFIX: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

_VM = KINDS["VirtualMachine"]
_VMI = KINDS["VirtualMachineInstance"]
# The id that QEMU's guest agent reports.
_WINDOWS_OF_AGENT: Final = "mswindows"
# A kind that the user may not list → what hosts then lack.
_MISSING_WITHOUT = {
    "VirtualMachineInstance": "hosts have no address and no instance",
    "Service": "hosts have no address",
    "Node": "hosts have the names of nodes as addresses",
    "ControllerRevision": "the captured revisions of hosts are unknown",
}


def hosts(
    session: Session, options: Options, facts: VMFacts | None = None
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """(host name → variables, ordered by namespace and name of the VMs; what could not be read, one line each).

    One LIST of each kind for all namespaces if permitted, else one for each namespace.
    options: the checked options of the inventory plugin. facts: adds what a capability knows of a VM.
    Raises AnsibleParserError if two VMs would be the same host, RequestFailed if VMs cannot be listed.
    """
    vms = _virtual_machines(session, options)
    if not vms:
        return {}, []
    lookup = ClusterLookup(session, all_namespaces=options["namespaces"] is None, strict=True)
    cluster = kubevirt(session)
    namespaces = dict.fromkeys(vm["metadata"]["namespace"] for vm in vms)
    lookup.gather_lists(("ControllerRevision", place) for place in namespaces)
    results = [_host_facts(vm, lookup, cluster, facts) for vm in vms]
    names = host_names(results, options["host_format"])
    found: dict[str, dict[str, Any]] = {}
    services: dict[str, dict[str, list[Manifest]]] = {}
    is_local = is_loopback(urlsplit(session.host).hostname or "")
    for name, vm, result in zip(names, vms, results):
        endpoint = _endpoint(vm, lookup, options, services, is_local)
        connection = {"ansible_host": endpoint.host, "ansible_port": endpoint.port} if endpoint is not None else {}
        found[name] = {
            **{f"{options['hostvars_prefix']}{fact}": value for fact, value in result.items()},
            **{variable: value for variable, value in connection.items() if value is not None},
            **_windows_variables(vm, result, options["windows_connection"]),
        }
    warnings = [
        f"{_MISSING_WITHOUT.get(kind, f'the state of a {kind} is unknown')}: {problem.message}"
        for kind, problem in lookup.problems.items()
    ]
    return found, warnings + ([cluster.assumption] if cluster.assumption else [])


def _windows_variables(vm: Manifest, facts: dict[str, Any], connection: str | None) -> dict[str, str]:
    """The variables of the connection to a guest with Windows; {} for another guest, or without the option."""
    if connection is None or not is_windows(vm, facts):
        return {}
    shell = {"ansible_shell_type": "powershell"} if connection == "ssh" else {}
    return {"ansible_connection": connection, **shell}


def is_windows(vm: Manifest, facts: dict[str, Any]) -> bool:
    """Whether a guest has Windows: the guest agent knows, else the annotation of the system, else the preference."""
    reported = str(((facts.get("vmi") or {}).get("guest_os") or {}).get("id") or "")
    if reported:
        return reported == _WINDOWS_OF_AGENT
    named = value_at(vm, ("spec", "template", "metadata", "annotations", OS_ANNOTATION))
    return str(named or PREFERENCE.matcher_or_empty(vm).get("name") or "").lower().startswith("win")


def _virtual_machines(session: Session, options: Options) -> list[Manifest]:
    selector = ",".join(options["label_selectors"])
    parameters = {"labelSelector": selector} if selector else {}
    vms: list[Manifest] = []
    for namespace in [None] if options["namespaces"] is None else dict.fromkeys(options["namespaces"]):
        vms += session.list(_VM, namespace, **parameters)
    if options["only_running"]:
        vms = [vm for vm in vms if (vm.get("status") or {}).get("printableStatus") in RUNNING]
    return sorted(vms, key=namespaced_name)


def _host_facts(vm: Manifest, lookup: ClusterLookup, cluster: KubeVirt, facts: VMFacts | None) -> dict[str, Any]:
    """The result of virtual_machine_info for a VM, with extra fields for grouping hosts."""
    metadata = vm["metadata"]
    vmi = _vmi(vm, lookup)
    unread = lookup.problem(_VMI.kind, metadata["namespace"]) is not None
    inspection = drift.drift(vm, UNREAD_VMI if unread else vmi, Cluster(lookup, cluster))
    annotations = metadata.get("annotations") or {}
    result = {
        **vm_result(inspection, facts),
        "annotations": {key: value for key, value in annotations.items() if key != LAST_APPLIED},
    }
    states = {part.state for part in inspection.parts.values()}
    if drift.UNKNOWN in states and drift.DRIFTED not in states:
        result["drifted"] = None
    return result


def _vmi(vm: Manifest, lookup: ClusterLookup) -> Manifest | None:
    return get_readable(lookup, _VMI.kind, vm["metadata"]["namespace"], vm["metadata"]["name"])


def _endpoint(
    vm: Manifest,
    lookup: ClusterLookup,
    options: Options,
    services: dict[str, dict[str, list[Manifest]]],
    is_local: bool,
) -> Endpoint | None:
    """The address of a VM for connections; None if it has none.

    services: the Services that select a VMI, by its namespace and name; filled on demand. is_local: whether the API
    server runs on this machine, as in a local cluster. No other cluster's Services lead to its ports.
    """
    vmi = _vmi(vm, lookup)
    if vmi is None or options["address"] == "none":
        return None
    if options["address"] == "interface":
        ssh = local_guest(vmi).get("ssh") if is_local and options["interface"] is None else None
        if ssh:
            return Endpoint(ssh["host"], ssh["port"])
        address = interface_address(vmi, options["interface"], options["ip_family"])
        return Endpoint(address) if address is not None else None
    namespace, name = vm["metadata"]["namespace"], vm["metadata"]["name"]
    if namespace not in services:
        services[namespace] = services_by_vmi(lookup.list("Service", namespace), lookup.list(_VMI.kind, namespace))
    return service_endpoint(
        vmi,
        services[namespace].get(name, ()),
        lambda name: get_readable(lookup, "Node", "", name),
        options["service_port"],
        options["ip_family"],
    )


def check_options(pattern: str, prefix: str) -> None:
    """Raises AnsibleParserError for an invalid pattern (see `host_names`), or a prefix that begins no variable."""
    field_list = " and ".join(f"{{{field}}}" for field in HOST_FIELDS)
    try:
        fields = [part for part in string.Formatter().parse(pattern) if part[1] is not None]
    except ValueError as error:
        raise AnsibleParserError(f"host_format: {pattern!r}: {error}; write fields as {field_list}") from None
    for _text, field, spec, conversion in fields:
        if field not in HOST_FIELDS or spec or conversion:
            raise AnsibleParserError(f"host_format: {pattern!r}: unknown field {{{field}}}; choose from {field_list}")
    if not any(field in ("name", "uid") for _text, field, _spec, _conversion in fields):
        raise AnsibleParserError(
            f"host_format: {pattern!r} gives all virtual machines the same host name; add {{name}}"
        )
    if not _PREFIX.fullmatch(prefix):
        raise AnsibleParserError(
            f"hostvars_prefix: {prefix!r} cannot begin the name of a variable; use letters, digits and underscores"
        )


def host_names(vms: list[dict[str, Any]], pattern: str) -> list[str]:
    """The host names of the VMs, in order.

    vms: the VMs with the fields in HOST_FIELDS. pattern: text with these fields in braces, such as
    ``{name}.{namespace}``. Raises AnsibleParserError if two VMs would be the same host.
    """
    owners: dict[str, str] = {}
    for vm in vms:
        name = pattern.format(**{field: vm[field] for field in HOST_FIELDS})
        label = f"{vm['namespace']}/{vm['name']}"
        if owners.setdefault(name, label) != label:
            raise AnsibleParserError(
                f"host_format: {pattern!r} gives {owners[name]} and {label} the same host name, {name};"
                " add {namespace}"
            )
    return list(owners)
