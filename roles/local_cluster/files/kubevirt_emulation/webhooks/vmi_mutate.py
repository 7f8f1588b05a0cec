"""The VMI's mutating webhook: a new VMI gets its defaults, whoever creates it."""

from __future__ import annotations

from _resolver.api import schema
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.webhooks.admission import Answer, Review
from kubevirt_emulation.webhooks.maximums import limits
from kubevirt_emulation.webhooks.vmi_defaults import set_vmi_defaults


class VmiMutator:
    """Answers reviews of VMIs."""

    def __init__(self, configuration: KubeVirtConfiguration) -> None:
        self._configuration = configuration

    async def answer(self, review: Review) -> Answer:
        spec = schema.canonical("VirtualMachineInstanceSpec", review.object["spec"])
        configuration = self._configuration
        allowed = limits(configuration.raw) if configuration.live_updates else None
        set_vmi_defaults(spec, configuration.defaults, configuration.raw.get("cpuModel") or "", allowed)
        return Answer(patch=({"op": "replace", "path": "/spec", "value": spec},))
