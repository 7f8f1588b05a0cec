"""Makes YAML of the texts that a templating engine fills in: Jinja, Go's templates (Helm) and their relatives.

Words stand for placeholders. The contents of conditions and loops are left out in one run of the check and not in the
other; the other alternatives of a condition are always left out. All lines keep their numbers.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .placeholders import MANY, Placeholders, with_defaults

_TAG: Final = re.compile(r"\{#.*?#\}|\{\{-?\s*/\*.*?\*/\s*-?\}\}|\{%[-+]?(.*?)[-+]?%\}|\{\{-?(.*?)-?\}\}", re.DOTALL)
_WORDS: Final = re.compile(r"[a-z_]+")
# Jinja has variables and functions of these names.
_GO: Final = re.compile(r"(if|range|with|block|define)(?=\s+\S)|(else|end|break|continue)(?=\s|$)")
_OPENING: Final = ("if", "range", "for", "with", "block", "filter", "call", "raw", "autoescape", "trans")
# The contents of these are used elsewhere, or nowhere.
_ELSEWHERE: Final = ("define", "macro", "comment")
_ALWAYS: Final = ("block", "filter", "call", "raw", "autoescape", "trans")
_ALTERNATIVES: Final = ("else", "elif", "elseif")
_NOTHING: Final = "nothing"
_ASSIGNMENT: Final = re.compile(r"\$\w+\s*:?=")
_OBJECT: Final = re.compile(r"^\s*(?:- )?(?:apiVersion|kind):", re.MULTILINE)
_INDENTED: Final = re.compile(r"\bn?indent\s*\(?\s*(\d+)")
_ALONE: Final = re.compile(r"^([ \t]*)(unknown\d+x)[ \t]*$", re.MULTILINE)
_PERCENT_DIRECTIVES: Final = re.compile(r"^\s*%\{.*\}\s*$", re.MULTILINE)


class _Part(NamedTuple):
    """A part of a text: what is between tags, or a tag. word: the first word of a tag, "" for other parts."""

    text: str
    word: str = ""
    is_value: bool = False


def as_yaml(text: str, placeholders: Placeholders) -> str:
    """The text for a run of the check, with words for placeholders."""
    text = with_defaults(_PERCENT_DIRECTIVES.sub("", text))
    text = _without_tags(_parts(text), placeholders)
    text = "\n".join(
        line if line.lstrip().startswith("#") else placeholders.hidden_text(line) for line in text.split("\n")
    )
    return _with_keys(text)


def _parts(text: str) -> list[_Part]:
    parts, end = [], 0
    for match in _TAG.finditer(text):
        parts.append(_Part(text[end : match.start()]))
        statement, output = match[1], match[2]
        if statement is not None:
            found = _WORDS.match(statement.strip())
            word = found[0] if found else _NOTHING
            parts.append(_Part(match[0], word, word == "include"))
        elif output is not None:
            inside = output.strip()
            found = _GO.match(inside)
            word = found[0] if found else _NOTHING if _ASSIGNMENT.match(inside) else ""
            parts.append(_Part(match[0], word, not word))
        else:
            parts.append(_Part(match[0], _NOTHING))
        end = match.end()
    return [*parts, _Part(text[end:])]


def _without_tags(parts: list[_Part], placeholders: Placeholders) -> str:
    """The text without blocks that this run leaves out, and with words for values."""
    result: list[str] = []
    # The open blocks: whether their contents stay.
    blocks: list[bool] = []
    lost = 0
    for index, part in enumerate(parts):
        kept = all(blocks)
        if part.is_value:
            if kept:
                result.append(_value(part.text, "".join(result[-3:]), placeholders))
            lost += part.text.count("\n")
        elif part.word:
            lost += part.text.count("\n")
            if part.word in _OPENING or part.word in _ELSEWHERE:
                blocks.append(_stays(parts, index, placeholders.run))
            elif part.word in _ALTERNATIVES and blocks:
                blocks[-1] = False
            elif part.word.startswith("end") and part.word != "endset" and blocks:
                blocks.pop()
        else:
            text = part.text if kept else "\n" * part.text.count("\n")
            if lost and "\n" in text:
                first, _newline, rest = text.partition("\n")
                text, lost = f"{first}{chr(10) * (lost + 1)}{rest}", 0
            result.append(text)
    return "".join(result)


def _stays(parts: list[_Part], index: int, run: int) -> bool:
    """Whether the contents of a block stay: always if whole objects are in it."""
    word = parts[index].word
    if word in _ELSEWHERE:
        return False
    return word in _ALWAYS or run == MANY or bool(_OBJECT.search(_body(parts, index)))


def _body(parts: list[_Part], index: int) -> str:
    """The text of a block until its end or its alternative."""
    depth, texts = 0, []
    for part in parts[index + 1 :]:
        if part.word in _OPENING or part.word in _ELSEWHERE:
            depth += 1
        elif part.word.startswith("end") and part.word != "endset":
            depth -= 1
        if depth < 0 or (depth == 0 and part.word in _ALTERNATIVES):
            break
        texts.append("" if part.word else part.text)
    return "".join(texts)


def _value(tag: str, before: str, placeholders: Placeholders) -> str:
    """The word for a tag, on a line of its own where the engine would indent it."""
    word = placeholders.word(" ".join(tag.split()))
    indented = _INDENTED.search(tag)
    line = before.rpartition("\n")[2]
    if indented is None or line.strip():
        return word
    return " " * (int(indented[1]) - len(line)) + word


def _with_keys(text: str) -> str:
    """The text with words that are alone in their line as entries of the mapping or list around them."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        alone = _ALONE.fullmatch(line)
        if alone is not None:
            is_list = _is_in_list(lines, number, len(alone[1]))
            lines[number] = f"{alone[1]}- {alone[2]}" if is_list else f"{alone[1]}{alone[2]}: {alone[2]}"
    return "\n".join(lines)


def _is_in_list(lines: list[str], number: int, indent: int) -> bool:
    """Whether the entries beside a line belong to a list."""
    for others in (reversed(lines[:number]), lines[number + 1 :]):
        for line in others:
            stripped = line.lstrip()
            if not stripped or stripped.startswith("#"):
                continue
            own = len(line) - len(stripped)
            if own <= indent:
                if own == indent:
                    return stripped.startswith("- ")
                break
    return False
