"""The validating webhook of new VMIs, whoever creates them."""

from __future__ import annotations

from _resolver.admission import order
from _resolver.admission.cluster import Cluster
from _resolver.api import release_schema
from _resolver.api.errors import Crash
from _resolver.instancetype.webhooks.admission import Response, allowed, crashed, invalid
from kubevirt_emulation.install.names import CONTROLLER_USER
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.webhooks.admission import Answer, Review


class VmiValidator:
    """Answers reviews of VMIs."""

    def __init__(self, configuration: KubeVirtConfiguration) -> None:
        self._configuration = configuration

    async def answer(self, review: Review) -> Answer:
        response = check(review, self._configuration.cluster)
        return Answer() if response.allowed else Answer.refusing(response)


def check(review: Review, cluster: Cluster) -> Response:
    """VMICreateAdmitter.Admit of a VMI with its defaults."""
    spec = release_schema.canonical("VirtualMachineInstanceSpec", review.object["spec"], cluster.release)
    try:
        causes = list(order.vmi(review.object["metadata"], spec, cluster, review.user == CONTROLLER_USER))
    except Crash as crash:
        return crashed(str(crash))
    return invalid(causes) if causes else allowed()
