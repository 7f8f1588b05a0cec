"""The options `workload` and `size`, and the options with what was chosen for them."""

from __future__ import annotations

import json
from typing import Final

from .._resolver.api.manifest import Options
from .._resolver.choose.stored_choice import ANNOTATION, CHOSEN_OPTIONS
from .workload import WorkloadRequest

# Names of other choices, so that large catalogs do not make large VMs.
_MOST_OTHERS: Final = 10


def size_of(options: Options) -> Options:
    """The option `size`, without what is not set."""
    return {name: value for name, value in (options.get("size") or {}).items() if value is not None}


def request_of(options: Options) -> WorkloadRequest:
    size = size_of(options)
    return WorkloadRequest(
        options["workload"], size.get("name"), size.get("cpu"), size.get("memory"), size.get("performance")
    )


def apply_choice(options: Options, choice: Options, size: Options) -> Options:
    """The options with what was chosen instead of the workload, see `Choice.as_data`. size: to keep, see `size_of`."""
    chosen = {name: choice[name] for name in CHOSEN_OPTIONS if name in choice}
    others = {name: names[:_MOST_OTHERS] for name, names in choice["others"].items()}
    record = {"workload": options["workload"], "size": size, **chosen, "reasons": choice["reasons"], "others": others}
    return {
        **options,
        "workload": None,
        "size": None,
        **{name: value for name, value in chosen.items() if options.get(name) is None},
        "annotations": {**(options.get("annotations") or {}), ANNOTATION: json.dumps(record, sort_keys=True)},
    }
