"""Placeholders of other programs, such as `${size}` of Flux and `{{ vm_name }}` of Jinja, which nobody fills in here.

A word stands for each. The check runs twice, with different values for what is unknown: what it finds both times does
not depend on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from ...module_utils._resolver.api import schema
from ...module_utils._resolver.api.finding import NOTE
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.name_rules import first_names
from ...module_utils._yaml.documents import Document
from .findings import LocatedFinding, Location

FEW, MANY = 0, 1
"""The runs: with small numbers, false, and without conditional parts; with large ones, true, and with all parts."""
_WORD: Final = re.compile(r"unknown([0-9]+)x")
FORMS: Final = re.compile(
    r"""
    \{\{.*?\}\}+ | \{%.*?%\} | \{\#.*?\#\}  # Jinja, Go's templates (Helm), Argo
    | \$\{\{.*?\}\}                         # OpenShift's Templates, GitHub
    | \$\{[^{}]*\}                          # Flux, envsubst, Terraform
    | \$\[\[.*?\]\]                         # GitLab
    | \$\([\w.\[\]'"-]+\)                   # Tekton, Argo
    | \$[A-Za-z_]\w*                        # envsubst
    | <%.*?%>                               # ERB
    | \(\(.*?\)\)                           # Concourse, spruce
    | ENC\[[A-Z0-9_]+,[^\]]*\]              # SOPS
    | \$ANSIBLE_VAULT;.*
    """,
    re.VERBOSE | re.DOTALL,
)
_MARK: Final = re.compile(rb"\{[{%#]|\$[{(\[A-Za-z]|<%|\(\(|ENC\[|unknown[0-9]+x")
# The forms in OpenShift's Templates, which fill in `${NAME}` themselves.
_IN_TEMPLATES: Final = re.compile(r"\{\{.*?\}\}+|\{%.*?%\}", re.DOTALL)
_DEFAULT: Final = re.compile(r"\$\{[A-Za-z_]\w*:?[=-]([^{}]+)\}")
# Type → the values of both runs. The second number differs for each word.
_VALUES: Final[dict[str, tuple[Any, Any]]] = {
    "bool": (False, True),
    "Quantity": ("1Gi", "64Gi"),
    "Duration": ("1m0s", "1h0m0s"),
    "Time": ("2025-01-01T00:00:00Z", "2025-01-01T00:00:00Z"),
}
_NUMBERS: Final = ("int", "uint")
_FIRST_LARGE: Final = 8
_VALUES_OF: Final[dict[str, tuple[Any, Any]]] = {"spec.runStrategy": ("Halted", "Always")}
# SOPS adds it.
_ENCRYPTED: Final = "sops"
# Nobody misses the check of these.
_UNNOTED: Final = ("metadata.name", "metadata.namespace", "metadata.generateName", "metadata.annotations", "status")
# The parts of a VM in which everything else is, so that a problem there is not one of a field inside.
_ROOTS: Final = ("", "spec", "metadata", "spec.template", "spec.template.spec", "spec.template.spec.domain")
# The rules that judge each field by itself.
_OF_FIELDS: Final = ("invalid", "lost-field", "not-found", "deprecated", "obsolete")
_MISSING: Final = "missing"
_INDEX: Final = re.compile(r"\[\d+\]")
# Entries of these lists name entries of other lists. KubeVirt's messages give the index, no index, or another spelling.
_LINKED: Final = re.compile(r"dataVolumeTemplate|volumes|disks|filesystems|networks|interfaces")
_LINK: Final = re.compile(rf"(?:{_LINKED.pattern}).*[nN]ame$")


class Unknown(NamedTuple):
    """The unknown parts of an object: fields, and the mappings and lists that may have more."""

    fields: list[str]
    open: list[str]


_KNOWN: Final = Unknown([], [])


class Placeholders:
    """The placeholders of a repository. run: FEW or MANY. documents: (file, text) → its documents, for both runs."""

    def __init__(self) -> None:
        self.run = FEW
        self.documents: dict[tuple[str, bytes], list[Document]] = {}
        self._written: list[str] = []
        self._numbers: dict[str, int] = {}
        self._unknown: dict[tuple[str, int, tuple[str | int, ...]], Unknown] = {}

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def may_be_in(self, text: bytes) -> bool:
        """Whether a file may have placeholders, or words for them."""
        return _MARK.search(text) is not None

    def word(self, written: str) -> str:
        """The word for a placeholder, the same for the same text."""
        if written not in self._numbers:
            self._numbers[written] = len(self._written)
            self._written.append(written)
        return f"unknown{self._numbers[written]}x"

    def hidden_text(self, text: str, forms: re.Pattern[str] = FORMS) -> str:
        """The text with words for placeholders."""
        return forms.sub(lambda match: self.word(match[0]), text)

    def shown(self, text: str) -> str:
        """The text with the placeholders as they are written."""
        return _WORD.sub(lambda match: self._written[int(match[1])] if int(match[1]) < len(self) else match[0], text)

    def __len__(self) -> int:
        return len(self._written)

    def completed(self, location: Location, manifest: Manifest) -> Manifest:
        """The manifest with values for this run instead of placeholders."""
        forms = _IN_TEMPLATES if manifest["kind"] in ("Template", "VirtualMachineTemplate") else FORMS
        hidden: Manifest = self._hidden(manifest, forms)
        if hidden == manifest and not _holds_word(hidden):
            return manifest
        hidden = {key: value for key, value in hidden.items() if key != _ENCRYPTED}
        unknown = self._unknown[location[:3]] = Unknown([], [])
        result: Manifest = self._value(hidden, schema.type_of(hidden), "", unknown)
        return result

    def _hidden(self, value: Any, forms: re.Pattern[str]) -> Any:
        """The value with words for placeholders, itself if it has none. Scripts in several lines are not judged."""
        if isinstance(value, str):
            return self.hidden_text(value, forms) if "\n" not in value.strip() and forms.search(value) else value
        if isinstance(value, dict):
            changed = {key: self._hidden(inside, forms) for key, inside in value.items()}
            same = all(changed[key] is inside for key, inside in value.items())
            keys = [key for key in value if isinstance(key, str) and forms.search(key)]
            if keys:
                changed = {self.hidden_text(key, forms) if key in keys else key: changed[key] for key in changed}
            return value if same and not keys else changed
        if isinstance(value, list):
            items = [self._hidden(inside, forms) for inside in value]
            return value if all(map(_is, items, value)) else items
        return value

    def _value(self, value: Any, expression: str, path: str, unknown: Unknown) -> Any:
        """The value of a type for this run; None for one that is to be left out."""
        expression = schema.bare(expression).lstrip("*")
        if isinstance(value, dict):
            result = {}
            for key, inside in value.items():
                if _WORD.search(str(key)):
                    unknown.open.append(path)
                    continue
                place = f"{path}.{key}" if path else str(key)
                result[key] = self._value(inside, _inside(expression, key), place, unknown)
            return {key: inside for key, inside in result.items() if inside is not None or value[key] is None}
        if isinstance(value, list):
            element = expression[2:] if expression.startswith("[]") else ""
            items = [self._value(inside, element, f"{path}[{n}]", unknown) for n, inside in enumerate(value)]
            if any(item is None for item in items):
                unknown.open.append(path)
            return [item for item in items if item is not None]
        found = _WORD.search(value) if isinstance(value, str) else None
        return value if found is None else self._filled(value, int(found[1]), expression, path, unknown)

    def _filled(self, value: str, number: int, expression: str, path: str, unknown: Unknown) -> Any:
        if expression.startswith(("[]", "map[")) or expression in schema.TYPES:
            unknown.open.append(path)
            return None
        unknown.fields.append(path)
        if expression.startswith(_NUMBERS) or expression == "IntOrString":
            return (1, _FIRST_LARGE + number)[self.run]
        return _VALUES_OF.get(path, _VALUES.get(expression, (value, value)))[self.run]

    def notes(self, labels: dict[Location, str]) -> Iterator[LocatedFinding]:
        """The notes about objects with unknown fields. labels: of the objects."""
        for location, label in labels.items():
            unknown = self._unknown.get(location[:3], _KNOWN)
            noted = (field for field in (*unknown.fields, *unknown.open) if not _is_unnoted(field))
            fields = list(dict.fromkeys(field or "all of it" for field in noted))
            if fields:
                names = first_names(fields, 3)
                message = f"has a template in {names}, which is not checked; the rest is"
                yield LocatedFinding(message, NOTE, rule="unchecked", location=location, label=self.shown(label))

    def certain(self, few: Iterable[LocatedFinding], many: Sequence[LocatedFinding]) -> list[LocatedFinding]:
        """The findings of both runs that do not depend on what is unknown."""
        also = {_key(finding) for finding in few}
        kept = [finding for finding in many if _key(finding) in also and self._is_certain(finding)]
        return [replace(finding, label=self.shown(finding.label)) for finding in kept]

    def _is_certain(self, finding: LocatedFinding) -> bool:
        if _holds_word(finding.text):
            return False
        unknown = self._unknown.get(finding.location[:3])
        if unknown is None:
            return True
        if unknown.open and (finding.rule not in _OF_FIELDS or _MISSING in finding.text):
            return False
        field = _INDEX.sub("", finding.field)
        paths = [_INDEX.sub("", path) for path in (*unknown.fields, *unknown.open)]
        if any(_LINK.search(path) for path in paths) and _LINKED.search(field):
            return False
        return not any(_leads(path, field) or _depends(field, path) for path in paths)


def is_unknown(text: str) -> bool:
    """Whether a text has a word for a placeholder."""
    return bool(_WORD.search(text))


def with_defaults(text: str) -> str:
    """The text with the defaults of placeholders, such as `${size:=u1.small}`."""
    return _DEFAULT.sub(lambda match: match[1], text)


def _holds_word(value: Any) -> bool:
    if isinstance(value, str):
        return is_unknown(value)
    if isinstance(value, dict):
        return any(_holds_word(key) or _holds_word(inside) for key, inside in value.items())
    return isinstance(value, list) and any(map(_holds_word, value))


def _is(first: Any, second: Any) -> bool:
    return first is second


def _inside(expression: str, key: str) -> str:
    """The type of a field."""
    if expression.startswith("map["):
        return expression.partition("]")[2]
    declared = schema.TYPES.get(expression, {}).get(key)
    return schema.field_type(declared) if declared is not None else ""


def _key(finding: LocatedFinding) -> tuple[Any, ...]:
    return finding.rule, finding.location.file, finding.field, finding.text, finding.label


def _leads(path: str, field: str) -> bool:
    """Whether a path leads to a field, or to something around it."""
    return field.startswith(path) and field[len(path) :][:1] in ("", ".", "[")


def _is_unnoted(field: str) -> bool:
    return any(_leads(part, field) for part in _UNNOTED)


def _depends(field: str, path: str) -> bool:
    """Whether a problem of a field may be one of what is at a path inside."""
    return field not in _ROOTS and _leads(field, path)
