"""Hotpluggable volumes where KubeVirt plugs none because a VM has them: before 1.9, or with other feature gates."""

from __future__ import annotations

from ..api.manifest import Manifest, claim_of
from ..kubevirt.config import gates
from ..kubevirt.config.cluster import KubeVirt
from ..kubevirt.vm.readiness import has_guest
from ..kubevirt.vmi.device_hotplug import is_plugged

_COMMANDS = "run `virtctl addvolume` or `virtctl removevolume` before the task"


def unplugged_volumes(vm: Manifest, live: Manifest | None, kubevirt: KubeVirt) -> str | None:
    """The line about hotpluggable volumes that a change gives to a VM or takes from it, and that its running guest gets
    or loses only at a restart, with the remedy; None if there are none.

    vm: the admitted VM. live: the live VM.
    """
    if kubevirt.plugs_volumes or live is None or not has_guest(live):
        return None
    changed = {name for name, _claim in _plugged(vm) ^ _plugged(live)}
    if not changed:
        return None
    return (
        f"spec.template.spec.volumes: {', '.join(sorted(changed))}: this KubeVirt plugs volumes into a running guest"
        f" only on request, so a restart makes the change; {_remedy(kubevirt)}"
    )


def _plugged(vm: Manifest) -> set[tuple[str, str]]:
    volumes = vm["spec"]["template"]["spec"].get("volumes") or ()
    return {(volume["name"], claim_of(volume)) for volume in volumes if is_plugged(volume)}


def _remedy(kubevirt: KubeVirt) -> str:
    by_request = kubevirt.has_gate(gates.PLUG_BY_REQUEST)
    if kubevirt.release.has(gates.PLUG_DECLARED_SINCE):
        if by_request:
            return f"replace the feature gate {gates.PLUG_BY_REQUEST} by {gates.PLUG_DECLARED}, or {_COMMANDS}"
        return f"enable the feature gate {gates.PLUG_DECLARED} in the KubeVirt object"
    return _COMMANDS if by_request else f"enable the feature gate {gates.PLUG_BY_REQUEST}, and {_COMMANDS}"
