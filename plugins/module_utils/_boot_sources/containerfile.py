"""The environment that a Containerfile gives an image, and the defaults in it; see `image.labels`.

Instructions begin a line, a backslash continues it, ``#`` begins a comment. Quotes are as in a shell. The image is
that of the last stage, with what the stages that it is built from give it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final, NamedTuple

from .image import labels

_INSTRUCTION: Final = re.compile(r"\s*([A-Za-z]+)\s+(.*)", re.DOTALL)


class ImageLabel(NamedTuple):
    """A label that CDI would give a volume, or one of the image, which CDI does not read.

    line: the number of the line, from 1. variable: the variable that becomes the label; "" for a label of the image.
    value: None if a build decides on it.
    """

    line: int
    variable: str
    label: str
    value: str | None


def image_labels(text: str) -> list[ImageLabel]:
    """The labels in the text of a Containerfile, in order."""
    found = []
    for first, instruction, lines in _image_instructions(text):
        if instruction not in ("ENV", "LABEL"):
            continue
        pairs = [(number, word) for number, line in enumerate(lines, first) for word in _split_words(line)]
        if pairs and "=" not in pairs[0][1]:
            # The older form has one variable: ENV name value
            pairs = [(pairs[0][0], f"{pairs[0][1]}={' '.join(word for _number, word in pairs[1:])}")]
        for number, pair in pairs:
            name, equals, value = pair.partition("=")
            known = None if "$" in value else value
            if equals and instruction == "ENV":
                found += [ImageLabel(number, name, label, known) for label in labels([pair])]
            elif equals:
                found.append(ImageLabel(number, "", name, known))
    return found


# The number of the first line, the name, and the lines without the name.
_Instruction = tuple[int, str, list[str]]


def _image_instructions(text: str) -> list[_Instruction]:
    """The instructions of the last stage and of the earlier stages that it is built from."""
    stages: dict[str, list[_Instruction]] = {}
    current: list[_Instruction] = []
    for first, lines in _instructions(text):
        match = _INSTRUCTION.match(lines[0])
        if match is None:
            continue
        name, lines = match[1].upper(), [match[2], *lines[1:]]
        if name != "FROM":
            current.append((first, name, lines))
            continue
        words = [word for line in lines for word in line.split() if not word.startswith("--")]
        current = list(stages.get(words[0].lower(), ())) if words else []
        if len(words) > 2:
            stages[words[2].lower()] = current
    return current


def _instructions(text: str) -> Iterator[tuple[int, list[str]]]:
    """The first line of each instruction, and its lines; a comment inside counts as an empty line."""
    lines: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = "" if raw.lstrip().startswith("#") else raw.rstrip()
        is_open = line.endswith("\\") or (bool(lines) and not line)
        lines.append(line.removesuffix("\\"))
        if not is_open:
            yield number - len(lines) + 1, lines
            lines = []
    if lines:
        yield number - len(lines) + 1, lines


def _split_words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        # A quote ends in a later line, which no name does.
        return line.split()
