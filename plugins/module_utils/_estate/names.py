"""Names of machines as names of VMs, names of their parts, and texts as values of labels."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Final

from .._resolver.api.name_rules import LONGEST_LABEL

# CDI and KubeVirt append the name of a volume to the name of its VM.
_LONGEST: Final = 52


class Names:
    """Gives each machine a name that no other VM of its namespace has or had.

    owners: NAMESPACE/NAME → owner of the name.
    """

    def __init__(self, owners: Mapping[str, str]) -> None:
        self._owners = dict(owners)

    def reserve(self, namespace: str, name: str, owner: str) -> bool:
        """Whether the name is now the owner's."""
        return self._owners.setdefault(f"{namespace}/{name}", owner) == owner

    def of(self, namespace: str, wanted: str, owner: str) -> str:
        """The wanted name; with `-2` and so on if it is another's."""
        number, result = 1, wanted
        while not self.reserve(namespace, result, owner):
            number += 1
            result = wanted[: _LONGEST - len(f"-{number}")].rstrip("-") + f"-{number}"
        return result


def part_names(noun: str, keys: Iterable[str], parts: dict[str, str]) -> list[str]:
    """Names such as ``disk-2`` for parts of a machine, the same for the same key in each run.

    keys: what tells parts of a kind apart in the source. parts: name → key of all that there ever were; gets new ones.
    """
    known = {(name.rpartition("-")[0], key): name for name, key in parts.items()}
    seen: Counter[str] = Counter()
    names = []
    for number, key in enumerate(keys, 1):
        seen[key] += 1
        unique = key if seen[key] == 1 else f"{key}#{seen[key]}"
        if (noun, unique) not in known:
            # The place in the source, as long as no other part had it.
            free = (place for place in count(number) if f"{noun}-{place}" not in parts)
            known[noun, unique] = f"{noun}-{next(free)}"
            parts[known[noun, unique]] = unique
        names.append(known[noun, unique])
    return names


def valid(name: str) -> str:
    """The name in lower case, with hyphens instead of what a name may not have."""
    return re.sub(r"[^a-z0-9]+", "-", _ascii(name).lower()).strip("-")[:_LONGEST].rstrip("-") or "vm"


def label_value(text: str) -> str:
    """The text as the value of a label."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", _ascii(text)).strip("-_.")[:LONGEST_LABEL].rstrip("-_.")


def _ascii(text: str) -> str:
    """Letters without their accents."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
