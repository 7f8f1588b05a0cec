"""Tables and the picture of what the benchmarks measured: ``report.py [FILE] [--picture FILE]``; prints Markdown."""

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

sys.path.insert(0, str(Path(__file__).with_name("peers")))

from contestants import ALL, NOTHING, OURS, PHASES

DOCS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
TITLES = {"create": "create", "again": "run again", "label": "one label on all", "delete": "delete"}
MOST_WITH_WEBHOOKS = 1000
SERVERS = {
    "webhooks": "with KubeVirt's webhooks",
    "stores": "an API server that only stores",
    "given": "a cluster of your own",
}
STYLE = """
text { font: 12px sans-serif; fill: #24292f } .bar { fill: #8c959f } .ours { fill: #0969da } .axis { stroke: #d0d7de }
@media (prefers-color-scheme: dark) {
  text { fill: #c9d1d9 } .bar { fill: #6e7681 } .ours { fill: #58a6ff } .axis { stroke: #30363d } }
"""

HEADING = "Median seconds, on a logarithmic scale; shorter is better"
PANEL, WIDTH = 520, 250  # pixels: of a panel, and of its longest bar

Row = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, nargs="?", default=DOCS / "benchmarks.json")
    parser.add_argument("--picture", type=Path, default=DOCS / "benchmarks.svg")
    options = parser.parse_args()
    results = json.loads(options.file.read_text())
    for section in ("resolver", "local_cluster"):
        print(f"\n**{section}**\n\n{json.dumps(results.get(section), indent=1)}")
    rows: list[Row] = results["peers"]["rows"]
    for name, reason in results["peers"].get("left_out", {}).items():
        print(f"\n{name} is left out: {reason}")
    timed = [row for row in rows if not row["counted"]]
    panels = {}
    for server in SERVERS:
        for size in sorted({row["vms"] for row in timed if row["server"] == server}):
            here = [row for row in timed if row["server"] == server and row["vms"] == size]
            print(f"\n**{size:,} VMs, {SERVERS[server]}**\n")
            print("\n".join(times(here)))
            if server != "stores" or size > MOST_WITH_WEBHOOKS:
                panels[f"{size:,} VMs, {SERVERS[server]}"] = here
    options.picture.write_text(picture(panels))
    print("\n**Requests, and writes among them**\n")
    print("\n".join(requests([row for row in rows if row["counted"] and row["server"] == "webhooks"])))
    print("\n**Peak memory in MiB: ansible-playbook's process and the largest process below it**\n")
    print("\n".join(memory(timed)))
    return 0


def times(rows: list[Row]) -> Iterable[str]:
    """A line for each contestant: the median of seconds, its spread, and how many times ours that is."""
    yield "| |" + "".join(f" {TITLES[phase]} |" for phase in PHASES)
    yield "|---|" + "--:|" * len(PHASES)
    for contestant in ALL:
        cells = []
        for phase in PHASES:
            seconds = walls(rows, contestant.name, phase)
            if not seconds:
                cells.append("")
                continue
            more = "" if finished(rows, contestant.name, phase) else "> "
            cell = f"{more}{statistics.median(seconds):.1f} s"
            if len(seconds) > 1:
                cell += f" ({min(seconds):.1f} to {max(seconds):.1f})"
            if contestant is not OURS:
                cell += f", {more}x{ratio(rows, contestant.name, phase):.1f}"
            cells.append(cell)
        if any(cells):
            yield f"| {contestant.name} |" + "".join(f" {cell} |" for cell in cells)


def walls(rows: list[Row], name: str, phase: str) -> list[float]:
    return [row["wall"] for row in rows if row["contestant"] == name and row["phase"] == phase]


def finished(rows: list[Row], name: str, phase: str) -> bool:
    """Whether it was never stopped because it took too long."""
    return all(row.get("finished", True) for row in rows if row["contestant"] == name and row["phase"] == phase)


def ratio(rows: list[Row], name: str, phase: str) -> float:
    """The median over rounds of their seconds through ours in the same round."""
    ours = {row["round"]: row["wall"] for row in rows if row["contestant"] == OURS.name and row["phase"] == phase}
    theirs = {row["round"]: row["wall"] for row in rows if row["contestant"] == name and row["phase"] == phase}
    return statistics.median(theirs[number] / ours[number] for number in theirs)


