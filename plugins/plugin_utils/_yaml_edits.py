"""Changes a mapping in the text of a YAML file; comments and all other lines stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import yaml

_STEP: Final = 2
_WIDE: Final = 1 << 20


class EditError(Exception):
    """The mapping cannot be changed in the text; one line with the reason."""


class _Edit(NamedTuple):
    """A part of a text that gets another one."""

    start: int
    end: int
    text: str


def edited(text: str, document: int, path: Sequence[str | int], new: Mapping[str, Any]) -> str:
    """The text with another mapping at a place.

    document: its index in the text. path: keys and indexes of the mapping in it. Raises EditError.
    """
    node = _found(text, document, path)
    start, end = node.start_mark.index, _end(node)
    events: Any = yaml.parse(text, Loader=_Loader)
    for event in events:
        if getattr(event, "anchor", None) and start <= event.start_mark.index <= end:
            raise EditError(f"has the anchor or alias {event.anchor}, which stands for other lines")
    result = text
    for edit in sorted(_edits(text, node, new), reverse=True):
        result = result[: edit.start] + edit.text + result[edit.end :]
    try:
        same = _plain(_found(result, document, path)) == new
    except (yaml.YAMLError, EditError):
        same = False
    if not same:
        raise EditError("is written in a way that cannot be changed in its place")
    return result


class _Loader(yaml.SafeLoader):
    """Takes values with tags of other programs, such as Ansible's `!vault`, as they are."""


def _untagged(loader: Any, _tag: str, node: Any) -> Any:
    kinds = {"scalar": loader.construct_scalar, "sequence": loader.construct_sequence}
    return kinds.get(node.id, loader.construct_mapping)(node)


_Loader.add_multi_constructor("!", _untagged)


def _found(text: str, document: int, path: Sequence[str | int]) -> Any:
    node: Any = list(yaml.compose_all(text, Loader=_Loader))[document]
    for step in path:
        if isinstance(node, yaml.SequenceNode):
            node = node.value[int(step)]
        else:
            node = next((value for key, value in node.value if key.value == step), None)
        if node is None:
            raise EditError(f"has its {step} from an alias, which stands for other lines")
    return node


def _plain(node: Any) -> Any:
    return _Loader("").construct_document(node)


def _end(node: Any) -> int:
    """Where the node ends; the end of a block collection is that of its last entry."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)


def _edits(text: str, node: Any, new: Mapping[str, Any]) -> Iterator[_Edit]:
    """The edits that make a mapping the new one. Mappings in both change entry by entry."""
    if node.flow_style:
        yield _Edit(node.start_mark.index, _end(node), _flow(new))
        return
    old = _plain(node)
    added = {key: value for key, value in new.items() if key not in old}
    place = None
    for index, (key, value) in enumerate(node.value):
        if key.value in new and new[key.value] == old[key.value]:
            continue
        place = key if place is None else place
        if key.value not in new:
            following = node.value[index + 1][0] if index + 1 < len(node.value) else None
            yield _removal(text, key, value, following)
        elif isinstance(value, yaml.MappingNode) and isinstance(new[key.value], Mapping) and new[key.value]:
            yield from _edits(text, value, new[key.value])
        else:
            colon = text.index(":", key.end_mark.index) + 1
            yield _Edit(colon, len(text[: _end(value)].rstrip()), f" {_flow(new[key.value])}")
    if added:
        yield _addition(text, node, place, added)


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    """The beginning of the next line."""
    return text.find("\n", index) + 1 or len(text)


def _begins_line(text: str, key: Any) -> bool:
    return not text[_line_start(text, key.start_mark.index) : key.start_mark.index].strip()


def _removal(text: str, key: Any, value: Any, following: Any) -> _Edit:
    """The lines of an entry, or what stands before the next key behind the hyphen of a list."""
    if not _begins_line(text, key):
        return _Edit(key.start_mark.index, following.start_mark.index if following is not None else _end(value), "")
    # A text in several lines ends behind its last line break.
    return _Edit(_line_start(text, key.start_mark.index), _line_end(text, len(text[: _end(value)].rstrip())), "")


def _addition(text: str, node: Any, place: Any, added: Mapping[str, Any]) -> _Edit:
    """The lines of new entries, before the first one that changes."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = yaml.safe_dump(dict(added), sort_keys=False, allow_unicode=True, width=_WIDE, indent=_STEP).splitlines()
    block = "".join(f"{' ' * node.start_mark.column}{line}{newline}" for line in lines)
    if place is not None and _begins_line(text, place):
        start = _line_start(text, place.start_mark.index)
        return _Edit(start, start, block)
    end = _line_end(text, len(text[: _end(node)].rstrip()))
    return _Edit(end, end, block if text[:end].endswith("\n") else f"{newline}{block}")


def _flow(value: Any) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=_WIDE)
    return text.removesuffix("\n").removesuffix("\n...")
