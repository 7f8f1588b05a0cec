"""The Windows that a VM runs, as far as its manifest tells, and how many sockets that uses."""

from __future__ import annotations

import json
import re
from typing import Final

from ..api.manifest import OS_ANNOTATION, Manifest, annotations_of, labels_of, name_of
from ..api.matcher import PREFERENCE
from ..api.tree import value_at

MOST_SOCKETS: Final = 2
"""The sockets that Windows 10 and 11 use in the editions Pro and Enterprise.

Home uses one, Pro for Workstations four; no preference tells the edition.
"""
_DESKTOPS: Final = ("10", "11")
# Preferences write windows.11.virtio, common templates windows11 and win11, people Windows Server 2022.
_NAMED: Final = re.compile(r"win(?:dows)?\W?(?:server\W?)?(10|11|2k\d\d?|20(?:08|12|16|19|22|25))(?!\d)")


def version_in(text: str) -> str:
    """The version of Windows that a text names, as preferences write it: ``11``, ``2k22``; "" for none."""
    named = _NAMED.search(text.lower())
    if named is None:
        return ""
    year = named[1].removeprefix("20")
    return named[1] if year == named[1] else f"2k{int(year)}"


def version_of(vm: Manifest) -> str:
    """The version of Windows by the preference, the annotation, the labels, the name or the disks of a VM."""
    template = value_at(vm, ("spec", "template")) or {}
    disks = [value_at(template, ("spec", "volumes")), value_at(vm, ("spec", "dataVolumeTemplates"))]
    texts = (
        PREFERENCE.matcher_or_empty(vm).get("name"),
        annotations_of(template).get(OS_ANNOTATION),
        json.dumps([labels_of(vm), labels_of(template)], default=str),
        name_of(vm),
        json.dumps(disks, default=str),
    )
    return next(filter(None, (version_in(str(text or "")) for text in texts)), "")


def desktop_in(text: str) -> str:
    """``10`` or ``11`` if a text names such a Windows, which counts sockets; else ""."""
    version = version_in(text)
    return version if version in _DESKTOPS else ""


def used_sockets(vm: Manifest, sockets: int) -> int:
    """How many of the sockets of a VM's guest its system uses."""
    return MOST_SOCKETS if sockets > MOST_SOCKETS and version_of(vm) in _DESKTOPS else sockets
