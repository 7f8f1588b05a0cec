"""The VMI's mutating webhook: sets the defaults of a new VMI, whoever creates it."""

from __future__ import annotations

import uuid

from _resolver.api import release_schema, unmarshal
from _resolver.api.release import NEWEST, Release
from _resolver.instancetype.vmi.configuration import Configuration
from _resolver.instancetype.vmi.maximums import Limits, limits
from _resolver.instancetype.vmi.vmi_defaults import NO_LIMITS, select_nodes, set_vmi_defaults
from _resolver.instancetype.webhooks.admission import bad_request
from kubevirt_emulation import behaviour
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.subresources import endpoint
from kubevirt_emulation.webhooks.admission import Answer, Review, not_of_schema


class VmiMutator:
    """Answers reviews of VMIs."""

    def __init__(self, configuration: KubeVirtConfiguration) -> None:
        self._configuration = configuration

    async def answer(self, review: Review) -> Answer:
        configuration = self._configuration
        allowed = limits(configuration.raw) if configuration.live_updates else None
        model = configuration.raw.get("cpuModel") or ""
        return stored(review, configuration.defaults, model, allowed, configuration.release)


def stored(
    review: Review,
    config: Configuration,
    cpu_model: str = "",
    allowed: Limits | None = NO_LIMITS,
    release: Release = NEWEST,
) -> Answer:
    """The patch from a VMI to its stored form (VMIsMutator.Mutate).

    cpu_model, allowed: as for set_vmi_defaults.
    """
    mistakes = list(endpoint.mistakes(review.object, "VirtualMachineInstanceSpec", release))
    if mistakes:
        return Answer(status=not_of_schema(mistakes))
    # A template contains the same spec as a VMI.
    unreadable = unmarshal.message("VirtualMachineInstanceTemplateSpec", review.object, "VirtualMachineInstance")
    if unreadable is not None:
        return Answer(status=bad_request(unreadable).status())
    spec = release_schema.canonical("VirtualMachineInstanceSpec", review.object["spec"], release)
    set_vmi_defaults(spec, config, cpu_model, allowed, release)
    spec["domain"]["firmware"].setdefault("uuid", str(uuid.uuid4()))
    if behaviour.of(release).selects_nodes:
        select_nodes(spec)
    return Answer(patch=({"op": "replace", "path": "/spec", "value": spec},))
