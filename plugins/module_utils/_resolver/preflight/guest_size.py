"""Predicts whether a guest's system boots with its size and uses all its vCPUs, which KubeVirt does not check."""

from __future__ import annotations

from typing import Final

from ..api.errors import QuantityError
from ..api.manifest import OS_ANNOTATION, Manifest, annotations_of
from ..api.matcher import INSTANCETYPE, PREFERENCE
from ..api.quantity import parse
from ..choose.windows import MOST_SOCKETS, desktop_in

# The least memory with which any system of a family boots, by the beginning of a preference's name. Lower than vendors'
# requirements, to avoid needless warnings.
_FAMILIES: Final = {
    "alpine": "64Mi",
    "centos": "512Mi",
    "cirros": "64Mi",
    "debian": "128Mi",
    "fedora": "512Mi",
    "opensuse": "512Mi",
    "oraclelinux": "512Mi",
    "rhel": "512Mi",
    "sles": "512Mi",
    "ubuntu": "256Mi",
    "windows": "512Mi",
}
# The firmware and any kernel need this much.
_ANY_FAMILY: Final = "32Mi"

_DOMAIN: Final = "spec.template.spec.domain"


def too_little_memory(applied: Manifest, preference: Manifest | None) -> str | None:
    """A warning about a guest with too little memory to boot, or None.

    applied: a VM with the values of instancetype, preference and defaults. preference: the spec of the preference, or
    None; KubeVirt checks its requirements.
    """
    if ((preference or {}).get("requirements") or {}).get("memory"):
        return None
    guest = (applied["spec"]["template"]["spec"]["domain"].get("memory") or {}).get("guest")
    family = _preference_name(applied).partition(".")[0].lower()
    least = _FAMILIES.get(family, _ANY_FAMILY)
    try:
        if guest is None or parse(str(guest)).nanos >= parse(least).nanos:
            return None
    except QuantityError:
        return None
    what = f"a guest of the family {family}" if family in _FAMILIES else "a guest"
    return f"{_DOMAIN}.memory.guest: {guest} is too little for {what} to boot; give it {least} or more"


def unused_sockets(applied: Manifest) -> str | None:
    """A warning about a guest with Windows 10 or 11 that has more sockets than these use, or None.

    applied: a VM with the values of instancetype, preference and defaults.
    """
    template = applied["spec"]["template"]
    systems = (_preference_name(applied), str(annotations_of(template).get(OS_ANNOTATION) or ""))
    desktop = next(filter(None, map(desktop_in, systems)), "")
    sockets = (template["spec"]["domain"].get("cpu") or {}).get("sockets") or 1
    if not desktop or sockets <= MOST_SOCKETS:
        return None
    remedy = "set cores instead of sockets"
    if INSTANCETYPE.matcher_of(applied) is not None:
        remedy = "use a preference with preferredCPUTopology: cores"
    what = f"Windows {desktop} uses {MOST_SOCKETS} sockets at most, and the guest has {sockets}"
    return f"{_DOMAIN}.cpu.sockets: {what}; {remedy}"


def _preference_name(applied: Manifest) -> str:
    return str(PREFERENCE.matcher_or_empty(applied).get("name") or "")
