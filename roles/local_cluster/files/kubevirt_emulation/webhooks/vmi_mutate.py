"""The VMI's mutating webhook: a new VMI gets its defaults, whoever creates it."""

from __future__ import annotations

from _resolver.api import release_schema
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.webhooks.admission import Answer, Review
from kubevirt_emulation.webhooks.vmi_defaults import select_nodes, set_vmi_defaults


class VmiMutator:
    """Answers reviews of VMIs."""

    def __init__(self, configuration: KubeVirtConfiguration) -> None:
        self._configuration = configuration

    async def answer(self, review: Review) -> Answer:
        configuration = self._configuration
        spec = release_schema.canonical("VirtualMachineInstanceSpec", review.object["spec"], configuration.release)
        set_vmi_defaults(
            spec,
            configuration.defaults,
            configuration.raw.get("cpuModel") or "",
            configuration.release,
            configuration.live_updates,
        )
        if configuration.behaviour.selects_nodes:
            select_nodes(spec)
        return Answer(patch=({"op": "replace", "path": "/spec", "value": spec},))
