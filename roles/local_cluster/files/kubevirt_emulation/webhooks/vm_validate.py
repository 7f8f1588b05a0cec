"""The VM's validating webhook: instancetype and preference first (`_resolver`), then the VM's own checks."""

from __future__ import annotations

from _resolver.api import release_schema
from _resolver.instancetype.webhooks import validate
from _resolver.instancetype.webhooks.admission import invalid
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.lookup import Lookup, Objects
from kubevirt_emulation.webhooks import gate_checks, vm_checks
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
        configuration = self._configuration
        vm = release_schema.canonical("VirtualMachine", review.object, configuration.release)
        vm["metadata"]["namespace"] = review.namespace
        # It leaves the VM with its instancetype, preference and defaults applied.
        response = validate.virtual_machine(vm, lookup, configuration.defaults, configuration.release)
        if not response.allowed:
            return Answer.refusing(response)
        causes = [
            *vm_checks.causes(vm["spec"], configuration),
            *gate_checks.causes(vm["spec"]["template"]["spec"], configuration.closed_gates()),
        ]
        if causes:
            return Answer(status=invalid(causes).status())
        return Answer(warnings=(*response.warnings, *vm_checks.warnings(vm["spec"])))
