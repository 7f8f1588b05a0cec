"""expand-spec of a stored VM, and expand-vm-spec of a VM in the request; `_resolver` expands."""

from __future__ import annotations

from typing import Any

from _resolver.instancetype.vmi import expand
from kubevirt_emulation import go_metadata
from kubevirt_emulation.client import Client
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.lookup import Objects
from kubevirt_emulation.resources import VM
from kubevirt_emulation.subresources import endpoint
from kubevirt_emulation.subresources.answers import internal, not_found
from kubevirt_emulation.subresources.objects import get

Manifest = dict[str, Any]


async def stored_vm(
    client: Client, objects: Objects, configuration: KubeVirtConfiguration, namespace: str, name: str
) -> Manifest:
    """The stored VM, expanded. Raises Refused."""
    vm = await get(client, VM, namespace, name)
    if vm is None:
        raise not_found("virtualmachine", name)
    expanded = await objects.resolve(
        lambda lookup: expand.expand(vm, lookup, configuration.defaults, configuration.release)
    )
    if expanded.error is not None:
        raise internal(expanded.error.message)
    assert expanded.vm is not None
    return _written(expanded.vm, configuration)


async def given_vm(
    objects: Objects, configuration: KubeVirtConfiguration, namespace: str, body: Any
) -> endpoint.Response:
    """The VM in the body, expanded, or the error."""
    answer = await objects.resolve(
        lambda lookup: endpoint.expand_vm_spec(body, namespace, lookup, configuration.defaults, configuration.release)
    )
    return answer._replace(body=_written(answer.body, configuration)) if answer.code == 200 else answer


def _written(vm: Manifest, configuration: KubeVirtConfiguration) -> Manifest:
    behaviour = configuration.behaviour
    return {**go_metadata.of_object(vm, behaviour), "spec": go_metadata.of_spec(vm["spec"], behaviour)}
