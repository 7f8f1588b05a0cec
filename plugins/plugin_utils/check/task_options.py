"""The options of a task of this collection, as its module reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ...module_utils._resolver.declare.entries import expand_shorthand, merge_options

Options = dict[str, Any]

# These options do not affect the checks, and may contain secrets and file names.
UNCHECKED_OPTIONS: Final = ("access_credentials", "cloud_init")


def entries(
    options: Options, plural: str, spec: Options, exclusive: Sequence[tuple[str, ...]] = ()
) -> Iterator[tuple[int | None, Options]]:
    """The options of each object that a task declares, as its module reads them, with their index in the list.

    plural: the option with the list; without that option the task declares one object. spec: the options of an object.
    exclusive: groups of options of which an entry that sets one loses the others.
    """
    names = {key for name, option in spec.items() for key in (name, *option.get("aliases", ()))}
    task_options = expand_shorthand(
        {name: value for name, value in options.items() if name in names and value is not None}, spec
    )
    listed = options.get(plural)
    if not isinstance(listed, list):
        if task_options.get("name"):
            yield None, task_options
        return
    defaults = options.get("defaults")
    defaults = expand_shorthand(defaults, spec) if isinstance(defaults, dict) else {}
    shared = merge_options(defaults, task_options, spec, exclusive)
    for index, entry in enumerate(listed):
        if isinstance(entry, dict):
            yield index, merge_options(shared, expand_shorthand(entry, spec), spec, exclusive)
