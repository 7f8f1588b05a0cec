"""Records the demo: `python tools/record_demo.py [OPTIONS OF ansible-playbook]`.

Runs the playbook `demo` and writes what the terminal shows, in its colours and at the pace of the run, with pauses cut
short: docs/images/demo.svg, a moving picture that needs no script and no font, of which readers who prefer no motion
see the end; and docs/images/demo.cast for asciinema, whose text can be paused and copied.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parent.parent
PICTURE = CHECKOUT / "docs" / "images" / "demo.svg"
CAST = PICTURE.with_suffix(".cast")
BIN = Path(sys.executable).parent

COLUMNS, ROWS, LINE, CHARACTER = 110, 30, 18, 7.83
LONGEST_PAUSE, END = 0.8, 6.0
# ANSI's colours → those of the picture.
COLOURS = {"31": "#f47067", "32": "#6bc46d", "33": "#daaa3f", "34": "#6cb6ff", "35": "#dcbdfb", "36": "#56d4dd"}
STYLE = """\
text{font:13px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#adbac7;white-space:pre}
.l{opacity:0;animation:show 0s linear forwards}@keyframes show{to{opacity:1}}
@media (prefers-reduced-motion:reduce){.l{opacity:1;animation:none}.s{animation:none}}
.b{fill:var(--page);stroke:var(--page)}:root{--page:#22272e}
@media (prefers-color-scheme: dark){.b{stroke:#444c56}}
"""


class Line(NamedTuple):
    """seconds: when it appears. parts: text with its colour, "" for the terminal's own."""

    seconds: float
    parts: list[tuple[str, str]]


def main(arguments: list[str]) -> int:
    command = [str(BIN / "ansible-playbook"), "virtshape.instancetypes.demo", *arguments]
    environment = {**os.environ, "ANSIBLE_FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "LC_ALL": "C.UTF-8"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as run:
        lines = list(recorded(run))
    if run.returncode:
        return run.returncode
    PICTURE.write_text(picture(lines), encoding="utf-8")
    CAST.write_text(cast(lines), encoding="utf-8")
    return 0


def recorded(run: subprocess.Popen[str]) -> Iterator[Line]:
    """The lines as they come, beginning with the command. Paths of this machine are left out."""
    assert run.stdout
    yield Line(0, [("$ make demo", "")])
    shown, last = 0.0, time.monotonic()
    for text in run.stdout:
        print(text, end="")
        now = time.monotonic()
        shown, last = shown + min(now - last, LONGEST_PAUSE), now
        if _plain(text).startswith("included: "):
            continue
        text = text.rstrip("\n").replace(str(CHECKOUT), ".").replace(str(Path.home()), "~")
        for start in range(0, max(1, len(_plain(text))), COLUMNS):
            yield Line(shown, list(_cut(_coloured(text), start, start + COLUMNS)))


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _coloured(text: str) -> Iterator[tuple[str, str]]:
    colour = ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        if part.startswith("\x1b"):
            colour = COLOURS.get(part[2:-1].rpartition(";")[2], "")
        elif part:
            yield part, colour


def _cut(parts: Iterator[tuple[str, str]], start: int, end: int) -> Iterator[tuple[str, str]]:
    place = 0
    for text, colour in parts:
        piece = text[max(0, start - place) : max(0, end - place)]
        place += len(text)
        if piece:
            yield piece, colour


def cast(lines: list[Line]) -> str:
    """The recording in the format of asciinema, version 2."""
    codes = {colour: f"\x1b[{code}m" for code, colour in COLOURS.items()}
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "make demo"}
    events = [
        [
            round(line.seconds, 3),
            "o",
            "".join(f"{codes[colour]}{text}\x1b[0m" if colour else text for text, colour in line.parts) + "\r\n",
        ]
        for line in lines
    ]
    return "".join(f"{json.dumps(entry, ensure_ascii=False)}\n" for entry in (header, *events))


def picture(lines: list[Line]) -> str:
    width, height = round(COLUMNS * CHARACTER) + 24, ROWS * LINE + 24
    seconds = lines[-1].seconds + END
    rows = "".join(_row(number, line) for number, line in enumerate(lines))
    # The text moves up by whole lines once the window is full.
    steps = "".join(
        f"{100 * line.seconds / seconds:.2f}%{{transform:translateY(-{(number + 1 - ROWS) * LINE}px)}}"
        for number, line in enumerate(lines)
        if number >= ROWS and (number + 1 == len(lines) or lines[number + 1].seconds > line.seconds)
    )
    above = max(0, len(lines) - ROWS) * LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'role="img" aria-labelledby="title desc"><title id="title">The demo in a terminal</title>'
        '<desc id="desc">make demo starts a cluster, deploys a catalog, creates VMs, changes an instancetype, shows '
        f"the drift, refreshes a VM and ends with a summary.</desc><style>{STYLE}"
        f".s{{transform:translateY(-{above}px);animation:scroll {seconds:.2f}s step-end}}"
        f"@keyframes scroll{{0%{{transform:none}}{steps}}}</style>"
        f'<clipPath id="window"><rect x="0" y="12" width="{width}" height="{ROWS * LINE}"/></clipPath>'
        f'<rect class="b" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>'
        f'<g clip-path="url(#window)"><g class="s">{rows}</g></g></svg>\n'
    )


def _row(number: int, line: Line) -> str:
    spans = "".join(
        f'<tspan fill="{colour}">{escape(text)}</tspan>' if colour else escape(text) for text, colour in line.parts
    )
    place = f'x="12" y="{12 + LINE * number + 14}" xml:space="preserve"'
    return f'<text class="l" style="animation-delay:{line.seconds:.2f}s" {place}>{spans}</text>\n' if spans else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
