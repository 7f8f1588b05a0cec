"""Names of a VM's parts: checks given names, and generates missing ones.

A generated name depends only on the VM, so that a second run finds what the first has created.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from ...api.errors import FieldError
from ...api.names import shown

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_DOTTED: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_LABEL: Final = 63
_LONGEST_DOTTED: Final = 253
# The letters of Kubernetes' generated names, which form no words.
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX: Final = 5


def derived(prefix: str, *seed: str) -> str:
    """A name like Kubernetes' generated names (`prefix-x7k2p`), but constant for the same seed."""
    number = int.from_bytes(hashlib.sha256("\0".join((prefix, *seed)).encode()).digest()[:8], "big")
    suffix = ""
    for _position in range(_SUFFIX):
        number, letter = divmod(number, len(_LETTERS))
        suffix += _LETTERS[letter]
    return f"{prefix}-{suffix}"


def check_label(path: str, name: str) -> None:
    """Raises FieldError unless the name is an RFC 1123 label, as for volumes. Lists all errors, in virtctl's words."""
    faults = []
    # The limit is in bytes.
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST_LABEL:
        faults.append(f"is longer than {_LONGEST_LABEL} characters")
    if not _LABEL.fullmatch(name):
        dotted = len(name) <= _LONGEST_DOTTED and _DOTTED.fullmatch(name)
        faults.append("has dots" if dotted else "must consist of a-z, 0-9 and -, with a letter or digit at both ends")
    if faults:
        quoted = repr(name) if len(name) <= _LONGEST_DOTTED else shown(name)
        raise FieldError(path, f"{quoted} {' and '.join(faults)}; use a name such as root-disk")


class Names:
    """The names of a VM's volumes."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, path: str, name: str) -> str:
        """Reserves a name; it must be new and a label. path: of the option, for errors.

        Raises FieldError.
        """
        check_label(path, name)
        self.check_free(path, name)
        self._taken.add(name)
        return name

    def check_free(self, path: str, name: str) -> None:
        """Raises FieldError if a volume has that name."""
        if name in self._taken:
            raise FieldError(path, f"another volume is already named {shown(name)}; choose another name")
