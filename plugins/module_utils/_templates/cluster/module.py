"""The module virtual_machine_template: its options."""

from __future__ import annotations

from collections.abc import Sequence

from ..._cluster.modules.declaration import Declaration, TaskState
from ..._cluster.modules.module import Module
from ..._resolver.api.errors import FieldError
from ..._resolver.api.manifest import Manifest, Options
from ..._resolver.api.release import Release
from ..._resolver.preflight.findings import Check
from .. import behaviour, declared
from .template_kind import template_kind


def module(checks: Sequence[Check] = (), states: Sequence[TaskState] = ()) -> Module:
    """The module. checks: add to the findings about the VM of a template. states: of capabilities."""
    return Declaration(
        plural="virtual_machine_templates",
        spec=declared.argument_spec(),
        manifest=declared.manifest,
        kind=lambda _options, _session, _task: template_kind(checks),
        warnings=declared.warnings,
        states=states,
        created=_created,
    ).module()


def _created(_options: Options, manifest: Manifest, release: Release) -> list[Manifest]:
    if not release.has(behaviour.HAS_TEMPLATES):
        raise FieldError("kubevirt_version", f"KubeVirt has VirtualMachineTemplates from {behaviour.HAS_TEMPLATES} on")
    return [manifest]
