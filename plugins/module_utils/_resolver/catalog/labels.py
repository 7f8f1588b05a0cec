"""The labels of instancetypes and preferences: their meaning, and whether they agree with the spec."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..api import name_rules as names
from ..api import schema
from ..api.errors import QuantityError
from ..api.manifest import OS_ANNOTATION, Manifest, annotations_of, labels_of
from ..api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, PREFERENCE, MatcherField
from ..api.name_rules import quoted
from ..api.quantity import parse
from ..api.tree import value_at
from ..choose.fitting import CLASS_LABEL
from .errors import CatalogError

OS_LABEL: Final = "instancetype.kubevirt.io/os-type"
ICON_LABEL: Final = "instancetype.kubevirt.io/icon-pf"
"""The icon of an instancetype."""
ICON_ANNOTATION: Final = "iconClass"
"""The icon of a preference."""
TAGS_ANNOTATION: Final = "tags"
DOCS_ANNOTATION: Final = "openshift.io/documentation-url"
SUPPORT_ANNOTATION: Final = "openshift.io/support-url"
_ARCHITECTURE_LABEL: Final = "instancetype.kubevirt.io/arch"


def check_label(noun: str, value: str) -> None:
    """Raises CatalogError for a name or version of a catalog that is not a label value."""
    reason = names.label_value(value) if value else "is empty"
    if reason:
        raise CatalogError(f"{noun}: {quoted(value)} {reason}; the value becomes a label of the objects")


def class_of(manifest: Manifest) -> str:
    """The instancetype's class label, such as ``general.purpose``; "" for none."""
    return str(labels_of(manifest).get(CLASS_LABEL, ""))


def os_of(manifest: Manifest) -> str:
    """The preference's operating system, from its label, else from the annotation of its VMs; "" for none."""
    annotations = (manifest.get("spec") or {}).get("annotations") or {}
    return str(labels_of(manifest).get(OS_LABEL) or annotations.get(OS_ANNOTATION, ""))


def architecture_of(manifest: Manifest) -> str:
    """The architecture that a preference requires or prefers, or its label; "" for none."""
    spec = manifest.get("spec") or {}
    architecture = (spec.get("requirements") or {}).get("architecture") or spec.get("preferredArchitecture")
    # Preferences for releases before 1.7 have only the label.
    return str(architecture or labels_of(manifest).get(_ARCHITECTURE_LABEL) or "")


def shown_of(manifest: Manifest) -> dict[str, Any]:
    """The icon, docs_url and support_url that consoles show of an object ("" for none), and its tags, a list."""
    annotations = annotations_of(manifest)
    # Some versions of common-instancetypes have quotes and a line end in the addresses.
    docs_url, support_url = (
        str(annotations.get(name) or "").strip('" \n') for name in (DOCS_ANNOTATION, SUPPORT_ANNOTATION)
    )
    tags = map(str.strip, str(annotations.get(TAGS_ANNOTATION) or "").split(","))
    icon = str(labels_of(manifest).get(ICON_LABEL) or annotations.get(ICON_ANNOTATION) or "")
    return {"icon": icon, "docs_url": docs_url, "support_url": support_url, "tags": list(filter(None, tags))}


# The prefix of the labels by which common-instancetypes describes its objects, and the fields that these describe.
DESCRIPTIVE: Final = "instancetype.kubevirt.io/"
DESCRIBED: Final[dict[MatcherField, dict[str, str]]] = {
    INSTANCETYPE: {
        "cpu": "cpu.guest",
        "memory": "memory.guest",
        "hugepages": "memory.hugepages.pageSize",
        "dedicatedCPUPlacement": "cpu.dedicatedCPUPlacement",
        "isolateEmulatorThread": "cpu.isolateEmulatorThread",
        "numa": "cpu.numa",
        "realtime": "cpu.realtime",
    },
    PREFERENCE: {
        "required-cpu": "requirements.cpu.guest",
        "required-memory": "requirements.memory.guest",
        "required-architecture": "requirements.architecture",
        "preferred-architecture": "preferredArchitecture",
    },
}


def spec_labels(matcher_field: MatcherField, spec: Manifest) -> dict[str, str]:
    """The values of the labels for a spec, by their names without the prefix; "" if the field is not set."""
    return {name: _as_label(value_at(spec, path.split("."))) for name, path in DESCRIBED[matcher_field].items()}


class WrongLabel(NamedTuple):
    """A label that differs from the spec. field: the path of what it describes. actual: its value, "" if not set."""

    label: str
    value: str
    field: str
    actual: str


def _as_label(value: Any) -> str:
    """Numbers and texts as text, others as true; an empty object counts as set."""
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value)
    return "" if value in (None, False, []) else "true"


def wrong_labels(kind: str, labels: dict[str, Any], spec: Manifest) -> list[WrongLabel]:
    """The labels of an instancetype or preference that differ from its spec. Raises FieldError for an invalid spec."""
    matcher_field = MATCHER_FIELD_OF_KIND[kind]
    spec = schema.canonical(matcher_field.spec_type, spec)
    paths = {**DESCRIBED[matcher_field], **({"gpus": "gpus"} if matcher_field is INSTANCETYPE else {})}
    result = []
    for name, path in paths.items():
        value, actual = labels.get(DESCRIPTIVE + name), _as_label(value_at(spec, path.split(".")))
        if value is not None and not _same(str(value), actual):
            result.append(WrongLabel(DESCRIPTIVE + name, str(value), f"spec.{path}", actual))
    return result


def _same(value: str, actual: str) -> bool:
    if value == actual or (value == "false" and not actual):
        return True
    try:
        return bool(actual) and parse(value).nanos == parse(actual).nanos
    except QuantityError:
        return False
