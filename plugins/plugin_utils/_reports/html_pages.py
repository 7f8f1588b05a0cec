"""HTML pages without scripts, fonts or network access. The templates are in `pages`."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from ...module_utils._resolver.api.quantity import human_readable

Facts = dict[str, Any]

_MATCHER_FIELDS: Final = ("instancetype", "preference")
TEMPLATES = Path(__file__).with_name("pages")


def render(name: str, **values: Any) -> str:
    """The page of the template `name`.html.j2. All values are escaped."""
    return _environment().get_template(f"{name}.html.j2").render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(
        number="{:,}".format,
        memory=_memory,
        share=_share,
        head_row=_head_row,
        headed=_with_headings,
        alike=_group_equal_rows,
        grouped=_grouped,
        urgent_first=_urgent_first,
        css=_css,
    )
    return environment


def _memory(count: int) -> str:
    """Bytes, rounded: ``102 TiB``, ``1.5 GiB``."""
    amount = human_readable(str(count))
    suffix = amount.lstrip("0123456789.")
    figure = float(amount[: len(amount) - len(suffix)])
    return f"{figure:,.0f} {suffix}B" if figure >= 100 else f"{figure:.3g} {suffix}B"


def _share(part: int, total: int) -> str:
    percent = 100 * part / total
    return "less than 1 %" if percent < 1 else f"{percent:.0f} %"


def _head_row(cells: Markup, heads: list[str]) -> Markup:
    """The heads of a table's columns, aligned as the cells of its first row."""
    classes = re.findall(r'<td(?: class="([rb])")?', cells)
    return Markup().join(
        Markup('<th class="{}">{}</th>' if name else "<th>{1}</th>").format(name, head)
        for name, head in zip(classes, heads)
    )


def _with_headings(cells: Markup, heads: list[str]) -> Markup:
    """The cells of a row with the head of their column, which narrow windows show instead of columns."""
    names = iter(heads)
    return Markup(re.sub("<td", lambda _cell: f'<td data-head="{escape(next(names).strip())}"', cells))


def _css(text: str) -> Markup:
    """The text as a string of CSS."""
    return Markup('"' + re.sub(r"[^A-Za-z0-9_-]", lambda match: f"\\{ord(match[0]):x} ", text) + '"')


def _group_equal_rows(rows: list[Facts]) -> list[Facts]:
    """Rows that differ only in their names as one with `labels`, the most frequent first."""
    groups: dict[str, Facts] = {}
    for row in rows:
        label = f"{row['namespace']}/{row['name']}"
        shared = {**_nameless(row), "msg": row.get("msg", "").removeprefix(f"{label}: ")}
        group = groups.setdefault(json.dumps(shared, sort_keys=True), {**row, **shared, "labels": []})
        group["labels"].append(label)
    return sorted(groups.values(), key=lambda group: -len(group["labels"]))


def _nameless(row: Facts) -> Facts:
    """The row without the names of its VM and of the revisions."""
    own = {key: value for key, value in row.items() if key not in ("namespace", "name")}
    for state in ("before", "after"):
        if state in row:
            own[state] = {
                key: {name: entry for name, entry in value.items() if name != "revision"}
                if key in _MATCHER_FIELDS
                else value
                for key, value in row[state].items()
            }
    return own


def _grouped(vms: list[Facts], reason: str) -> list[Facts]:
    """VMs by cluster, namespace, instancetype, preference and the field `reason`, largest group first."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    where = [name for name in ("cluster", "namespace") if any(name in vm for vm in vms)]
    for vm in vms:
        key = (
            *(vm[name] for name in where),
            *((vm[matcher_field] or {}).get("name") or "" for matcher_field in _MATCHER_FIELDS),
            vm[reason],
        )
        groups.setdefault(key, []).append(vm["name"])
    fields = (*where, *_MATCHER_FIELDS, "reason")
    result = [{**dict(zip(fields, key)), "names": names} for key, names in groups.items()]
    return sorted(result, key=lambda group: -len(group["names"]))


def _urgent_first(vms: list[Facts]) -> list[Facts]:
    """The VMs that need attention first, because a table may leave out the last ones."""
    return sorted(vms, key=lambda vm: not (vm["drifted"] or vm["restart_required"] or vm["problem"]))
