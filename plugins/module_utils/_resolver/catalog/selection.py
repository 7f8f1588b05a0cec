"""Selects objects of a catalog by name, series, size, class, operating system, architecture and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ..api.errors import FieldError
from ..api.label_selector import selector
from ..api.manifest import Manifest, labels_of, name_of
from ..api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE, MatcherField
from ..api.name_rules import did_you_mean, quoted
from ..api.state import is_active
from .definitions import matcher_field_of
from .errors import CatalogError
from .labels import architecture_of, class_of, os_of


@dataclass(frozen=True)
class CatalogSelection:
    """The selection; the defaults select everything.

    kinds: `instancetype`, `preference` or both. instancetypes, preferences: patterns for names.
    series, sizes, classes: patterns for instancetypes. os, architectures: patterns for preferences; a preference
    without an architecture matches all. labels: label selectors, all of which must match.
    deprecated: `include`, `exclude` or `only` deprecated and obsolete objects.
    """

    kinds: tuple[str, ...] = tuple(matcher_field.name for matcher_field in MATCHER_FIELDS)
    instancetypes: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    series: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    os: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    deprecated: str = "include"

    def select(self, objects: Iterable[Manifest]) -> list[Manifest]:
        """The selected objects, in order.

        Raises CatalogError for an invalid label selector, and for a pattern without a match, which is more likely a
        typo.
        """
        objects = list(objects)
        chosen: list[Manifest] = []
        if INSTANCETYPE.name in self.kinds:
            sized = select(
                objects, matcher_field=INSTANCETYPE, series=self.series, sizes=self.sizes, names=self.instancetypes
            )
            chosen += _matching("classes", self.classes, sized, class_of)
        if PREFERENCE.name in self.kinds:
            named = select(objects, matcher_field=PREFERENCE, names=self.preferences)
            of_os = _matching("os", self.os, named, os_of)
            chosen += _matching("architectures", self.architectures, of_os, lambda item: architecture_of(item) or None)
        try:
            tests = [selector(text) for text in self.labels]
        except FieldError as error:
            raise CatalogError(f"label_selectors: {error}") from error
        return [
            manifest
            for manifest in chosen
            if all(test(labels_of(manifest)) for test in tests)
            if self.deprecated == "include" or is_active(manifest) == (self.deprecated == "exclude")
        ]


def select(
    objects: Iterable[Manifest],
    *,
    matcher_field: MatcherField | None = None,
    series: Sequence[str] = (),
    sizes: Sequence[str] = (),
    names: Sequence[str] = (),
) -> list[Manifest]:
    """The objects that match every given option, in order.

    matcher_field: limits the selection to instancetypes or to preferences; None for both.
    series, sizes: patterns for the parts of an instancetype's name before and after its last dot; preferences match.
    names: patterns for the whole name.
    Each list needs one matching shell pattern; an empty list matches everything. Raises CatalogError for a pattern
    without a match.
    """
    chosen = [manifest for manifest in objects if matcher_field in (None, matcher_field_of(manifest))]
    chosen = _matching("series", series, chosen, lambda manifest: _part_of(manifest, 0))
    chosen = _matching("sizes", sizes, chosen, lambda manifest: _part_of(manifest, 2))
    return _matching("names", names, chosen, name_of)


def _part_of(manifest: Manifest, index: int) -> str | None:
    """The part before (0) or after (2) the last dot of an instancetype's name."""
    return name_of(manifest).rpartition(".")[index] if matcher_field_of(manifest) is INSTANCETYPE else None


def _matching(
    noun: str, patterns: Sequence[str], objects: list[Manifest], value_of: Callable[[Manifest], str | None]
) -> list[Manifest]:
    """The objects whose value matches one of the patterns, or is None."""
    if not patterns:
        return objects
    values = [value_of(manifest) for manifest in objects]
    distinct = dict.fromkeys(value for value in values if value)
    for pattern in patterns:
        if not any(fnmatchcase(value, pattern) for value in distinct):
            raise CatalogError(
                f"{noun}: nothing in the catalog matches {quoted(pattern)}{did_you_mean(pattern, distinct)}"
            )
    return [
        manifest
        for manifest, value in zip(objects, values)
        if value is None or any(fnmatchcase(value, pattern) for pattern in patterns)
    ]
