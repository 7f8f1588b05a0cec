"""The VM's mutating webhook: infers, sets defaults, and writes the spec in canonical form."""

from __future__ import annotations

import uuid
from typing import Any

from _resolver.api.release import NEWEST, Release
from _resolver.instancetype.vmi import defaults
from _resolver.instancetype.vmi.configuration import Configuration
from _resolver.instancetype.vmi.vmi_defaults import has_pcie
from _resolver.instancetype.webhooks import architecture, mutate
from kubevirt_emulation import behaviour, go_metadata
from kubevirt_emulation.behaviour import Behaviour
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.lookup import Lookup, Objects
from kubevirt_emulation.subresources import endpoint
from kubevirt_emulation.webhooks.admission import Answer, Review, not_of_schema

Manifest = dict[str, Any]

_PCI_TOPOLOGY = {"kubevirt.io/pci-topology-version": "v3"}


class VmMutator:
    """Answers reviews of VMs."""

    def __init__(self, objects: Objects, configuration: KubeVirtConfiguration) -> None:
        self._objects = objects
        self._configuration = configuration

    async def answer(self, review: Review) -> Answer:
        if review.being_deleted:
            return Answer()
        configuration = self._configuration
        return await self._objects.resolve(
            lambda lookup: stored(review, lookup, configuration.defaults, configuration.release)
        )


def stored(review: Review, lookup: Lookup, config: Configuration, release: Release = NEWEST) -> Answer:
    """The patch from a VM to its stored form (VMsMutator.Mutate)."""
    mistakes = list(endpoint.mistakes(review.object, release=release))
    if mistakes:
        return Answer(status=not_of_schema(mistakes))
    mutated = mutate.mutate(_in_namespace(review), lookup, review.old, review.operation, release)
    if mutated.refusal is not None:
        return Answer.refusing(mutated.refusal)
    assert mutated.vm is not None
    spec = architecture.of_sources(mutated.vm, lookup, release)["spec"]
    set_defaults(spec["template"], config)
    if review.operation == "CREATE":
        set_identity(spec["template"], behaviour.of(release))
    written = go_metadata.of_spec(spec, behaviour.of(release))
    return Answer(patch=({"op": "replace", "path": "/spec", "value": written},))


def set_defaults(template: Manifest, config: Configuration) -> None:
    """Sets the defaults that are stored with a VM."""
    defaults.set_architecture(template["spec"], config)
    defaults.set_machine_type(template["spec"], config)


def set_identity(template: Manifest, behaves: Behaviour) -> None:
    """Sets a new VM's identity and, with PCI Express, the current version of the PCI topology."""
    spec = template["spec"]
    for field in behaves.new_firmware:
        spec["domain"].setdefault("firmware", {}).setdefault(field, str(uuid.uuid4()))
    if behaves.marks_pci_topology and has_pcie(spec):
        template["metadata"]["annotations"] = {**_PCI_TOPOLOGY, **template["metadata"].get("annotations", {})}


def _in_namespace(review: Review) -> Manifest:
    """The VM with its namespace, which a new object may leave to the request's path."""
    return {**review.object, "metadata": {**review.object["metadata"], "namespace": review.namespace}}
