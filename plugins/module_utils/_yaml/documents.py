"""Parses the YAML of catalogs from untrusted sources: limits size, depth and number of nodes; errors name the place.

The parser's events become objects in one pass without recursion. Aliases share an object, but what they repeat counts,
because every writer of the catalog expands them. The size of the text bounds its own contents.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from .._cluster.client.errors import TaskFailed
from .._cluster.client.libraries import yaml
from .._resolver.api.name_rules import quoted
from .scalars import Scalars, ansible, key_text, kubernetes
from .unquoted import UnquotedKey, key_problem, number_problem

LARGEST: Final = 16 * 2**20
"""The largest file in bytes; the published catalogs have 0.15 MB."""
_MOST_REPEATED: Final = 500_000
_DEEPEST: Final = 64
_MERGE: Final = "tag:yaml.org,2002:merge"
_TAGS: Final = frozenset(
    (None, "!", _MERGE)
    + tuple(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "timestamp", "map", "seq"))
)


class TextError(TaskFailed):
    """An invalid catalog; one line with file, line, column and remedy."""


class _Open(NamedTuple):
    """A collection that has not ended: its value, its next part, and its start.

    keys: key → line of a mapping; None for a list. pending: a list with the key whose value comes next. merges: the
    mappings that a mapping merges. before: the number of nodes before it.
    """

    value: Any
    keys: dict[Any, int] | None
    pending: list[Any]
    merges: list[Any]
    anchor: str | None
    before: int


_NO_KEY: Final = object()


class Document(NamedTuple):
    """A document that is not empty.

    number: among all documents of its text, from 0. line: the line of its content, from 1.
    """

    content: Any
    number: int
    line: int

    def place_in(self, where: str) -> str:
        """The place for messages. where: the name of the text."""
        return f"{where}, line {self.line}"


def documents(
    content: bytes | str,
    where: str,
    noun: str = "catalog",
    keep_unknown_tags: bool = False,
    largest: int = LARGEST,
    scalars: Scalars = kubernetes,
) -> list[Document]:
    """The documents of a YAML or JSON text, without empty ones, which Helm and kustomize write.

    where, noun: the text's name and intended content, for messages. keep_unknown_tags: the text may have other
    contents, so tags that YAML does not define, such as Ansible's `!vault`, are ignored, and what YAML reads as
    something else than what is written is an `UnquotedKey` or `UnquotedNumber` instead of an error. largest: the
    largest size in bytes. scalars: who reads the text. Raises TextError.
    """
    if len(content) > largest:
        raise TextError(f"{where}: larger than {largest >> 20} MiB; check that the file is a {noun}, or split it")
    reader = _Reader(where, noun, keep_unknown_tags, scalars)
    try:
        # The C parser is ten times as fast, and available on nearly all machines.
        for event in yaml.parse(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            reader.read_event(event)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{where}, line {mark.line + 1}, column {mark.column + 1}" if mark is not None else where
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "no YAML"
        raise TextError(f"{place}: {reason}; check that the file is complete") from None
    return reader.documents


def catalog_documents(content: bytes | str, where: str) -> list[Document]:
    """The documents of manifests, or of a catalog in the language of the collection, which is read as variables are.

    In variables, the key of a series such as `n` is text. Raises TextError.
    """
    name = b"apiVersion" if isinstance(content, bytes) else "apiVersion"
    return documents(content, where, scalars=kubernetes if name in content else ansible)  # type: ignore[operator]


class _Reader:
    """Builds documents from events."""

    def __init__(self, where: str, what: str, keep_unknown_tags: bool, scalars: Scalars) -> None:
        self.documents: list[Document] = []
        self._number = -1
        self._where, self._what, self._keep_unknown_tags = where, what, keep_unknown_tags
        self._open: list[_Open] = []
        # Anchor → its value and number of nodes; None while the value is incomplete.
        self._anchors: dict[str, tuple[Any, int] | None] = {}
        # The values so far, with what aliases repeat; and the repeated ones alone.
        self._nodes = self._repeated = 0
        # The line where the content of the document begins, 0 before it.
        self._line = 0
        self._scalars = scalars

    def read_event(self, event: Any) -> None:
        if not self._line and isinstance(event, yaml.NodeEvent):
            mark: Any = event.start_mark
            self._line = mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            self._nodes += 1
            self._store_value(event, self._scalar(event), event.anchor, 1)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._begin(event)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._end(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._anchors.clear()
            self._number += 1
            self._line = 0

    def _scalar(self, event: Any) -> Any:
        if event.tag not in _TAGS:
            self._refuse_tag(event, event.tag)
        if event.value == "<<" and (event.implicit[0] or event.tag == _MERGE) and self._expects_key():
            return _MERGE
        try:
            return self._scalars(event)
        except ValueError:
            raise self._error(
                event, "the value is not valid for the type that it looks like; put it in quotes"
            ) from None

    def _expects_key(self) -> bool:
        return bool(self._open) and self._open[-1].keys is not None and self._open[-1].pending[0] is _NO_KEY

    def _refuse_tag(self, event: Any, tag: str) -> None:
        if not self._keep_unknown_tags:
            raise self._error(event, f"a {self._what} must not contain the tag {quoted(tag)}; remove it")

    def _begin(self, event: Any) -> None:
        if event.tag not in _TAGS:
            self._refuse_tag(event, event.tag)
        if len(self._open) >= _DEEPEST:
            raise self._error(event, f"nested more than {_DEEPEST} levels deep; simplify the {self._what}")
        self._nodes += 1
        if event.anchor:
            self._anchors[event.anchor] = None
        mapping = isinstance(event, yaml.MappingStartEvent)
        value: Any = {} if mapping else []
        self._open.append(_Open(value, {} if mapping else None, [_NO_KEY], [], event.anchor, self._nodes - 1))

    def _end(self, event: Any) -> None:
        done = self._open.pop()
        for other in done.merges:
            for key, entry in other.items():
                done.value.setdefault(key, entry)
        self._store_value(event, done.value, done.anchor, self._nodes - done.before)

    def _alias(self, event: Any) -> None:
        anchored = self._anchors.get(event.anchor)
        if event.anchor not in self._anchors:
            raise self._error(event, f"unknown anchor {quoted(event.anchor)}; define the anchor above the alias")
        if anchored is None:
            raise self._error(
                event, f"the alias {quoted(event.anchor)} refers to an object that contains the alias; remove the alias"
            )
        self._repeat(event, anchored[1])
        self._store_value(event, anchored[0], None, anchored[1])

    def _store_value(self, event: Any, value: Any, anchor: str | None, nodes: int) -> None:
        if anchor:
            self._anchors[anchor] = (value, nodes)
        if not self._open:
            self._document(event, value)
            return
        parent = self._open[-1]
        if self._expects_key():
            self._key(event, parent, value)
            return
        self._refuse(event, number_problem(value))
        if parent.keys is None:
            parent.value.append(value)
        else:
            key, parent.pending[0] = parent.pending[0], _NO_KEY
            if key == _MERGE:
                self._merge(event, parent, value)
            else:
                parent.value[key] = value

    def _key(self, event: Any, parent: _Open, key: Any) -> None:
        if isinstance(key, (dict, list)):
            raise self._error(event, "a key is not text")
        if not isinstance(key, str):
            written = getattr(event, "value", str(key))
            if self._scalars is kubernetes and key_text(key) == written:
                key = written
            else:
                key = UnquotedKey(written, key)
                self._refuse(event, key_problem(key))
        keys = parent.keys if parent.keys is not None else {}
        if key in keys:
            name = "<<" if key == _MERGE else quoted(key)
            raise self._error(event, f"duplicate key {name}, first used in line {keys[key]}; remove one of them")
        keys[key] = event.start_mark.line + 1
        parent.pending[0] = key

    def _refuse(self, event: Any, surprise: str) -> None:
        if surprise and not self._keep_unknown_tags:
            raise self._error(event, surprise)

    def _merge(self, event: Any, parent: _Open, value: Any) -> None:
        others = value if isinstance(value, list) else [value]
        if not all(isinstance(other, dict) for other in others):
            raise self._error(event, "<< takes mappings only, such as <<: *common")
        if self._scalars is kubernetes:
            # Its order counts, as for Go: what a mapping merges replaces the keys above.
            for other in reversed(others):
                parent.value.update(other)
        else:
            parent.merges.extend(others)
        self._repeat(event, sum(map(len, others)))

    def _document(self, event: Any, value: Any) -> None:
        if value is not None and not isinstance(value, (dict, list)):
            raise self._error(
                event, f"expected a {self._what} or a manifest, found plain text; check the path of the file"
            )
        if value is not None:
            self.documents.append(Document(value, self._number, self._line))

    def _repeat(self, event: Any, nodes: int) -> None:
        self._nodes += nodes
        self._repeated += nodes
        if self._repeated > _MOST_REPEATED:
            raise self._error(event, f"aliases repeat more than {_MOST_REPEATED:,} values; write fewer aliases")

    def _error(self, event: Any, reason: str) -> TextError:
        mark = event.start_mark
        return TextError(f"{self._where}, line {mark.line + 1}, column {mark.column + 1}: {reason}")
