"""The filters of estates: the proposal for machines of another platform, and its page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ansible.errors import AnsibleFilterError
from jinja2 import UndefinedError

from ...module_utils._cluster.client.errors import TaskFailed
from ...module_utils._estate import proposal
from ...module_utils._estate.machine import without_templates
from ...module_utils._estate.memory import ANEW
from ...module_utils._estate.rule_checks import There
from ...module_utils._estate.shapes import checked_at
from ...module_utils._estate.use import use_of, with_use
from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.name_rules import one_line, quoted
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.api.state import ACTIVE
from ...module_utils._yaml.documents import documents
from ...module_utils._yaml.scalars import ansible
from .._catalog_files import builtin_objects
from .._reports.estate_summary import guests, summary
from .._reports.html_pages import render
from ._shared import manifests, plain, release_option

Result = dict[str, Any]

_BUILTIN: Final = "builtin"
# The picture: the width and height of a panel, and the area of all circles of a panel.
_WIDE, _HIGH, _AREA = 480, 300, 12000
_MARGIN: Final = 40


def estate(
    value: Any,
    catalog: Any = _BUILTIN,
    rules: Any = None,
    waste: Any = None,
    new_sizes: Any = None,
    use: Any = None,
    kubevirt_version: Any = None,
    previous: Any = None,
    existing: Any = None,
    anew: Any = (),
    namespaces: Any = None,
    storage_classes: Any = None,
) -> Result:
    """See its documentation."""
    release = release_option(kubevirt_version)
    # Empty variables of a playbook are none.
    options = {"waste": waste, "new_sizes": new_sizes}
    options = {key: entry for key, entry in options.items() if entry not in (None, "")}
    machines = plain(value) if isinstance(value, (list, tuple)) else value
    try:
        if use:
            machines = with_use(machines, use_of(plain(use)))
            options["rightsize"] = "p95"
        proposed = proposal.estate(
            machines,
            _catalog(catalog, release),
            _rules(rules),
            release,
            options,
            _previous(previous),
            plain(existing),
            checked_at("anew", anew.split(",") if isinstance(anew, str) and anew else plain(anew) or [], [ANEW]),
            There(plain(namespaces), plain(storage_classes)),
        )
    except FieldError as error:
        raise AnsibleFilterError(one_line(error)) from None
    return {
        **proposed,
        "guests": guests(proposed["virtual_machines"], proposed["instancetypes"]),
        "summary": summary(proposed["machines"], proposed["catalog"]),
    }


def _rules(value: Any) -> Any:
    """The rules, as given or parsed from the text of their file."""
    if not isinstance(value, str):
        return plain(value) or None
    try:
        # Numbers of machines and of VLANs need no quotes as keys.
        read = documents(value, "rules", "file of rules", keep_unknown_tags=True, scalars=ansible)
    except TaskFailed as error:
        raise FieldError("", str(error)) from None
    if len(read) > 1:
        raise FieldError("rules", "has several YAML documents; write one")
    return read[0].content if read else None


def _previous(value: Any) -> Any:
    """An earlier proposal, or the text of its file. Its names are of others, see `without_templates`."""
    try:
        return without_templates(json.loads(value) if isinstance(value, str) else plain(value))
    except ValueError as error:
        raise FieldError("previous", f"is no JSON: {error}; restore estate.json, which the last run wrote") from None


def _catalog(value: Any, release: Release) -> list[Result]:
    if isinstance(value, str):
        if value != _BUILTIN:
            raise AnsibleFilterError(f"catalog: expected {_BUILTIN} or a list of manifests, found {quoted(value)}")
        return builtin_objects(release)
    return [_manifest(entry) for entry in manifests("catalog", value) if entry.get("state", ACTIVE) == ACTIVE]


def _manifest(entry: Result) -> Result:
    """A manifest, also of what catalog_info returns for it."""
    if "metadata" in entry or "name" not in entry:
        return entry
    metadata = {"name": entry["name"], **({"namespace": entry["namespace"]} if entry.get("namespace") else {})}
    return {"kind": entry.get("kind"), "metadata": metadata, "spec": entry.get("spec")}


def estate_page(value: Any, title: Any, rows: Any = 1000) -> str:
    """See its documentation."""
    if not isinstance(value, Mapping) or "summary" not in value:
        raise AnsibleFilterError(f"expected a proposal of the filter estate, found {quoted(value)}")
    defaults: Result = {"remarks": [], "read_left_out": {}, "room": None}
    try:
        sums = value["summary"]
        picture = _picture(
            [(size["vcpus"], size["memory"], size["machines"], "") for size in sums["sizes_before"]],
            [(size["vcpus"], size["memory"], size["machines"], size["name"]) for size in sums["sizes_after"]],
        )
        report = {**defaults, **value}
        losses = _losses(value["machines"])
        return render("estate", report=report, title=str(title), rows=int(rows), picture=picture, losses=losses)
    except (UndefinedError, KeyError, TypeError) as error:
        raise AnsibleFilterError(f"not a proposal of the filter estate: {error}") from None


def _losses(machines: Iterable[Mapping[str, Any]]) -> list[Result]:
    """Each kind of loss with the names of its machines, the most frequent first."""
    groups: dict[str, dict[str, None]] = {}
    for machine in machines:
        for line in machine["not_brought"]:
            # A line may begin with the disk, the network interface or the device of the machine.
            groups.setdefault(line.partition(": ")[2] or line, {})[machine["name"]] = None
    rows = [{"loss": loss, "machines": list(names)} for loss, names in groups.items()]
    return sorted(rows, key=lambda row: -len(row["machines"]))


def _picture(*panels: list[tuple[int, int, int, str]]) -> Result:
    """Circles by memory (to the right) and vCPUs (up), both by powers of two, with the area of their machines."""
    sizes = [size for panel in panels for size in panel]
    right, up = _Axis([size[1] for size in sizes]), _Axis([size[0] for size in sizes])
    machines = max(1, sum(size[2] for size in panels[0]))
    drawn = [
        [
            {
                "x": round(_MARGIN + right.share(memory) * (_WIDE - 2 * _MARGIN), 1),
                "y": round(_HIGH - _MARGIN - up.share(vcpus) * (_HIGH - 2 * _MARGIN), 1),
                "r": round(max(1.5, math.sqrt(_AREA * count / machines / math.pi)), 1),
                "vcpus": vcpus,
                "memory": memory,
                "machines": count,
                "name": name,
            }
            for vcpus, memory, count, name in panel
        ]
        for panel in panels
    ]
    ticks = [
        {"x": round(_MARGIN + right.share(place) * (_WIDE - 2 * _MARGIN), 1), "memory": place} for place in right.ticks
    ]
    rows = [
        {"y": round(_HIGH - _MARGIN - up.share(place) * (_HIGH - 2 * _MARGIN), 1), "vcpus": place} for place in up.ticks
    ]
    return {"panels": drawn, "columns": ticks, "rows": rows, "wide": _WIDE, "high": _HIGH}


class _Axis:
    """Amounts by powers of two, from 0 to 1."""

    def __init__(self, amounts: Iterable[int]) -> None:
        logs = [math.log2(amount) for amount in amounts] or [0]
        self._low, high = math.floor(min(logs)), math.ceil(max(logs))
        self._length = max(1, high - self._low)
        step = max(1, self._length // 6)
        self.ticks = [1 << power for power in range(self._low, self._low + self._length + 1, step)]

    def share(self, amount: int) -> float:
        return (math.log2(amount) - self._low) / self._length
