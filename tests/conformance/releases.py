"""Cases of older KubeVirt releases, in the groups ``decode/TAG``, ``revision/TAG``, ``apply/TAG`` and ``expand/TAG``.

decode and revision hold whole cases. apply and expand hold only what differs from the main set, whose inputs and
results count for all other cases. Only the first different random cases are listed; so what the last listed
one leaves out before it is as in the main set, and what comes after it is not known.
"""

import json
import re
from pathlib import Path
from typing import Any

import cases

_TAG = re.compile(r"v\d+\.\d+\.\d+")
# The groups of the main set that each folder takes its inputs from.
_SOURCES = {
    "apply": ("apply/", "requirements/requirements", "requirements/spread", "random/apply-a"),
    "expand": ("expand/expand", "expand/common_instancetypes", "random/expand-a"),
}

_BESIDE = "conformance"
_OWN = Path(__file__).parent / "vectors"


def is_of_release(group: str) -> bool:
    """Whether a group is named like those of a release (``apply/v1.6.0``)."""
    return _TAG.fullmatch(group.rpartition("/")[2]) is not None


def main_set(directory: Path) -> Path:
    """The directory of the main set: beside the given one, else the project's own copy."""
    beside = directory.resolve().parent / _BESIDE
    return beside if beside.is_dir() else _OWN


def load(directory: Path, group: str) -> list[cases.Case]:
    """The cases of one group, of a release or of the main set."""
    if not is_of_release(group):
        return cases.load(directory, group)
    folder, _unused, tag = group.partition("/")
    content = json.loads((directory / f"{group}.json").read_text(encoding="utf-8"))
    if folder not in _SOURCES:
        return [cases.Case(case["name"], case["op"], case["input"], case["expect"], tag) for case in content]
    return _with_main(content, folder, tag, main_set(directory))


def _with_main(content: list[dict[str, Any]], folder: str, tag: str, main: Path) -> list[cases.Case]:
    listed = {case["name"]: case for case in content}
    result = []
    for group in cases.groups(main):
        if not group.startswith(_SOURCES[folder]):
            continue
        known = cases.load(main, group)
        if group.startswith("random/"):
            last = max((index for index, case in enumerate(known) if case.name in listed), default=len(known) - 1)
            known = known[: last + 1]
        for case in known:
            other = listed.pop(case.name, None)
            if other is None:
                result.append(case._replace(release=tag))
            else:
                ignored = tuple(other.get("ignored", ()))
                result.append(case._replace(release=tag, expect=other["expect"], ignored=ignored))
    if listed:
        raise LookupError(f"{main} has no case {', '.join(sorted(listed)[:3])}")
    return result
