"""Limits: which instancetypes, preferences and sizes the VMs of some namespaces may have.

A limit is a dict, as users write it; `parse` checks it. `resolve` computes from a catalog the names that it permits,
because a policy of Kubernetes cannot read other objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .._resolver.api import name_rules as names
from .._resolver.api.errors import FieldError, QuantityError
from .._resolver.api.label_selector import matches
from .._resolver.api.manifest import Manifest
from .._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, PREFERENCE, MatcherField
from .._resolver.api.name_rules import did_you_mean, quoted
from .._resolver.api.quantity import parse as quantity
from .._resolver.api.type_remedies import wrong_type
from .._resolver.catalog.errors import CatalogError
from .._resolver.catalog.facts import facts
from .._resolver.catalog.selection import CatalogSelection

DENY: Final = "deny"
WARN: Final = "warn"
AUDIT: Final = "audit"
ACTIONS: Final = (DENY, WARN, AUDIT)
NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""The label of every namespace with its own name."""

# Fields that select instancetypes of the catalog by name or label; a namespace's own ones are then not permitted.
_SELECTING: Final = ("instancetypes", "series", "classes")
_LISTS: Final = ("namespaces", "except_namespaces", *_SELECTING, "preferences", "require")
_FLAGS: Final = ("gpus", "host_devices")
_FIELDS: Final = ("name", "namespace_labels", *_LISTS, "max_cpu", "max_memory", *_FLAGS, "action")
_REQUIRABLE: Final = tuple(matcher_field.name for matcher_field in MATCHER_FIELDS)
_LIMITING: Final = (*_SELECTING, "preferences", "require", "max_cpu", "max_memory", *_FLAGS)


