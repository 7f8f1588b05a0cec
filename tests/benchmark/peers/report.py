"""Tables and pictures of what `run.py` measured: ``report.py [FILE] [--pictures FOLDER]``; prints Markdown."""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from contestants import ALL, NOTHING, OURS, PHASES

DOCS = Path(__file__).resolve().parents[3] / "docs" / "benchmarks"
TITLES = {"create": "create", "again": "run again", "label": "one label on all", "delete": "delete"}
SERVERS = {"webhooks": "with KubeVirt's webhooks", "stores": "an API server that only stores"}
STYLE = """
text { font: 12px sans-serif; fill: #24292f } .bar { fill: #8c959f } .ours { fill: #0969da } .axis { stroke: #d0d7de }
@media (prefers-color-scheme: dark) {
  text { fill: #c9d1d9 } .bar { fill: #6e7681 } .ours { fill: #58a6ff } .axis { stroke: #30363d } }
"""

Row = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, nargs="?", default=DOCS / "peers.json")
    parser.add_argument("--pictures", type=Path, default=DOCS)
    options = parser.parse_args()
    rows: list[Row] = json.loads(options.file.read_text())["rows"]
    timed = [row for row in rows if not row["counted"]]
    for server in SERVERS:
        for size in sorted({row["vms"] for row in timed if row["server"] == server}):
            here = [row for row in timed if row["server"] == server and row["vms"] == size]
            print(f"\n**{size:,} VMs, {SERVERS[server]}**\n")
            print("\n".join(times(here)))
            picture = options.pictures / f"peers-{server}-{size}.svg"
            picture.write_text(
                bars(here, f"{size:,} VMs, {SERVERS[server]}: seconds, each step ten times the one before")
            )
    print("\n**Requests, and writes among them**\n")
    print("\n".join(requests([row for row in rows if row["counted"] and row["server"] == "webhooks"])))
    print("\n**Peak memory in MiB: ansible-playbook's process and the largest module process**\n")
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
            cell = f"{statistics.median(seconds):.1f} s"
            if len(seconds) > 1:
                cell += f" ({min(seconds):.1f} to {max(seconds):.1f})"
            if contestant is not OURS:
                cell += f", x{ratio(rows, contestant.name, phase):.1f}"
            cells.append(cell)
        if any(cells):
            yield f"| {contestant.name} |" + "".join(f" {cell} |" for cell in cells)


def walls(rows: list[Row], name: str, phase: str) -> list[float]:
    return [row["wall"] for row in rows if row["contestant"] == name and row["phase"] == phase]


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
            found = {r["phase"]: r for r in rows if r["contestant"] == contestant.name and r["vms"] == size}
            if found and contestant is not NOTHING:
                cells = [f"{found[phase]['requests']:,}, {found[phase]['writes']:,}" for phase in PHASES]
                yield f"| {contestant.name} | {size:,} |" + "".join(f" {cell} |" for cell in cells)


def memory(rows: list[Row]) -> Iterable[str]:
    sizes = sorted({row["vms"] for row in rows})
    yield "| |" + "".join(f" {size:,} VMs |" for size in sizes)
    yield "|---|" + "--:|" * len(sizes)
    for contestant in ALL:
        cells = []
        for size in sizes:
            found = [row for row in rows if row["contestant"] == contestant.name and row["vms"] == size]
            module = max((row["module"] for row in found), default=0)
            controller = max((row["controller"] for row in found), default=0)
            cells.append(f"{controller:.0f} + {module:.0f}" if module else f"{controller:.0f}" if controller else "")
        yield f"| {contestant.name} |" + "".join(f" {cell} |" for cell in cells)


def bars(rows: list[Row], title: str) -> str:
    """A picture of the medians on a logarithmic scale, in groups by phase."""
    left, width, height, gap = 210, 560, 15, 14
    medians = {
        (phase, one.name): statistics.median(found)
        for phase in PHASES
        for one in ALL
        if one is not NOTHING and (found := walls(rows, one.name, phase))
    }
    low = math.floor(math.log10(min(medians.values())))
    high = math.ceil(math.log10(max(medians.values())))

    def x(seconds: float) -> float:
        return left + width * (math.log10(seconds) - low) / (high - low)

    parts, y = [], 50
    for phase in PHASES:
        parts.append(f'<text x="8" y="{y + 12}" font-weight="bold">{escape(TITLES[phase])}</text>')
        for name in [one.name for one in ALL if (phase, one.name) in medians]:
            seconds = medians[phase, name]
            look = "ours" if name == OURS.name else "bar"
            parts.append(f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{escape(name)}</text>')
            parts.append(
                f'<rect class="{look}" x="{left}" y="{y}" width="{x(seconds) - left:.1f}" height="{height - 3}"/>'
            )
            parts.append(f'<text x="{x(seconds) + 5:.1f}" y="{y + 11}">{seconds:.1f} s</text>')
            y += height
        y += gap
    axis = [
        f'<line class="axis" x1="{x(10.0**power):.1f}" x2="{x(10.0**power):.1f}" y1="40" y2="{y}"/>'
        f'<text x="{x(10.0**power):.1f}" y="36" text-anchor="middle">{10.0**power:g}</text>'
        for power in range(low, high + 1)
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 70} {y + 4}" role="img">'
    text = [head, f"<title>{escape(title)}</title><style>{STYLE}</style>", f'<text x="8" y="16">{escape(title)}</text>']
    return "\n".join([*text, *axis, *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
