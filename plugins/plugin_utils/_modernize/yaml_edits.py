"""Changes a mapping in the text of a YAML file; comments and all other lines stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import yaml

from ...module_utils._yaml.scalars import NOT_TEXT, NOT_TEXT_STARTS, Scalars, ansible, kubernetes

# The C parser is ten times as fast, and available on nearly all machines.
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVER: Final[Any] = _LOADER("")
_STARTS: Final = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_ENDS: Final = re.compile(r"^\.\.\.(?=\s|$)", re.MULTILINE)
# A line that belongs to a document: neither empty, nor a comment, nor a directive.
_CONTENT: Final = re.compile(r"^(?![#%]|\s*(#|$))", re.MULTILINE)
_STEP: Final = 2
_WIDE: Final = 1 << 20


class EditError(Exception):
    """The mapping cannot be changed in the text; one line with the reason."""


class _Edit(NamedTuple):
    """A part of a text that gets another one."""

    start: int
    end: int
    text: str


_GONE: Final = object()


class _Entry(NamedTuple):
    """An entry of a mapping or a list. key: None in a list. new: its new value, or _GONE."""

    key: Any
    value: Any
    new: Any

    @property
    def start(self) -> int:
        return int((self.key or self.value).start_mark.index)

    @property
    def end(self) -> int:
        return _end(self.value)


def edited(text: str, document: int, path: Sequence[str | int], new: Mapping[str, Any]) -> str:
    """The text with another mapping at a place.

    document: its index in the text. path: keys and indexes of the mapping in it. Raises EditError.
    """
    start, end, index = _bounds(text, document)
    return text[:start] + _edited(text[start:end], index, path, new) + text[end:]


def _bounds(text: str, document: int) -> tuple[int, int, int]:
    """The start and end of the text that has a document, and the index of the document in this text.

    That text is the document alone where possible, because long files have hundreds of documents.
    """
    starts = [start.start() for start in _STARTS.finditer(text)]
    if _CONTENT.search(text, 0, starts[0] if starts else len(text)):
        starts.insert(0, 0)
    if _ENDS.search(text) or document >= len(starts):
        return 0, len(text), document
    return starts[document], [*starts, len(text)][document + 1], 0


def _edited(text: str, document: int, path: Sequence[str | int], new: Mapping[str, Any]) -> str:
    node = _found(text, document, path)
    start, end = node.start_mark.index, _end(node)
    events: Any = yaml.parse(text, Loader=_LOADER)
    for event in events:
        if getattr(event, "anchor", None) and start <= event.start_mark.index <= end:
            raise EditError(f"has the anchor or alias {event.anchor}, which stands for other lines")
    whole = [_Edit(start, end, _flow(new))]
    result = text
    for edit in sorted(_edits(text, node, new) if _has_common_entries(node, new) else whole, reverse=True):
        result = result[: edit.start] + edit.text + result[edit.end :]
    try:
        same = _plain(_found(result, document, path)) == new
    except (yaml.YAMLError, EditError, ValueError):
        same = False
    if not same:
        raise EditError("is written in a way that cannot be changed in its place")
    return result


class _Dumper(yaml.SafeDumper):
    """Quotes texts that Kubernetes would not read as texts."""


_Dumper.add_implicit_resolver("tag:instancetypes.virtshape.io:not-text", NOT_TEXT, list(NOT_TEXT_STARTS))


def _found(text: str, document: int, path: Sequence[str | int]) -> Any:
    node: Any = list(yaml.compose_all(text, Loader=_LOADER))[document]
    keys = [key.value for key, _value in node.value] if isinstance(node, yaml.MappingNode) else []
    scalars = kubernetes if "apiVersion" in keys and "kind" in keys else ansible
    for step in path:
        if isinstance(node, yaml.SequenceNode):
            node = node.value[int(step)]
        else:
            node = next((value for key, value in node.value if key.value == step), None)
        if node is None:
            raise EditError(f"has its {step} from an alias, which stands for other lines")
    _read_scalars(node, scalars, set())
    return node


def _read_scalars(node: Any, scalars: Scalars, visited: set[int]) -> None:
    """Adds their values to the scalars in a node: kubectl reads manifests, and Ansible other documents."""
    if isinstance(node, yaml.ScalarNode):
        implicit = (not node.style, bool(node.style))
        usual = _RESOLVER.resolve(yaml.ScalarNode, node.value, implicit)
        tag = None if node.tag == usual else node.tag
        read: Any = node
        read.read = scalars(yaml.ScalarEvent(None, tag, implicit, node.value, node.start_mark, node.end_mark))
    elif id(node) not in visited:
        visited.add(id(node))
        for entry in node.value:
            for inside in entry if isinstance(entry, tuple) else (entry,):
                _read_scalars(inside, scalars, visited)


def _plain(node: Any) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return vars(node)["read"]
    if isinstance(node, yaml.SequenceNode):
        return [_plain(entry) for entry in node.value]
    return {key.value: _plain(value) for key, value in node.value}


def _end(node: Any) -> int:
    """The end of a node. A block collection ends with its last entry."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)


def _edits(text: str, node: Any, new: Any) -> Iterator[_Edit]:
    """The edits that make a mapping or a list the new one, entry by entry."""
    entries, added = _entries(node, new)
    for entry in entries:
        if entry.new is _GONE or _plain(entry.value) == entry.new:
            continue
        if _has_common_entries(entry.value, entry.new):
            yield from _edits(text, entry.value, entry.new)
        else:
            yield _replacement(text, entry)
    change = _flow_changes if node.flow_style else _block_changes
    yield from change(text, node, entries, added)