def requests(rows: list[Row]) -> Iterable[str]:
    yield "| | VMs |" + "".join(f" {TITLES[phase]} |" for phase in PHASES)
    yield "|---|--:|" + "--:|" * len(PHASES)
    for contestant in ALL:
        for size in sorted({row["vms"] for row in rows}):
            result = {r["phase"]: r for r in rows if r["contestant"] == contestant.name and r["vms"] == size}
            if result and contestant is not NOTHING:
                cells = [f"{result[phase]['requests']:,}, {result[phase]['writes']:,}" for phase in PHASES]
                yield f"| {contestant.name} | {size:,} |" + "".join(f" {cell} |" for cell in cells)


def memory(rows: list[Row]) -> Iterable[str]:
    sizes = sorted({row["vms"] for row in rows})
    yield "| |" + "".join(f" {size:,} VMs |" for size in sizes)
    yield "|---|" + "--:|" * len(sizes)
    for contestant in ALL:
        cells = []
        for size in sizes:
            result = [row for row in rows if row["contestant"] == contestant.name and row["vms"] == size]
            module = max((row["module"] for row in result), default=0)
            controller = max((row["controller"] for row in result), default=0)
            cells.append(f"{controller:.0f} + {module:.0f}" if module else f"{controller:.0f}" if controller else "")
        yield f"| {contestant.name} |" + "".join(f" {cell} |" for cell in cells)


def picture(panels: dict[str, list[Row]]) -> str:
    """The medians of all panels (title → rows), two beside each other, on one logarithmic scale."""
    medians = {title: _medians(rows) for title, rows in panels.items()}
    seconds = [value for result in medians.values() for value, _more in result.values()]
    scale = Scale(math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds))))
    parts, top = [], 44
    titles = list(panels)
    for pair in (titles[at : at + 2] for at in range(0, len(titles), 2)):
        drawn = [_panel(title, medians[title], PANEL * column, top, scale) for column, title in enumerate(pair)]
        parts += [line for lines, _height in drawn for line in lines]
        top += max(height for _lines, height in drawn) + 24
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * PANEL} {top}" role="img">'
    text = f'<text x="8" y="18">{escape(HEADING)}</text>'
    return "\n".join([head, f"<title>{escape(HEADING)}</title><style>{STYLE}</style>", text, *parts, "</svg>"]) + "\n"


class Scale(NamedTuple):
    """low, high: powers of ten, in seconds."""

    low: int
    high: int

    def x(self, seconds: float) -> float:
        """The distance from the left end of the bars."""
        return WIDTH * (math.log10(seconds) - self.low) / (self.high - self.low)


def _medians(rows: list[Row]) -> dict[tuple[str, str], tuple[float, str]]:
    """The seconds by phase and contestant, with `> ` if a contestant was stopped after them."""
    return {
        (phase, item.name): (statistics.median(result), "" if finished(rows, item.name, phase) else "> ")
        for phase in PHASES
        for item in ALL
        if item is not NOTHING and (result := walls(rows, item.name, phase))
    }


def _panel(
    title: str, medians: dict[tuple[str, str], tuple[float, str]], left: int, top: int, scale: Scale
) -> tuple[list[str], int]:
    """The elements of a panel, and its height."""
    bars, y = left + PANEL - WIDTH - 60, top + 36
    parts = [f'<text x="{left + 8}" y="{top + 12}" font-weight="bold">{escape(title)}</text>']
    for phase in PHASES:
        parts.append(f'<text x="{left + 8}" y="{y + 11}">{escape(TITLES[phase])}</text>')
        for name in [item.name for item in ALL if (phase, item.name) in medians]:
            seconds, more = medians[phase, name]
            look, end = ("ours" if name == OURS.name else "bar"), scale.x(seconds)
            parts.append(f'<text x="{bars - 6}" y="{y + 11}" text-anchor="end">{escape(name)}</text>')
            parts.append(f'<rect class="{look}" x="{bars}" y="{y}" width="{end:.1f}" height="12"/>')
            parts.append(f'<text x="{bars + end + 4:.1f}" y="{y + 11}">{escape(more)}{seconds:.1f} s</text>')
            y += 15
        y += 10
    axis = []
    for power in range(scale.low, scale.high + 1):
        x = f"{bars + scale.x(10.0**power):.1f}"
        axis.append(f'<line class="axis" x1="{x}" x2="{x}" y1="{top + 30}" y2="{y - 8}"/>')
        axis.append(f'<text x="{x}" y="{top + 26}" text-anchor="middle">{10.0**power:g}</text>')
    return [*axis, *parts], y - top


if __name__ == "__main__":
    raise SystemExit(main())
