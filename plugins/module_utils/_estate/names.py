"""Names of machines as names of VMs, and texts as values of labels."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from .._resolver.api.name_rules import LONGEST_LABEL

# CDI and KubeVirt append the names of volumes to that of a VM.
_LONGEST: Final = 52


class Names:
    """Gives each machine a name that no other VM of its namespace has."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, str]] = set()

    def reserve(self, namespace: str, name: str) -> bool:
        """Whether the name was free; it no longer is."""
        free = (namespace, name) not in self._taken
        self._taken.add((namespace, name))
        return free

    def of(self, namespace: str, name: str) -> str:
        """A valid name like the given one: `Web Server_1` → `web-server-1`; with `-2` and so on if it is taken."""
        wanted = valid(name)
        number, result = 1, wanted
        while not self.reserve(namespace, result):
            number += 1
            result = wanted[: _LONGEST - len(f"-{number}")].rstrip("-") + f"-{number}"
        return result


def valid(name: str) -> str:
    """The name in lower case, with hyphens instead of what a name may not have."""
    return re.sub(r"[^a-z0-9]+", "-", _ascii(name).lower()).strip("-")[:_LONGEST].rstrip("-") or "vm"


def label_value(text: str) -> str:
    """The text as the value of a label."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", _ascii(text)).strip("-_.")[:LONGEST_LABEL].rstrip("-_.")


def _ascii(text: str) -> str:
    """Letters without their accents."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