def _entries(node: Any, new: Any) -> tuple[list[_Entry], Any]:
    """The entries of a mapping or a list, and what the new one has besides."""
    if isinstance(node, yaml.MappingNode):
        old = {key.value for key, _value in node.value}
        entries = [_Entry(key, value, new.get(key.value, _GONE)) for key, value in node.value]
        return entries, {key: value for key, value in new.items() if key not in old}
    names = [_name(_plain(value)) for value in node.value]
    by_name = {_name(value): value for value in new}
    if None not in by_name and None not in names and len(by_name) == len(new) and len({*names}) == len(names):
        entries = [_Entry(None, value, by_name.get(name, _GONE)) for name, value in zip(names, node.value)]
        added = [value for value in new if _name(value) not in names]
    else:
        kept = new if len(new) == len(names) else [_GONE] * len(names)
        entries, added = [_Entry(None, value, entry) for value, entry in zip(node.value, kept)], []
    return entries, added


def _name(value: Any) -> Any:
    return value.get("name") if isinstance(value, Mapping) else None


def _has_common_entries(node: Any, new: Any) -> bool:
    kind = {"mapping": Mapping, "sequence": list}.get(node.id, ())
    return isinstance(new, kind) and any(entry.new is not _GONE for entry in _entries(node, new)[0])


def _replacement(text: str, entry: _Entry) -> _Edit:
    if entry.key is None:
        return _Edit(entry.start, entry.end, _flow(entry.new))
    colon = text.index(":", entry.key.end_mark.index) + 1
    return _Edit(colon, len(text[: entry.end].rstrip()), f" {_flow(entry.new)}")


def _block_changes(text: str, node: Any, entries: Sequence[_Entry], added: Any) -> Iterator[_Edit]:
    """Removes entries of a block, and adds others."""
    for index, entry in enumerate(entries):
        if entry.new is _GONE:
            yield _removal(text, entry, entries[index + 1] if index + 1 < len(entries) else None)
    if added:
        changed = (entry for entry in entries if entry.key and _plain(entry.value) != entry.new)
        yield _addition(text, node, next(changed, None), added)


def _flow_changes(text: str, node: Any, entries: Sequence[_Entry], added: Any) -> Iterator[_Edit]:
    """Removes entries between braces or brackets, and adds others behind the last one that stays."""
    last = max(index for index, entry in enumerate(entries) if entry.new is not _GONE)
    new = _flow(added)[1:-1] if added else ""
    has_last_comma = text[entries[-1].end : _end(node)].lstrip().startswith(",")
    for entry in entries if has_last_comma else entries[:last]:
        if entry.new is _GONE:
            yield _removal_of_flow(text, entry)
    if not has_last_comma:
        yield _Edit(entries[last].end, entries[-1].end, f", {new}" if new else "")
    elif new:
        start = text.index(",", entries[last].end) + 1
        if _has_own_lines(text, entries[last].start, start):
            indent = " " * (entries[last].start - _line_start(text, entries[last].start))
            yield _Edit(_line_end(text, start), _line_end(text, start), f"{indent}{new},{_newline(text)}")
        else:
            yield _Edit(start, start, f" {new},")


def _removal_of_flow(text: str, entry: _Entry) -> _Edit:
    """An entry with its comma: its lines, if nothing else is there."""
    end = text.index(",", entry.end) + 1
    if _has_own_lines(text, entry.start, end):
        return _Edit(_line_start(text, entry.start), _line_end(text, end), "")
    return _Edit(entry.start, len(text) - len(text[end:].lstrip(" ")), "")


def _has_own_lines(text: str, start: int, end: int) -> bool:
    """Whether nothing but a comment stands beside a part of the text."""
    return _begins_line(text, start) and not text[end : _line_end(text, end)].partition("#")[0].strip()


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    """The beginning of the next line."""
    return text.find("\n", index) + 1 or len(text)


def _begins_line(text: str, index: int, before: str = "") -> bool:
    return text[_line_start(text, index) : index].strip() == before


def _removal(text: str, entry: _Entry, following: _Entry | None) -> _Edit:
    """The lines of an entry, or what stands before the next key behind the hyphen of a list."""
    if not _begins_line(text, entry.start, "" if entry.key else "-"):
        return _Edit(entry.start, following.start if following is not None else entry.end, "")
    # A text in several lines ends behind its last line break.
    return _Edit(_line_start(text, entry.start), _line_end(text, len(text[: entry.end].rstrip())), "")


def _addition(text: str, node: Any, place: _Entry | None, added: Any) -> _Edit:
    """The lines of new entries, before the first one that changes."""
    newline = _newline(text)
    lines = yaml.dump(
        added, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDE, indent=_STEP
    ).splitlines()
    block = "".join(f"{' ' * node.start_mark.column}{line}{newline}" for line in lines)
    if place is not None and _begins_line(text, place.start):
        start = _line_start(text, place.start)
        return _Edit(start, start, block)
    end = _line_end(text, len(text[: _end(node)].rstrip()))
    return _Edit(end, end, block if text[:end].endswith("\n") else f"{newline}{block}")


def _dumped(value: Any, **options: Any) -> str:
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDE, **options))


def _flow(value: Any) -> str:
    text: str = yaml.dump(
        value, Dumper=_Dumper, default_flow_style=True, sort_keys=False, allow_unicode=True, width=_WIDE
    )
    return text.removesuffix("\n").removesuffix("\n...")
