"""The options `workload` and `size`, and what was chosen for them.

An annotation of the VM keeps both, so that the same options mean the same for as long as the VM exists, whatever
becomes of the catalog and the boot sources.
"""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import Manifest, Options
from .._resolver.api.matcher import ROLES
from .workload import WorkloadRequest

ANNOTATION: Final = "instancetypes.virtshape.io/workload"
_CHOSEN: Final = ("boot", *(role.matcher for role in ROLES))
_WHY: Final = ("reasons", "others")
# Names of other choices, so that large catalogs do not make large VMs.
_MOST_OTHERS: Final = 10


class StoredChoice(NamedTuple):
    """What a VM's annotation keeps. size: the option, without what was not set. choice: see `Choice.as_data`."""

    workload: str
    size: Options
    choice: Options


def size_of(options: Options) -> Options:
    """The option `size`, without what is not set."""
    return {name: value for name, value in (options.get("size") or {}).items() if value is not None}


def request_of(options: Options) -> WorkloadRequest:
    size = size_of(options)
    return WorkloadRequest(
        options["workload"], size.get("name"), size.get("cpu"), size.get("memory"), size.get("performance")
    )


def stored_choice(live: Manifest) -> StoredChoice | None:
    """What the VM keeps; None if no workload was declared for it. Raises FieldError for an unreadable annotation."""
    text = (live["metadata"].get("annotations") or {}).get(ANNOTATION)
    if text is None:
        return None
    try:
        content = json.loads(text)
        choice = {name: content[name] for name in (*_CHOSEN, *_WHY) if name in content}
        choice.update(reasons=list(choice["reasons"]), others=dict(choice["others"]))
        result = StoredChoice(str(content["workload"]), dict(content["size"]), choice)
        if all(isinstance(choice[role.matcher]["name"], str) for role in ROLES):
            return result
    except (AttributeError, KeyError, TypeError, ValueError):
        pass
    raise FieldError(
        f"metadata.annotations[{ANNOTATION}]",
        "is not what this collection wrote; set boot, instancetype and preference instead of workload",
    )


def apply_choice(options: Options, choice: Options, size: Options) -> Options:
    """The options with what was chosen instead of the workload, see `Choice.as_data`. size: to keep, see `size_of`."""
    chosen = {name: choice[name] for name in _CHOSEN if name in choice}
    others = {name: names[:_MOST_OTHERS] for name, names in choice["others"].items()}
    record = {"workload": options["workload"], "size": size, **chosen, "reasons": choice["reasons"], "others": others}
    return {
        **options,
        "workload": None,
        "size": None,
        **{name: value for name, value in chosen.items() if options.get(name) is None},
        "annotations": {**(options.get("annotations") or {}), ANNOTATION: json.dumps(record, sort_keys=True)},
    }
