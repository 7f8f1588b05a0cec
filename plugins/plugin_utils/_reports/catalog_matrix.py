"""The compatibility matrix of a catalog: a table in Markdown, a picture, and a page with the picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import Any, Final, NamedTuple, Protocol

from markupsafe import Markup

from ...module_utils._matrix.matrix import LEGEND, Matrix, label, unsatisfied
from ...module_utils._resolver.api.state import ACTIVE
from .html_pages import render

Facts = dict[str, Any]

# Lengths in pixels at 100 %.
_CELL: Final = 17
_GAP: Final = 7
_LETTER: Final = 6.4
_FIGURES: Final = 96
_TOTAL: Final = 34
# The width below which a picture scrolls instead of becoming smaller.
_READABLE: Final = 960

# Most pairs fit and are pale, so that the others stand out. Letters say the same to people who see no colours.
_COLOURS: Final = """
:root{color-scheme:light dark;--ink:#1d2530;--soft:#5b6675;--line:#9aa5b4;--page:#fff;--row:#e8edf3;--fit:#cde7da}
@media screen and (prefers-color-scheme:dark){
:root{--ink:#e6e9ec;--soft:#9aa4ae;--line:#5b6675;--page:#15191d;--row:#2a323b;--fit:#25523c}}
:root{--few:#f4c04e;--few-ink:#3d2a00;--little:#8fb4f0;--little-ink:#0d2a5c;--both:#c583b8;--both-ink:#2f0526;
--uneven:#ea7f69;--uneven-ink:#3f0a00}
"""
# Action of a limit for an object that it does not permit → sign and colour name.
_ACTIONS: Final = {"deny": ("x", "uneven"), "warn": ("!", "few"), "audit": ("·", "little")}
# Sign → colour name.
_SIGNS: Final = {"c": "few", "m": "little", "b": "both", "s": "uneven"}

_STYLE: Final = (
    _COLOURS
    + """
text{font:11px system-ui,"DejaVu Sans",sans-serif;fill:var(--ink)}
.s{font-size:10px;text-anchor:middle;font-weight:600}
.t{font-size:8.5px;text-anchor:middle}.r{text-anchor:end}.q{fill:var(--soft)}.g{font-weight:700;font-size:12px}
.o:hover .n{font-weight:700}.o:hover .h{fill:var(--row)}.h,.p{fill:var(--page)}.l{fill:var(--line)}
.f{fill:var(--fit)}.deprecated{fill:var(--soft)}.obsolete{fill:var(--soft);text-decoration:line-through}
"""
    + "".join(f".{name}{{fill:var(--{name})}}.{name}-ink{{fill:var(--{name}-ink)}}\n" for name in _SIGNS.values())
)


class ShownLimit(Protocol):
    """A limit for the VMs of some namespaces."""

    @property
    def name(self) -> str:
        """The name of the limit."""

    @property
    def where(self) -> str:
        """The namespaces in words."""

    @property
    def sizes(self) -> str:
        """Limits of sizes in words."""

    @property
    def action(self) -> str:
        """A key of _ACTIONS."""

    def permits(self, kind: str, name: str) -> bool:
        """Whether VMs may use an instancetype or preference."""


class _Axis(NamedTuple):
    """The places of grouped entries along one side of a table.

    starts: the offset of each entry, with a gap before each group.

    groups: (name, offset, length). length: the total.
    """

    starts: list[float]
    groups: list[tuple[str, float, float]]
    length: float


def svg(matrix: Matrix, title: str, limits: Sequence[ShownLimit] = ()) -> str:
    """The picture: instancetypes as rows, preferences as columns. Every cell has a title in words.

    limits: the limits of namespaces. Each is a column beside the names and a row below, for what it permits there.
    """
    rows = _axis([facts["series"] for facts in matrix.instancetypes])
    columns = _axis([facts["os"] for facts in matrix.preferences])
    names = max((len(label(facts)) for facts in matrix.instancetypes), default=0) * _LETTER
    figures = 8 + names + _FIGURES
    longest = max((len(limit.name) for limit in limits), default=0) * _LETTER
    left = max(figures + (len(limits) * _CELL + _GAP if limits else 0), 16 + longest)
    heads = [*map(label, matrix.preferences), *(limit.name for limit in limits)]
    heights = max(map(len, heads), default=0) * _LETTER
    # Above the columns: the operating systems; below: the requirements.
    top = 48 + heights + 2 * _CELL
    width, height = left + columns.length + _TOTAL + 60, top + rows.length + (2 + len(limits)) * _CELL + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}" style="--least:{min(width, _READABLE):.0f}px" role="img"'
        f' aria-label="{escape(title)}">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{width:.0f}" height="{height:.0f}" class="p"/>',
        *_column_heads(matrix, columns, left, top),
        *_rows(matrix, rows, columns, figures, left, top),
        *_column_totals(matrix, columns, left, top + rows.length + 16),
        *(
            part
            for index, limit in enumerate(limits)
            for part in _limit_column(limit, matrix, rows, figures + index * _CELL, top)
        ),
        *_limit_rows(limits, matrix, columns, left, top + rows.length + 16 + _GAP),
        "</svg>",
    ]
    return "\n".join(parts)


def html(matrix: Matrix, title: str, limits: Sequence[ShownLimit] = (), capacity: Sequence[Facts] = ()) -> str:
    """A page with the picture, its legend and the counts.

    limits: the limits of namespaces. capacity: `instancetypes` of capacity_info; marks each instancetype that a node of
    the cluster can run; optional.
    """
    legend = [{"sign": sign, "colour": name, "means": LEGEND[sign]} for sign, name in _SIGNS.items()]
    return render(
        "catalog",
        title=title,
        matrix=matrix,
        unsatisfied=unsatisfied(matrix),
        shown=[
            facts
            for facts in (*matrix.instancetypes, *matrix.preferences)
            if any(facts[name] for name in ("icon", "tags", "docs_url", "support_url"))
        ],
        fitting=sum(not cell.sign for cells in matrix.cells for cell in cells),
        legend=legend,
        actions=[{"action": action, "sign": sign, "colour": name} for action, (sign, name) in _ACTIONS.items()],
        limits=[_limit(limit, matrix) for limit in limits],
        picture=Markup(svg(matrix, title, limits)),
        capacity=capacity,
    )


def markdown(matrix: Matrix, title: str, limits: Sequence[ShownLimit] = ()) -> str:
    """A table with a row for each instancetype and a column for each limit, the legend, and what is wrong."""
    head = ["instancetype", "vCPUs", "memory", *map(label, matrix.preferences), *(limit.name for limit in limits)]
    lines = [f"# {title}", "", _row(head), _row(["---"] * len(head))]
    needs = [_needs(facts) for facts in matrix.preferences]
    lines.append(_row(["*needs*", "", "", *needs, *(limit.where for limit in limits)]))
    for facts, cells in zip(matrix.instancetypes, matrix.cells):
        signs = [cell.sign or "✓" for cell in cells]
        permitted = ["✓" if _permits(limit, facts) else limit.action for limit in limits]
        lines.append(_row([label(facts), str(facts["vcpus"]), facts["memory"], *signs, *permitted]))
    legend = ", ".join(f"`{sign}` {text}" for sign, text in LEGEND.items())
    lines += ["", f"`✓` satisfies the preference, {legend}.", *_deprecations(matrix), ""]
    if names := unsatisfied(matrix):
        lines += [f"No instancetype satisfies: {', '.join(names)}.", ""]
    if matrix.wrong_labels:
        lines += ["## Labels that differ from the spec", ""]
        for wrong in matrix.wrong_labels:
            actual = wrong["actual"] or "not set"
            mismatch = f"{wrong['label']} is {wrong['value']}, {wrong['field']} is {actual}"
            lines.append(f"- {wrong['kind']} {wrong['name']}: {mismatch}")
        lines.append("")
    return "\n".join(lines)


def _deprecations(matrix: Matrix) -> list[str]:
    """The table of deprecated and obsolete objects."""
    if not matrix.deprecated_objects:
        return []
    fields = ("name", "kind", "state", "replacement", "obsolete_from")
    head = ["deprecated or obsolete", "kind", "state", "replacement", "obsolete from"]
    rows = [_row([label(state), *(state[field] for field in fields[1:])]) for state in matrix.deprecated_objects]
    return ["", _row(head), _row(["---"] * len(head)), *rows]


def _axis(groups: Sequence[str]) -> _Axis:
    starts: list[float] = []
    spans: list[tuple[str, float, float]] = []
    offset = 0.0
    for name, members in groupby(groups):
        begin = offset + (_GAP if spans else 0)
        starts += [begin + index * _CELL for index, _member in enumerate(members)]
        offset = starts[-1] + _CELL
        spans.append((name, begin, offset - begin))
    return _Axis(starts, spans, offset)


def _column_heads(matrix: Matrix, columns: _Axis, left: float, top: float) -> list[str]:
    parts = []
    for name, begin, length in columns.groups:
        # A name wider than its group would overlap the next name.
        if name and len(name) * 7.4 <= length + _GAP:
            parts.append(f'<text class="g" x="{left + begin:.0f}" y="20">{escape(name)}</text>')
        parts.append(f'<rect x="{left + begin:.0f}" y="26" width="{length:.0f}" height="2" class="l"/>')
    for what, row in (("vCPUs needed", 2), ("GiB needed", 1)):
        parts.append(f'<text class="r q" x="{left - 8:.0f}" y="{top - row * _CELL + 9:.0f}">{what}</text>')
    for facts, start in zip(matrix.preferences, columns.starts):
        x = left + start + _CELL / 2
        y = top - 2 * _CELL - 8
        parts.append(
            f'<text{_classes(facts)} transform="translate({x + 4:.1f} {y:.0f}) rotate(-90)">'
            f"{escape(label(facts))}<title>{escape(_preference(facts))}</title></text>"
        )
        for value, row in ((facts["vcpus"], 2), (_gib(facts), 1)):
            if value:
                parts.append(f'<text class="t q" x="{x:.1f}" y="{top - row * _CELL + 9:.0f}">{value}</text>')
    return parts


def _rows(matrix: Matrix, rows: _Axis, columns: _Axis, figures: float, left: float, top: float) -> list[str]:
    parts = []
    preferences = [label(facts) for facts in matrix.preferences]
    for facts, cells, start in zip(matrix.instancetypes, matrix.cells, rows.starts):
        y = top + start
        base = y + _CELL - 5
        shade = f'<rect class="h" x="0" y="{y:.0f}" width="{left + columns.length + 60:.0f}" height="{_CELL}"/>'
        head = f'<text{_classes(facts, "n")} x="8" y="{base:.0f}">{escape(label(facts))}</text>'
        parts.append(f'<g class="o">{shade}{head}')
        parts.append(f'<text class="r q" x="{figures - 56:.0f}" y="{base:.0f}">{facts["vcpus"]}</text>')
        parts.append(f'<text class="r q" x="{figures - 8:.0f}" y="{base:.0f}">{escape(facts["memory"])}</text>')
        for name, cell, begin in zip(preferences, cells, columns.starts):
            colour = _SIGNS[cell.sign] if cell.sign else "f"
            words = "; ".join(cell.reasons) or "fits"
            parts += _cell(left + begin, y, cell.sign, colour, f"{label(facts)} and {name}: {words}")
        fitting = sum(not cell.sign for cell in cells)
        parts.append(f'<text class="q" x="{left + columns.length + 8:.0f}" y="{base:.0f}">{fitting}</text></g>')
    return parts


def _column_totals(matrix: Matrix, columns: _Axis, left: float, y: float) -> list[str]:
    parts = [f'<text class="r q" x="{left - 8:.0f}" y="{y:.0f}">instancetypes that fit</text>']
    for index, start in enumerate(columns.starts):
        fitting = sum(not cells[index].sign for cells in matrix.cells)
        parts.append(f'<text class="t q" x="{left + start + (_CELL - 1) / 2:.1f}" y="{y:.0f}">{fitting}</text>')
    return parts


def _classes(facts: Facts, *classes: str) -> str:
    """The attribute of an object's name. Data of an older collection has no state."""
    state = facts.get("state", ACTIVE)
    names = classes if state == ACTIVE else (*classes, state)
    return f' class="{escape(" ".join(names))}"' if names else ""


def _limit_column(limit: ShownLimit, matrix: Matrix, rows: _Axis, x: float, top: float) -> list[str]:
    """The instancetypes that a limit permits."""
    head = f'<text transform="translate({x + _CELL / 2 + 4:.1f} {top - 2 * _CELL - 8:.0f}) rotate(-90)">'
    parts = [f"{head}{escape(limit.name)}<title>{escape(limit.where)}</title></text>"]
    for facts, start in zip(matrix.instancetypes, rows.starts):
        parts += _limit_cell(limit, facts, x, top + start)
    return parts


def _limit_rows(limits: Sequence[ShownLimit], matrix: Matrix, columns: _Axis, left: float, y: float) -> list[str]:
    """The preferences that limits permit."""
    parts = []
    for index, limit in enumerate(limits):
        row = y + index * _CELL
        parts.append(
            f'<text class="r q" x="{left - 8:.0f}" y="{row + _CELL - 5:.0f}">{escape(limit.name)}'
            f"<title>{escape(limit.where)}</title></text>"
        )
        for facts, start in zip(matrix.preferences, columns.starts):
            parts += _limit_cell(limit, facts, left + start, row)
    return parts


def _limit_cell(limit: ShownLimit, facts: Facts, x: float, y: float) -> list[str]:
    permitted = _permits(limit, facts)
    sign, colour = ("", "f") if permitted else _ACTIONS[limit.action]
    words = "permitted" if permitted else f"not permitted ({limit.action})"
    return _cell(x, y, sign, colour, f"{label(facts)} in {limit.where}: {words}")


def _cell(x: float, y: float, sign: str, colour: str, words: str) -> list[str]:
    """A square with its sign, and its title in words."""
    parts = [
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{_CELL - 1}" height="{_CELL - 1}" class="{colour}">'
        f"<title>{escape(words)}</title></rect>"
    ]
    if sign:
        parts.append(
            f'<text class="s {colour}-ink" x="{x + (_CELL - 1) / 2:.1f}" y="{y + _CELL - 5:.0f}"'
            f' pointer-events="none">{sign}</text>'
        )
    return parts


def _limit(limit: ShownLimit, matrix: Matrix) -> dict[str, Any]:
    """A limit in words."""
    counts = [
        f"{sum(_permits(limit, facts) for facts in group)} of {len(group)} {what}"
        for what, group in (("instancetypes", matrix.instancetypes), ("preferences", matrix.preferences))
    ]
    return {
        "name": limit.name,
        "where": limit.where,
        "action": limit.action,
        "sizes": limit.sizes,
        "permits": ", ".join(counts),
    }


def _permits(limit: ShownLimit, facts: Facts) -> bool:
    return limit.permits(facts["kind"], facts["name"])


def _preference(facts: Facts) -> str:
    needs = [f"{facts['vcpus']} vCPUs" if facts["vcpus"] else "", facts["memory"] if facts["memory_bytes"] else ""]
    return f"{label(facts)}: needs {' and '.join(filter(None, needs)) or 'nothing'}; topology {facts['topology']}"


def _gib(facts: Facts) -> str:
    """GiB with at most two decimals and without trailing zeros; "" for none."""
    if not facts["memory_bytes"]:
        return ""
    return f"{facts['memory_bytes'] / 2**30:.2f}".rstrip("0").rstrip(".").lstrip("0")


def _needs(facts: Facts) -> str:
    return " ".join(filter(None, (str(facts["vcpus"] or ""), facts["memory"] if facts["memory_bytes"] else "")))


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