class Limit(NamedTuple):
    """A limit for the VMs of some namespaces.

    namespaces, namespace_labels, except_namespaces: where it applies; empty for everywhere.
    instancetypes, preferences: the permitted names of the cluster-wide kinds; None for any.
    own_instancetypes: instancetypes of the namespace itself are permitted.
    max_cpu: vCPUs, max_memory: a quantity; None for no limit. gpus, host_devices: permitted.
    require: the matcher fields that a VM must have: `instancetype`, `preference`.
    action: `deny`, `warn` or `audit`.
    """

    name: str
    namespaces: Sequence[str] = ()
    namespace_labels: Mapping[str, str] = {}
    except_namespaces: Sequence[str] = ()
    instancetypes: Sequence[str] | None = None
    preferences: Sequence[str] | None = None
    own_instancetypes: bool = True
    max_cpu: int | None = None
    max_memory: str | None = None
    gpus: bool = True
    host_devices: bool = True
    require: Sequence[str] = ()
    action: str = DENY

    @property
    def selector(self) -> Manifest:
        """The LabelSelector of the namespaces in which the limit applies.

        One list, which server-side apply replaces as a whole.
        """
        expressions = [
            *_expression(NAME_LABEL, "In", self.namespaces),
            *(_expression(key, "In", [value])[0] for key, value in sorted(self.namespace_labels.items())),
            *_expression(NAME_LABEL, "NotIn", self.except_namespaces),
        ]
        return {"matchExpressions": expressions or [{"key": NAME_LABEL, "operator": "Exists"}]}

    @property
    def where(self) -> str:
        """The namespaces in words: ``namespaces with tenant=yes but lab``."""
        labels = [f"{key}={value}" for key, value in sorted(self.namespace_labels.items())]
        named = f"namespaces {', '.join(self.namespaces)}" if self.namespaces else "all namespaces"
        excepted = f" but {', '.join(self.except_namespaces)}" if self.except_namespaces else ""
        labelled = f" with {' and '.join(labels)}" if labels else ""
        return f"{named}{labelled}{excepted}"

    @property
    def sizes(self) -> str:
        """The limits of sizes, and what a VM must have, in words: ``at most 4 vCPUs; no GPUs``."""
        limits = [
            f"at most {self.max_cpu} vCPUs" if self.max_cpu is not None else "",
            f"at most {self.max_memory}" if self.max_memory is not None else "",
            "" if self.gpus else "no GPUs",
            "" if self.host_devices else "no host devices",
            f"must name: {', '.join(self.require)}" if self.require else "",
        ]
        return "; ".join(filter(None, limits))

    def permits(self, kind: str, name: str) -> bool:
        """Whether VMs may use this instancetype or preference, by its kind and name."""
        matcher_field = MATCHER_FIELD_OF_KIND[kind]
        permitted = self.instancetypes if matcher_field is INSTANCETYPE else self.preferences
        if permitted is None:
            return True
        return (
            name in permitted
            if kind == matcher_field.cluster_kind
            else matcher_field is INSTANCETYPE and self.own_instancetypes
        )

    def applies(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether the limit applies in a namespace with these labels."""
        return matches(self.selector, {**labels, NAME_LABEL: namespace})


def _expression(key: str, operator: str, values: Sequence[str]) -> list[Manifest]:
    return [{"key": key, "operator": operator, "values": list(values)}] if values else []


def limits(written: Any, catalog: Iterable[Manifest]) -> list[Limit]:
    """The limits that users have written, with the names that they permit of a catalog.

    catalog: instancetypes and preferences; only the cluster-wide kinds count.
    Raises CatalogError with one line for an invalid limit.
    """
    if not isinstance(written, list):
        raise CatalogError(f"limits: expected a list, found {quoted(written)}; write each limit as an item of a list")
    objects = [
        item for item in catalog if item.get("kind") in {matcher_field.cluster_kind for matcher_field in MATCHER_FIELDS}
    ]
    result: list[Limit] = []
    for index, options in enumerate(written):
        where = f"limits[{index}]"
        if not isinstance(options, dict):
            raise CatalogError(f"{where}: expected a limit, found {quoted(options)}; write a name and what is limited")
        options = {field: value for field, value in options.items() if value is not None}
        name = options.get("name")
        if isinstance(name, str) and name:
            where = f"limits: {quoted(name)}"
        try:
            _check(options)
            limit = _resolve(options, objects)
        except FieldError as error:
            raise CatalogError(f"{where}: {error}") from None
        if any(limit.name == other.name for other in result):
            raise CatalogError(f"{where}: name: two limits have this name; rename one of them")
        result.append(limit)
    return result


def as_data(limit: Limit) -> Manifest:
    """The limit as JSON has it, without defaults."""
    return {field: value for field, value in limit._asdict().items() if value != Limit._field_defaults.get(field)}


def limit_from_data(data: Any) -> Limit | None:
    """The limit from `as_data`; None for anything else, such as a limit of another release of this collection."""
    if not isinstance(data, dict) or not isinstance(data.get("name"), str) or data.keys() - set(Limit._fields):
        return None
    return Limit(**data)


def _check(options: Manifest) -> None:
    """Raises FieldError."""
    for field in options:
        if field not in _FIELDS:
            raise FieldError(str(field), f"unknown field{did_you_mean(field, _FIELDS)}")
    name = options.get("name")
    if not isinstance(name, str) or not name:
        raise FieldError("name", f"expected a name, found {quoted(name)}; write a name such as standard")
    if reason := names.label(name):
        raise FieldError("name", f"{quoted(name)} {reason}")
    for field in _LISTS:
        value = options.get(field, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise FieldError(field, f"expected a list of names, found {quoted(value)}; write {field}: [name]")
    _check_labels(options.get("namespace_labels", {}))
    for field in ("namespaces", "except_namespaces"):
        for value in options.get(field, []):
            if reason := names.label(value):
                raise FieldError(field, f"{quoted(value)} {reason}; write names of namespaces")
    for value in options.get("require", []):
        _check_choice("require", value, _REQUIRABLE)
    for field in _FLAGS:
        if not isinstance(options.get(field, True), bool):
            raise FieldError(field, wrong_type("true or false", options[field]))
    _check_sizes(options)
    _check_choice("action", options.get("action", DENY), ACTIONS)
    # A maximum of 1 is equal to true.
    if not any(options.get(field) not in (None, []) and options[field] is not True for field in _LIMITING):
        raise FieldError("", f"limits nothing; write one of {', '.join(_LIMITING)}")


def _check_labels(value: Any) -> None:
    if not isinstance(value, dict) or not all(isinstance(text, str) for pair in value.items() for text in pair):
        raise FieldError(
            "namespace_labels",
            f"expected labels, found {quoted(value)}; write key: value, both as text, such as {{{{ value | string }}}}",
        )
    for key, text in value.items():
        for part, reason in ((key, names.label_key(key)), (text, names.label_value(text))):
            if reason:
                raise FieldError("namespace_labels", f"{quoted(part)} {reason}; write a label as namespaces have it")


def _check_choice(field: str, value: Any, choices: Sequence[str]) -> None:
    if value not in choices:
        raise FieldError(field, f"{quoted(value)} is unknown; choose from {', '.join(choices)}")


def _check_sizes(options: Manifest) -> None:
    cpu, memory = options.get("max_cpu", 1), options.get("max_memory", "1Gi")
    if not isinstance(cpu, int) or isinstance(cpu, bool) or cpu < 1:
        raise FieldError(
            "max_cpu",
            f"expected a number of vCPUs, found {quoted(cpu)}; write an integer from 1, or {{{{ value | int }}}}",
        )
    try:
        amount = quantity(memory).nanos if isinstance(memory, str) else 0
    except QuantityError:
        amount = 0
    if amount <= 0:
        raise FieldError("max_memory", f"expected an amount of memory, found {quoted(memory)}; write it as 32Gi")


def _resolve(options: Manifest, objects: list[Manifest]) -> Limit:
    """Raises FieldError for a pattern without a match, and for a limit that permits no instancetype."""
    selecting = any(options.get(field) for field in _SELECTING)
    limit = Limit(
        options["name"],
        own_instancetypes=not selecting,
        **{
            field: options[field]
            for field in _FIELDS
            if field in options and field not in ("name", *_SELECTING, "preferences")
        },
    )
    sized = limit.max_cpu is not None or limit.max_memory is not None or not (limit.gpus and limit.host_devices)
    if selecting or sized:
        permitted = [item for item in _selected(options, INSTANCETYPE, objects) if permits_size(limit, item)]
        if not permitted:
            raise FieldError("", "permits no instancetype of the catalog; raise max_cpu or max_memory, or name others")
        limit = limit._replace(instancetypes=_names(permitted))
    if options.get("preferences"):
        limit = limit._replace(preferences=_names(_selected(options, PREFERENCE, objects)))
    return limit


def permits_size(limit: Limit, instancetype: Manifest) -> bool:
    """Whether the size and the devices of an instancetype are permitted; false if it cannot be read."""
    try:
        figures = facts(instancetype)
    except FieldError:
        return False
    return (
        (limit.max_cpu is None or figures["vcpus"] <= limit.max_cpu)
        and (limit.max_memory is None or quantity(figures["memory"]).nanos <= quantity(limit.max_memory).nanos)
        and (limit.gpus or "gpus" not in figures["features"])
        and (limit.host_devices or "host_devices" not in figures["features"])
    )


def _selected(options: Manifest, matcher_field: MatcherField, objects: list[Manifest]) -> list[Manifest]:
    fields = _SELECTING if matcher_field is INSTANCETYPE else ("preferences",)
    patterns: dict[str, Any] = {field: tuple(options.get(field, ())) for field in fields}
    try:
        return CatalogSelection(kinds=(matcher_field.name,), **patterns).select(objects)
    except CatalogError as error:
        raise FieldError("", str(error)) from None


def _names(objects: list[Manifest]) -> list[str]:
    return sorted({item["metadata"]["name"] for item in objects})
