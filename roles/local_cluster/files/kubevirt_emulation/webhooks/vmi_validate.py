"""The validating webhook of new VMIs, whoever makes them."""

from __future__ import annotations

from _resolver import schema
from _resolver.admission import crashed, invalid
from _resolver.errors import Crash
from kubevirt_emulation.install.names import CONTROLLER_USER
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.webhooks.admission import Answer, Review
from kubevirt_emulation.webhooks.rules import order


class VmiValidator:
    """Answers reviews of VMIs."""

    def __init__(self, configuration: KubeVirtConfiguration) -> None:
        self._configuration = configuration

    async def answer(self, review: Review) -> Answer:
        vmi = {**review.object, "spec": schema.canonical("VirtualMachineInstanceSpec", review.object["spec"])}
        try:
            causes = list(order.vmi(vmi, self._configuration.cluster, review.user == CONTROLLER_USER))
        except Crash as crash:
            return Answer(status=crashed(str(crash)).status())
        return Answer(status=invalid(causes).status()) if causes else Answer()
