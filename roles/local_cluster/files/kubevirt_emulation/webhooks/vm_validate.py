"""The VM's validating webhook: instancetype and preference first, then the other rules (both in `_resolver`)."""

from __future__ import annotations

from _resolver.admission import order
from _resolver.admission.cluster import Cluster
from _resolver.api import release_schema
from _resolver.api.errors import Crash
from _resolver.api.tree import copy
from _resolver.instancetype.webhooks import validate_vm
from _resolver.instancetype.webhooks.admission import Response, crashed, invalid
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.lookup import Lookup, Objects
from kubevirt_emulation.webhooks.admission import Answer, Review


class VmValidator:
    """Answers reviews of VMs."""

    def __init__(self, objects: Objects, configuration: KubeVirtConfiguration) -> None:
        self._objects = objects
        self._configuration = configuration

    async def answer(self, review: Review) -> Answer:
        if review.being_deleted:
            return Answer()
        return await self._objects.resolve(lambda lookup: self._check(review, lookup))

    def _check(self, review: Review, lookup: Lookup) -> Answer:
        response = check(review, lookup, self._configuration.cluster)
        return Answer(warnings=response.warnings) if response.allowed else Answer.refusing(response)


def check(review: Review, lookup: Lookup, cluster: Cluster) -> Response:
    """VMsAdmitter.Admit. The first step with causes is the last."""
    vm = release_schema.canonical("VirtualMachine", review.object, cluster.release)
    vm["metadata"]["namespace"] = review.namespace
    stored = copy(vm["spec"])
    # It applies instancetype, preference and defaults to the VM.
    response = validate_vm.virtual_machine(vm, lookup, cluster.defaults, cluster.release)
    if not response.allowed:
        return response
    before = None
    if review.operation != "CREATE" and review.old is not None:
        before = release_schema.canonical("VirtualMachineSpec", review.old["spec"], cluster.release)
    try:
        causes = order.virtual_machine_causes(vm["spec"], stored, before, review.namespace, cluster)
    except Crash as crash:
        return crashed(str(crash))
    if causes:
        return invalid(causes)
    return response._replace(warnings=(*response.warnings, *order.warnings(stored)))
