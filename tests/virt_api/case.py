"""A VM at the limits of what KubeVirt admits: how the cases are written."""

from typing import Any, NamedTuple

Fields = dict[str, Any]

LONG = "a" * 64


class Case(NamedTuple):
    """kind: VirtualMachine or VirtualMachineInstance.

    fields: the fields of the VMI spec, by dotted path. vm: fields of the VM's spec. metadata: the metadata of the
    template, or of the VMI. configuration: `spec.configuration` of the KubeVirt object.
    """

    kind: str
    fields: Fields
    vm: Fields
    metadata: Fields
    configuration: Fields

    def manifest(self, namespace: str) -> dict[str, Any]:
        """The object to be created."""
        spec: Fields = {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}
        for path, value in self.fields.items():
            _set(spec, path, value)
        metadata: Fields = {"name": "a", "namespace": namespace}
        if self.kind == "VirtualMachineInstance":
            body = {"metadata": {**self.metadata, **metadata}, "spec": spec}
        else:
            vm = {"runStrategy": "Halted", "template": {"metadata": self.metadata, "spec": spec}, **self.vm}
            body = {"metadata": metadata, "spec": {name: value for name, value in vm.items() if value is not None}}
        return {"apiVersion": "kubevirt.io/v1", "kind": self.kind, **body}


def _set(spec: Fields, path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for name in parents:
        spec = spec.setdefault(name, {})
    if value is None:
        spec.pop(last, None)
    else:
        spec[last] = value


def vm(fields: Fields | None = None, configuration: Fields | None = None, **given: Fields) -> Case:
    return Case("VirtualMachine", fields or {}, given.get("vm", {}), given.get("metadata", {}), configuration or {})


def vmi(fields: Fields | None = None, configuration: Fields | None = None, **given: Fields) -> Case:
    return Case("VirtualMachineInstance", fields or {}, {}, given.get("metadata", {}), configuration or {})


def pod(fields: Fields) -> Case:
    """A VM that is to run, with a disk unless it names volumes."""
    disk = {"name": "a", "containerDisk": {"image": "registry.example.com/disk:1"}}
    return vm({"volumes": [disk], **fields}, vm={"runStrategy": "Always"})


def gates(*names: str) -> Fields:
    return {"developerConfiguration": {"featureGates": list(names)}}


def volume(source: str, name: str = "v", **fields: Any) -> Fields:
    return {"name": name, source: fields}


def disk(**fields: Any) -> Fields:
    """A disk beside a volume for it."""
    claim = volume("persistentVolumeClaim", claimName="c")
    return {"volumes": [claim], "domain.devices.disks": [{"name": "v", **fields}]}


def interface(network: Fields | None = None, called: str = "n", **fields: Any) -> Fields:
    """An interface beside its network, by default the pod network."""
    return {
        "networks": [{"name": called, **({"pod": {}} if network is None else network)}],
        "domain.devices.interfaces": [{"name": called, **fields}],
    }
