"""Guests with too little memory to boot."""

from __future__ import annotations

from typing import Any, Final

from ..api.errors import QuantityError
from ..api.quantity import parse

Manifest = dict[str, Any]

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
# For the firmware and any kernel.
_ANY: Final = "32Mi"


def too_small(applied: Manifest, preference: Manifest | None) -> str | None:
    """A warning about a guest with too little memory to boot, or None.

    applied: a VM with the values of instancetype, preference and defaults. preference: its spec, or None; KubeVirt
    checks its requirements.
    """
    if ((preference or {}).get("requirements") or {}).get("memory"):
        return None
    guest = (applied["spec"]["template"]["spec"]["domain"].get("memory") or {}).get("guest")
    named = str((applied["spec"].get("preference") or {}).get("name") or "")
    family = named.partition(".")[0].lower()
    least = _FAMILIES.get(family, _ANY)
    try:
        if guest is None or parse(str(guest)).nanos >= parse(least).nanos:
            return None
    except QuantityError:
        return None
    what = f"a guest of the family {family}" if family in _FAMILIES else "a guest"
    return f"spec.template.spec.domain.memory.guest: {guest} is too little for {what} to boot; give it {least} or more"
