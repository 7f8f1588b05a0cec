"""catalog.template_parameters: what becomes of the parameters of a template whose VM gets an instancetype."""

from typing import Any

from plugins.module_utils._conversion.modernize import Modernization
from plugins.module_utils._conversion.template_bundles import ConversionSources, convert
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._templates import process
from plugins.plugin_utils._catalog_files import builtin_objects

CATALOG = builtin_objects(NEWEST)
Manifest = dict[str, Any]

CPUS = {"name": "CPUS", "value": "1"}
MEMORY = {"name": "MEMORY", "value": "2Gi"}
REFERENCES = {"cpu": {"sockets": "${{CPUS}}"}, "memory": {"guest": "${MEMORY}"}}


def converted(
    *parameters: Manifest, domain: Manifest | None = None, spec: Manifest | None = None, catalog: Any = CATALOG
) -> Modernization:
    """A template of a VM with the domain. spec: more of the VMI's spec."""
    inside = {"domain": {"devices": {}, **(domain or REFERENCES)}, **(spec or {})}
    machine = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web"},
        "spec": {"runStrategy": "Halted", "template": {"spec": inside}},
    }
    template = {
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": {"name": "server", "namespace": "shop"},
        "parameters": list(parameters),
        "objects": [machine],
    }
    result = convert(template, ConversionSources((), catalog))
    assert not process.validate(result.manifest).errors
    return result


def parameters(result: Modernization) -> dict[str, str | None]:
    """The default values by name."""
    return {entry["name"]: entry.get("value") for entry in result.manifest["spec"].get("parameters", ())}


def instancetype(result: Modernization, **values: str) -> str:
    """The instancetype of the VM that the new template makes."""
    processed = process.process(result.manifest, values, "")
    assert processed.vm is not None, processed.errors
    name: str = processed.vm["spec"]["instancetype"]["name"]
    return name


def notes(result: Modernization) -> dict[str, str]:
    return {entry.path: entry.note for entry in result.remaining}


def test_instancetype_replaces_the_parameters_of_the_size() -> None:
    later = {"name": "LATER", "value": "x"}
    result = converted(CPUS, MEMORY, later)
    assert parameters(result) == {"INSTANCETYPE": "u1.small", "LATER": "x"}
    assert (instancetype(result), instancetype(result, INSTANCETYPE="u1.large")) == ("u1.small", "u1.large")
    replaced = {change.path: (change.new_path, change.after) for change in result.changes if "[" in change.path}
    successor = "spec.parameters[INSTANCETYPE]", "u1.small"
    assert replaced == {"spec.parameters[CPUS]": successor, "spec.parameters[MEMORY]": successor}
    assert result.remaining == []
    assert convert(result.manifest, ConversionSources((), CATALOG)).manifest == result.manifest


def test_requests_are_a_size_too() -> None:
    requests = {"resources": {"requests": {"memory": "${MEMORY}"}}}
    assert parameters(converted(MEMORY, domain=requests)) == {"INSTANCETYPE": "u1.small"}


def test_size_without_a_default_gives_none() -> None:
    result = converted(CPUS, {"name": "MEMORY", "required": True})
    (parameter,) = result.manifest["spec"]["parameters"]
    assert parameter["required"] and "value" not in parameter
    assert notes(result) == {"spec.parameters[INSTANCETYPE]": "It has no default, because MEMORY had none; add one."}
    assert instancetype(result, INSTANCETYPE="u1.medium") == "u1.medium"


def test_parameters_of_other_fields_are_told() -> None:
    bus = {"name": "RNG", "value": "virtio"}
    preference = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "linux"},
        "spec": {"devices": {"preferredDiskBus": "virtio"}},
    }
    domain = {"memory": {"guest": "2Gi"}, "devices": {"disks": [{"name": "root", "disk": {"bus": "${RNG}"}}]}}
    spec = {"volumes": [{"name": "root", "emptyDisk": {"capacity": "1Gi"}}]}
    types = [entry for entry in CATALOG if entry["kind"] == "VirtualMachineClusterInstancetype"]
    result = converted(bus, domain=domain, spec=spec, catalog=[*types, preference])
    assert "parameters" not in result.manifest["spec"]
    (gone,) = (change for change in result.changes if change.path.startswith("spec.parameters"))
    assert (gone.path, gone.new_path) == ("spec.parameters[RNG]", "")
    assert gone.note == "Only fields that the instancetype or the preference provides referred to it."


def test_parameter_with_another_use_stays() -> None:
    result = converted(CPUS, MEMORY, spec={"hostname": "web-${CPUS}"})
    assert parameters(result) == {"INSTANCETYPE": "u1.small", "CPUS": "1"}
    assert notes(result) == {
        "spec.parameters[CPUS]": "The instancetype sets the size; only other fields refer to it still."
    }


def test_another_parameter_named_instancetype_is_told() -> None:
    result = converted(MEMORY, CPUS, {"name": "INSTANCETYPE", "value": "x"}, spec={"hostname": "${INSTANCETYPE}"})
    assert parameters(result) == {"INSTANCETYPE": "x"} and instancetype(result) == "u1.small"
    assert notes(result) == {
        "spec.parameters": "The instancetype replaces the size of CPUS and MEMORY, and another parameter is named"
        " INSTANCETYPE; refer to a parameter of another name in spec.virtualMachine.spec.instancetype.name, so that"
        " users can choose."
    }


def test_templates_that_get_no_instancetype_keep_parameters() -> None:
    kept = converted(CPUS, MEMORY, catalog=[])
    assert parameters(kept) == {"CPUS": "1", "MEMORY": "2Gi"}
