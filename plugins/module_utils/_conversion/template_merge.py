"""Merges converted templates that differ only in the size and in the system of their VMs.

One template then has the parameters INSTANCETYPE and PREFERENCE, whose defaults are those of the first member.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from .._resolver.api.manifest import Manifest, name_of
from .._resolver.api.matcher import MATCHER_FIELDS, MatcherField
from .._resolver.api.tree import copy, remove_at, set_at, value_at
from .._templates.conversion import KIND
from .._templates.substitution import references
from .template_groups import WITH_SIZE

_VM: Final = ("spec", "virtualMachine")
_QUEUES: Final = tuple((*_VM, "spec", "template", "spec", *path) for path in WITH_SIZE)
_METADATA: Final = (("metadata",), (*_VM, "metadata"), (*_VM, "spec", "template", "metadata"))
_MAPS: Final = ("labels", "annotations")
_TEMPLATE_LABEL: Final = "vm.kubevirt.io/template"


class Merged(NamedTuple):
    """A template that stands for several. members: their indexes and names. values: of each new parameter."""

    template: Manifest
    members: dict[int, str]
    values: dict[str, list[str]]


def merge(templates: Sequence[Any]) -> list[Merged]:
    """The VirtualMachineTemplates that stand for several of the documents each, in the order of their first members.

    Members are equal but for names, labels and annotations, the names of instancetype and preference, and multiqueue.
    A template whose instancetype or preference is a parameter without a default is no member.
    """
    groups: dict[str, list[int]] = {}
    for index, template in enumerate(templates):
        groups.setdefault(_key(template) or str(index), []).append(index)
    taken = {name_of(template) for template in templates}
    return [
        _merged({index: templates[index] for index in members}, taken)
        for members in groups.values()
        if len(members) > 1
    ]


def _key(template: Manifest) -> str:
    """The template without what members may differ in; "" if it cannot be a member."""
    if template.get("kind") != KIND or not isinstance(value_at(template, (*_VM, "spec")), dict):
        return ""
    rest = copy(template)
    for path in (*_QUEUES, *((*path, part) for path in _METADATA for part in (*_MAPS, "name"))):
        if path != (*_VM, "metadata", "name"):
            remove_at(rest, path)
    for matcher_field in MATCHER_FIELDS:
        if matcher_field.matcher_of(rest["spec"]["virtualMachine"]) is not None:
            if not _choice(rest, matcher_field):
                return ""
            set_at(rest, _name_path(matcher_field), "")
    rest["spec"]["parameters"] = _other_parameters(rest)
    return json.dumps(rest, sort_keys=True, default=str)


def _name_path(matcher_field: MatcherField) -> tuple[str, ...]:
    return (*_VM, "spec", matcher_field.name, "name")


def _choice(template: Manifest, matcher_field: MatcherField) -> str:
    """The instancetype or preference of a template by default; "" if it has none."""
    name = value_at(template, _name_path(matcher_field))
    if not set(references(name)):
        return str(name or "")
    parameter = _parameter(matcher_field)
    own = [item for item in template["spec"].get("parameters") or [] if item.get("name") == parameter]
    return str(own[0].get("value") or "") if own and name == f"${{{parameter}}}" else ""


def _parameter(matcher_field: MatcherField) -> str:
    return matcher_field.name.upper()


def _other_parameters(template: Manifest) -> list[Any]:
    """The parameters, without the ones for an instancetype and a preference."""
    own = [_parameter(matcher_field) for matcher_field in MATCHER_FIELDS]
    return [item for item in template["spec"].get("parameters") or [] if item.get("name") not in own]


def _merged(manifests: dict[int, Manifest], taken: set[str]) -> Merged:
    """One template for several. taken: the names of other templates; gets the name of the new one."""
    members = list(manifests.values())
    template, names = copy(members[0]), [name_of(member) for member in members]
    common_name = _common_name(names)
    if common_name and common_name not in taken:
        template["metadata"]["name"] = common_name
    taken.add(name_of(template))
    for path in (place for holder in _METADATA for place in ((*holder, part) for part in _MAPS)):
        maps = [value_at(member, path) or {} for member in members]
        common = {key: value for key, value in maps[0].items() if all(other.get(key) == value for other in maps)}
        if _TEMPLATE_LABEL in maps[0]:
            common[_TEMPLATE_LABEL] = name_of(template)
        remove_at(template, path)
        if common:
            set_at(template, path, common)
    for path in _QUEUES:
        value = next(filter(None, (value_at(member, path) for member in members)), None)
        if value is not None:
            set_at(template, path, value)
    values, parameters = {}, _other_parameters(template)
    for matcher_field in MATCHER_FIELDS:
        choices = list(dict.fromkeys(filter(None, (_choice(member, matcher_field) for member in members))))
        if len(choices) > 1:
            parameter = _parameter(matcher_field)
            values[parameter] = choices
            set_at(template, _name_path(matcher_field), f"${{{parameter}}}")
            description = f"The {matcher_field.name}, such as {', '.join(choices)}"
            parameters.append({"name": parameter, "description": description, "value": choices[0]})
        elif choices:
            set_at(template, _name_path(matcher_field), choices[0])
    template["spec"]["parameters"] = parameters
    return Merged(template, dict(zip(manifests, names)), values)


def _common_name(names: Sequence[str]) -> str:
    """The words that all names have, in their order; "" if there are none.

    For ``rhel9-server-large-arm64`` and ``rhel9-server-tiny-arm64`` it is ``rhel9-server-arm64``.
    """
    others = [name.split("-") for name in names[1:]]
    return "-".join(word for word in names[0].split("-") if all(word in words for words in others))
