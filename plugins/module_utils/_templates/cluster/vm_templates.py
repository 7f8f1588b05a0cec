"""The option `from_template` of VMs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from ..._cluster.writes.vm_extension import VMExtension, completing
from ..._resolver.api.errors import FieldError, KubeVirtError
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.name_rules import did_you_mean
from ..._resolver.change.declared import DeclareJob
from ..._resolver.change.step import Step
from ..._resolver.choose.rejected import MissingObject
from ..._resolver.declare.option_checks import oversized

OPTION: Final = "from_template"
_TEMPLATE: Final = "VirtualMachineTemplate"


class Templates(VMExtension):
    needs_connection: ClassVar[Mapping[str, str]] = {
        OPTION: "set spec to that of the VM which the filter virtshape.instancetypes.template_process makes of the"
        " template's manifest"
    }

    @property
    def complete(self) -> tuple[Step, ...]:
        return (completing(OPTION, self._complete_one, self.task.task.check_mode),)

    def _complete_one(self, job: DeclareJob) -> None:
        """Gives the declared object the VM of its template. Raises FieldError and MissingObject."""
        import secrets

        from ..from_template import vm_from_template

        declared = job.goal
        reference = declared.options[OPTION]
        namespace, name = reference.get("namespace") or job.key.namespace, reference["name"]
        template = self._template(namespace, name)
        templated = vm_from_template(template, declared.options, declared.manifest, job.seen.live, secrets.token_hex())
        self.task.secrets.update(templated.secrets)
        declared.manifest = templated.manifest
        job.goal.facts["from_template"] = {
            "name": name,
            "namespace": namespace,
            "parameters": templated.parameters,
            "message": templated.message,
        }

    def _template(self, namespace: str, name: str) -> Manifest:
        try:
            template = self.task.lookup.get(_TEMPLATE, namespace, name)
        except KubeVirtError as error:
            raise FieldError(OPTION, error.message) from error
        if template is None:
            names = [other["metadata"]["name"] for other in self.task.lookup.list(_TEMPLATE, namespace)]
            hint = did_you_mean(name, names) if names else f"; set {OPTION}.namespace to the template's namespace"
            raise MissingObject(f"{OPTION}: {_TEMPLATE} {namespace}/{name} does not exist{hint}")
        if too_much := oversized(template):
            raise FieldError(OPTION, f"{_TEMPLATE} {namespace}/{name} {too_much}; simplify it")
        return template
