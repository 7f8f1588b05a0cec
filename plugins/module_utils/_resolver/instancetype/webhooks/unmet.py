"""Whether a VM meets the requirements of its preference, as the validating webhook for VMs decides."""

from __future__ import annotations

from typing import Any

from ...api.release import NEWEST, Release
from ...api.tree import copy
from ..apply import applier, requirements
from ..apply.requirements import Unmet
from ..vmi import defaults
from ..vmi.configuration import Configuration

Manifest = dict[str, Any]


def unmet(
    template: Manifest,
    given: Manifest | None,
    preferred: Manifest | None,
    config: Configuration | None = None,
    release: Release = NEWEST,
) -> Unmet | None:
    """The first requirement that a VM's canonical template does not meet, or None.

    given, preferred: the canonical specs of instancetype and preference. Raises Crash where KubeVirt panics.
    """
    if release.checks_requirements_first:
        return requirements.unmet(given, preferred, template["spec"], release)
    template = copy(template)
    applier.apply_in_place(template["metadata"], template["spec"], given, preferred, release)
    # A failure to add a network does not affect requirements.
    defaults.set_spec_defaults(template["spec"], config or Configuration(), release)
    return requirements.unmet(given, preferred, template["spec"], release)
