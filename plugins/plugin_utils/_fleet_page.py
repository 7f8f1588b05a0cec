"""The figures of a fleet as an HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final

from ..module_utils._resolver.api.quantity import human

__all__ = ["html"]

Told = dict[str, Any]

# How many VMs a cell names; the JSON has them all.
_NAMED: Final = 6

# What a running guest needs to get the changes, in words.
_NEEDS: Final = {
    "restart": "a restart",
    "live update": "nothing: it takes them while it runs",
    "nothing": "nothing",
    "": "not known",
}

_BAR: Final = " "
_FIGURES: Final = ("VMs", "Running", "Drifted", "vCPUs", "Memory", "Captured")
_CLASSES: Final = {_BAR: ' class="b"', **dict.fromkeys(_FIGURES, ' class="r"')}

_STYLE: Final = """
:root{--ink:#1d2329;--soft:#5c6670;--line:#d7dce1;--ground:#fff;--band:#f4f6f8;--bar:#3f6fb5;--rest:#dfe5ec;
--good:#1b6e3c;--bad:#b3261e;--note:#8a5a00;--drift:#d98a1f}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ec;--soft:#9aa4ae;--line:#3a424a;--ground:#15191d;--band:#1d2329;
--bar:#7fa8e0;--rest:#2d353d;--good:#6ccf94;--bad:#ff8a80;--note:#f0b95a;--drift:#e8a33d}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{color:var(--ink);background:var(--ground);font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:76rem;
padding:0 1rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem}
h2{font-size:1.15rem;margin:2.5rem 0 .25rem}
h3{font-size:1rem;margin:1.5rem 0 .25rem}
p{margin:.25rem 0 1rem;max-width:48rem}
.soft{color:var(--soft)}.good{color:var(--good)}.bad{color:var(--bad)}.note{color:var(--note)}
.tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:.75rem;list-style:none;padding:0;
margin:1.5rem 0}
.tiles li{background:var(--band);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem}
.tiles b{display:block;font-size:1.6rem;line-height:1.2;font-variant-numeric:tabular-nums;white-space:nowrap}
.tiles small{display:block;color:var(--soft);font-size:.8rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;vertical-align:top;padding:.35rem .9rem .35rem 0;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600;white-space:nowrap}
td{overflow-wrap:break-word;min-width:4.5rem}
.r{text-align:right;white-space:nowrap}
.b{width:30%;min-width:7rem;padding-top:.7rem}
.short{max-width:40rem}.short .b{width:60%}.short td{white-space:nowrap}
svg{display:block;width:100%;height:.8rem}
.rest{fill:var(--rest)}.bar{fill:var(--bar)}.drift{fill:var(--drift)}
.key{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;padding:0;margin:0 0 .5rem;color:var(--soft)}
.key svg{display:inline-block;width:.8rem;margin-right:.4rem;vertical-align:-.05rem}
code{font-size:.9em}
ul.changes{margin:0;padding-left:1.1em}
.tag{border:1px solid currentColor;border-radius:.25rem;font-size:.75rem;padding:0 .3rem;white-space:nowrap}
@media (max-width:40rem){body{margin:1rem auto;font-size:14px}.tiles{grid-template-columns:1fr 1fr;gap:.5rem}
.tiles li{padding:.5rem .75rem}.b{padding-top:.6rem}.tiles b{font-size:1.3rem}.b{min-width:4rem}}
@media print{:root{--ink:#000;--soft:#444;--line:#999;--ground:#fff;--band:#fff;--bar:#555;--rest:#ddd;--drift:#000;
--good:#000;--bad:#000;--note:#000}
body{font-size:9pt;margin:0;max-width:none;padding:0}
svg{print-color-adjust:exact;-webkit-print-color-adjust:exact}
tr,.tiles li{break-inside:avoid}h2,h3{break-after:avoid}thead{display:table-header-group}.wide{overflow:visible}}
"""


def html(found: Told, title: str, scope: str, rows: int) -> str:
    """The page.

    found: what `fleet.summary` returns. scope: which VMs it is about, in words. rows: how many lines a table has at
    most; what is left out is counted below it.
    """
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{escape(_minute(found["generated_at"]))} UTC · {escape(scope)}</p>',
        _tiles(found["totals"]),
        *_drift(found, rows),
        *_usage(found, rows),
        *_restarts(found, rows),
        *_catalog(found, rows),
        *_revisions(found, rows),
        *_machines(found, rows),
        "</body>\n</html>\n",
    ]
    return "\n".join(parts)


def _tiles(totals: Told) -> str:
    share = f"{_percent(totals['drifted'], totals['virtual_machines'])} of all" if totals["drifted"] else "none"
    tiles = [
        (
            _number(totals["virtual_machines"]),
            _noun(totals["virtual_machines"]),
            f"{_number(totals['running'])} running",
        ),
        (_number(totals["vcpus"]), "vCPUs promised", f"{_number(totals['vcpus_running'])} in running guests"),
        (
            _memory(totals["memory_bytes"]),
            "memory promised",
            f"{_memory(totals['memory_bytes_running'])} in running guests",
        ),
        (_toned(totals["drifted"], "note"), "drifted", share),
        (_toned(totals["restart_required"], "note"), "need a restart", "as the cluster says"),
        (_toned(totals["refused"], "bad"), "would be refused", "after a refresh"),
        (_number(totals["unused"]), "unused", "instancetypes and preferences"),
        (_toned(totals["orphaned_revisions"], "note"), "orphaned revisions", "their VM is gone"),
    ]
    if totals["problems"]:
        tiles.append((_toned(totals["problems"], "bad"), "not known", "what they would get"))
    if totals["unknown"]:
        tiles.append((_toned(totals["unknown"], "bad"), "cannot be told", "whether they drift"))
    items = "".join(f"<li><b>{value}</b>{name}<small>{more}</small></li>" for value, name, more in tiles)
    return f'<ul class="tiles">{items}</ul>'


def _drift(found: Told, rows: int) -> list[str]:
    told = found["drift"]
    if not found["totals"]["drifted"]:
        return ["<h2>Drift</h2>", "<p>No VM drifts from its instancetype or preference.</p>"]
    largest = max(one["virtual_machines"] for one in told["by_age"])
    ages = [
        [escape(one["age"]), _bar(0, one["virtual_machines"], largest), _number(one["virtual_machines"])]
        for one in told["by_age"]
    ]
    groups = told["by_change"]
    most = max((len(one["virtual_machines"]) for one in groups), default=1)
    changes = [
        [
            _changes(one["changes"]),
            _bar(0, len(one["virtual_machines"]), most),
            _number(len(one["virtual_machines"])),
            escape(_NEEDS.get(one["needs"], one["needs"])),
            _names(one["virtual_machines"]),
        ]
        for one in groups
    ]
    parts = [
        "<h2>Drift</h2>",
        "<p>A VM keeps its instancetype and preference as they were when it captured them. Those below have another "
        "state of them than there is now, and get the present one by a refresh.</p>",
        "<h3>For how long</h3>",
        '<p class="soft">At least: the time since the instancetype or preference was last changed.</p>',
        f'<div class="short">{_table(["Age", _BAR, "VMs"], ages, rows)}</div>',
        "<h3>What a refresh would change</h3>",
    ]
    if changes:
        parts.append(_table(["Change in the guest", _BAR, "VMs", "A running guest needs", "Which"], changes, rows))
    if told["refused"]:
        refused = [
            [_vm(row), f'<span class="bad">{escape(row["refusal"])}</span>']
            for row in found["virtual_machines"]
            if row["refusal"]
        ]
        parts += ["<h3>Refused after a refresh</h3>", _table(["VM", "What KubeVirt would say"], refused, rows)]
    return parts


def _usage(found: Told, rows: int) -> list[str]:
    key = (
        '<ul class="key"><li><svg viewBox="0 0 1 1"><rect class="drift" width="1" height="1"/></svg>drifted</li>'
        '<li><svg viewBox="0 0 1 1"><rect class="bar" width="1" height="1"/></svg>as it is now</li></ul>'
    )
    parts = []
    for what in ("instancetype", "preference"):
        users = found[f"{what}s"]
        largest = max((one["virtual_machines"] for one in users), default=1)
        lines = [
            [
                _entry(one) if one["name"] else f'<span class="soft">no {what}</span>',
                _bar(one["virtual_machines"] - one["drifted"], one["drifted"], largest),
                _number(one["virtual_machines"]),
                _number(one["running"]),
                _toned(one["drifted"], "note"),
                _number(one["vcpus"]),
                _memory(one["memory_bytes"]),
            ]
            for one in users
        ]
        heads = [what.capitalize(), _BAR, "VMs", "Running", "Drifted", "vCPUs", "Memory"]
        parts += [f"<h2>VMs by {what}</h2>", key if lines else "", _table(heads, lines, rows, "There are no VMs.")]
    return parts


def _restarts(found: Told, rows: int) -> list[str]:
    lines = [[_vm(row), escape(row["status"])] for row in found["virtual_machines"] if row["restart_required"]]
    return ["<h2>Restart required</h2>", _table(["VM", "Status"], lines, rows, "No VM needs a restart.")]


def _catalog(found: Told, rows: int) -> list[str]:
    unused = [[_entry(one), escape(one["kind"]), _catalog_of(one)] for one in found["unused"]]
    deprecated = [
        [
            _entry({**one, "deprecated": False}),
            escape(one["kind"]),
            _catalog_of(one),
            "not known" if one["used_by"] is None else _number(len(one["used_by"])),
            _names(one["used_by"] or []),
        ]
        for one in found["deprecated"]
    ]
    return [
        "<h2>Deprecated instancetypes and preferences</h2>",
        _table(["Name", "Kind", "Catalog", "VMs", "Which"], deprecated, rows, "There are none."),
        "<h2>Unused instancetypes and preferences</h2>",
        '<p class="soft">No VM of the cluster names them.</p>' if unused else "",
        _table(["Name", "Kind", "Catalog"], unused, rows, "There are none."),
    ]


def _revisions(found: Told, rows: int) -> list[str]:
    lines = [
        [
            f"{escape(one['namespace'])}/<strong>{escape(one['name'])}</strong>",
            escape(one["virtual_machine"]) or '<span class="soft">none</span>',
            _day(one.get("captured_at", "")),
        ]
        for one in found["orphaned_revisions"]
    ]
    kept = len(found["kept_revisions"])
    more = (
        f'<p class="soft">{_number(kept)} more {"is" if kept == 1 else "are"} kept of VMs that have another one now; '
        "a VM can be pinned to them.</p>"
        if kept
        else ""
    )
    table = _table(["Revision", "VM that it was of", "Captured"], lines, rows, "There are none.")
    return ["<h2>Orphaned revisions</h2>", table, more]


def _machines(found: Told, rows: int) -> list[str]:
    lines = [
        [
            _vm(row),
            escape(row["status"]),
            _captured(row, "instancetype"),
            _captured(row, "preference"),
            "?" if row["vcpus"] is None else _number(row["vcpus"]),
            "?" if row["memory_bytes"] is None else _memory(row["memory_bytes"]),
            _day(row["captured_at"]),
            _state(row),
        ]
        for row in sorted(found["virtual_machines"], key=_quiet)
    ]
    heads = ["VM", "Status", "Instancetype", "Preference", "vCPUs", "Memory", "Captured", ""]
    return ["<h2>All VMs</h2>", _table(heads, lines, rows, "There are no VMs.")]


def _quiet(row: Told) -> bool:
    """Whether there is nothing to say of a VM: such come last, should there be more than the table has lines."""
    return not (row["drifted"] or row["restart_required"] or row["problem"])


def _state(row: Told) -> str:
    told = [
        f'<span class="note">drifts since {_day(row["drifts_since"])}</span>' if row["drifted"] else "",
        '<span class="bad">would be refused</span>' if row["refusal"] else "",
        '<span class="note">needs a restart</span>' if row["restart_required"] else "",
        f'<span class="bad">{escape(row["problem"])}</span>' if row["problem"] else "",
    ]
    return "<br>".join(filter(None, told))


def _captured(row: Told, role: str) -> str:
    part = row[role]
    if not part:
        return ""
    old, new = part["generation"], part["current_generation"]
    generations = f' <span class="soft">{old} → {new}</span>' if None not in (old, new) and old != new else ""
    pinned = ' <span class="tag soft">pinned</span>' if part["pinned"] else ""
    return f"{escape(str(part['name']))}{generations}{pinned}"


def _table(heads: Sequence[str], lines: list[list[str]], rows: int, empty: str = "") -> str:
    """A table. `_BAR` heads a column of bars."""
    if not lines:
        return f"<p>{empty}</p>"
    classes = [_CLASSES.get(head, "") for head in heads]
    top = "".join(f"<th{kind}>{head}</th>" for head, kind in zip(heads, classes))
    body = "\n".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(line, classes)) + "</tr>"
        for line in lines[:rows]
    )
    table = f'<div class="wide"><table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'
    left = len(lines) - rows
    return table + (f'<p class="soft">and {_number(left)} more; the JSON has them all.</p>' if left > 0 else "")


def _bar(current: int, drifted: int, largest: int) -> str:
    """A bar of two parts on a ground as long as the largest of its table."""
    first, second = (round(100 * count / max(largest, 1), 1) for count in (drifted, current))
    words = f"{_number(drifted)} drifted, {_number(current)} as it is now"
    return (
        f'<svg viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="{words}"><title>{words}</title>'
        f'<rect class="rest" width="100" height="8"/><rect class="drift" width="{first:g}" height="8"/>'
        f'<rect class="bar" x="{first:g}" width="{second:g}" height="8"/></svg>'
    )


def _changes(changes: Iterable[Told]) -> str:
    items = "".join(
        f"<li><code>{escape(one['field'])}</code>: {_value(one['before'])} → {_value(one['after'])}</li>"
        for one in changes
    )
    return f'<ul class="changes">{items}</ul>' if items else '<span class="soft">nothing in the guest</span>'


def _value(value: Any) -> str:
    return '<span class="soft">not set</span>' if value is None else escape(str(value))


def _entry(one: Told) -> str:
    place = f"{escape(one['namespace'])}/" if one["namespace"] else ""
    tag = ' <span class="tag note">deprecated</span>' if one["deprecated"] else ""
    return f"{place}<strong>{escape(one['name'])}</strong>{tag}"


def _catalog_of(one: Told) -> str:
    return escape(" ".join(filter(None, (one["catalog"], one["catalog_version"]))))


def _vm(row: Told) -> str:
    return f"{escape(row['namespace'])}/<strong>{escape(row['name'])}</strong>"


def _names(labels: list[str]) -> str:
    more = f" and {_number(len(labels) - _NAMED)} more" if len(labels) > _NAMED else ""
    return escape(", ".join(labels[:_NAMED])) + more


def _toned(count: int, tone: str) -> str:
    return f'<span class="{tone}">{_number(count)}</span>' if count else "0"


def _number(count: int) -> str:
    return f"{count:,}"


def _noun(count: int) -> str:
    return "virtual machine" if count == 1 else "virtual machines"


def _memory(count: int) -> str:
    """Rounded to what one reads: ``102 TiB``, ``1.5 GiB``."""
    amount = human(str(count))
    suffix = amount.lstrip("0123456789.")
    figure = float(amount[: len(amount) - len(suffix)])
    return f"{figure:,.0f} {suffix}B" if figure >= 100 else f"{figure:.3g} {suffix}B"


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole
    return "less than 1 %" if share < 1 else f"{share:.0f} %"


def _minute(text: str) -> str:
    return f"{text[:10]} {text[11:16]}"


def _day(text: str) -> str:
    return escape(text[:10]) if text else '<span class="soft">unknown</span>'
