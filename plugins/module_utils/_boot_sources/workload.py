"""From the name of a workload to boot source, preference and instancetype.

Each rule has one answer or none: where several objects answer, the request is ambiguous and rejected with the choices.
Objects with the same name count once, as the cluster-wide kind, which a VM without a kind means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .._resolver.api import release_schema
from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import Manifest, annotations_of, labels_of, name_of, namespace_of
from .._resolver.api.matcher import INSTANCETYPE, PREFERENCE, MatcherField
from .._resolver.api.name_rules import did_you_mean, quoted
from .._resolver.api.release import Release
from .._resolver.api.state import ACTIVE, is_active, state_of
from .._resolver.choose.fitting import (
    CLASS_LABEL,
    Constraints,
    MissingObject,
    Rejected,
    bytes_of,
    count_of,
    fitting,
    rank,
    rejection_of_pair,
    series_of,
    size_of,
)
from .._resolver.choose.suggestions import display_name
from .source import matchers

DEFAULT_LABEL: Final = "instancetypes.virtshape.io/default"
"""The label, with the value "true", of the objects to prefer where a request means several."""
_REMEDY: Final = f"or label the one to prefer {DEFAULT_LABEL}=true"
# The class of the published catalogs for workloads that ask for nothing else.
GENERAL_PURPOSE: Final = "general.purpose"
# Annotations of published preferences: a name for users, and words separated by commas.
_DISPLAY_NAME: Final = "openshift.io/display-name"
_TAGS: Final = "tags"
_MOST_CHOICES: Final = 20
_MOST_REASONS: Final = 3


class WorkloadRequest(NamedTuple):
    """The workload of a VM, and its size.

    size: a name such as ``medium``. cpu: the least vCPUs. memory: the least memory, a quantity. performance: a class,
    the part of a class before its first dot, or, of instancetypes without a class, their series. None: not requested.
    """

    workload: str
    size: str | None = None
    cpu: Any = None
    memory: Any = None
    performance: str | None = None

    @property
    def sized(self) -> bool:
        return any(value is not None for value in self[1:])


class AvailableObjects(NamedTuple):
    """The objects of a cluster that VMs of a namespace can use.

    data_sources: None if no boot source is to be chosen. refused: why a VM with an instancetype cannot run, by the
    instancetype's kind and name.
    """

    preferences: Iterable[Manifest]
    instancetypes: Iterable[Manifest]
    data_sources: Sequence[Manifest] | None = None
    refused: Mapping[tuple[str, str], str] = {}


class Choice(NamedTuple):
    """The answer to a request.

    data_source: NAMESPACE/NAME, or NAME if it has no namespace; "" if none was to be chosen. reasons: one line for each
    choice. other_sources, other_instancetypes: names of what would also do, best first. rejected: why an instancetype
    of the class and size does not do, by name.
    """

    data_source: str
    preference: Manifest
    instancetype: Manifest
    reasons: list[str]
    other_sources: list[str]
    other_instancetypes: list[str]
    rejected: dict[str, str]

    def as_data(self) -> dict[str, Any]:
        """For users: `boot`, `preference` and `instancetype` are options of the module virtual_machine."""
        matcher_fields = {PREFERENCE: self.preference, INSTANCETYPE: self.instancetype}
        return {
            **({"boot": {"data_source": self.data_source}} if self.data_source else {}),
            **{
                matcher_field.matcher: {"name": name_of(manifest), "kind": manifest["kind"]}
                for matcher_field, manifest in matcher_fields.items()
            },
            "reasons": self.reasons,
            "others": {"boot": self.other_sources, INSTANCETYPE.matcher: self.other_instancetypes},
            "rejected": self.rejected,
        }


def resolve(request: WorkloadRequest, available: AvailableObjects, release: Release) -> Choice:
    """The boot source, preference and instancetype of a workload. Raises Rejected.

    Preference: the one with exactly the workload's name; else the default of DataSources of the name; else the one that
    has the name or the display name without regard to case and punctuation; else the one with the tag. Boot source: the
    DataSource with this default preference, of several the one with the workload's name; else the one without a default
    preference that has the name of the workload or of the preference. Instancetype: without a size, the DataSource's
    default; else the smallest of the class and size.
    """
    preference, why_preference = _preference(request.workload, available)
    source, other_sources, why_source = _source(request.workload, preference, available.data_sources)
    default = matchers(labels_of(source)).get(INSTANCETYPE.matcher) if source is not None else None
    if default is not None and source is not None and not request.sized:
        sizes = _Sizes(
            _default(default, source, available), {}, f"the default instancetype of the DataSource {_path(source)}"
        )
        why_size = f"is {sizes.described}"
    else:
        sizes = _sizes(request, available, release)
        why_size = f"is the smallest of {sizes.described} that {name_of(preference)} can have"
    reasons = [f"preference {name_of(preference)}: {why_preference}{_state(preference)}"]
    if source is not None:
        reasons.append(f"boot source {_path(source)}: {why_source}")
    fits, rejected = _suitable(sizes, preference, available.refused, release)
    if not fits:
        why = "; ".join([f"{name}: {reason}" for name, reason in rejected.items()][-_MOST_REASONS:])
        raise Rejected(f"size: {name_of(preference)} cannot have {sizes.described}: {why}")
    same = _preferred([item for item in fits if rank(item, release) == rank(fits[0], release)])
    if len(same) > 1:
        raise Rejected(
            f"size: {_listed(same, INSTANCETYPE)} are equally small; name a size, set instancetype, {_REMEDY}"
        )
    return Choice(
        _path(source) if source is not None else "",
        preference,
        same[0],
        [*reasons, f"instancetype {display_name(same[0], INSTANCETYPE)}: {why_size}{_state(same[0])}"],
        other_sources,
        [display_name(item, INSTANCETYPE) for item in fits if item is not same[0]],
        rejected,
    )


def _preference(workload: str, available: AvailableObjects) -> tuple[Manifest, str]:
    if not normalized(workload):
        raise Rejected(f"workload: {quoted(workload)} has no letter and no digit; write a name such as fedora")
    by_name = _by_name(available.preferences, PREFERENCE)
    if workload in by_name:
        return by_name[workload], "has the name of the workload"
    sources = [item for item in available.data_sources or () if name_of(item) == workload]
    if defaults := {key for item in sources if (key := matchers(labels_of(item)).get(PREFERENCE.matcher))}:
        defaults_found = [item for item in by_name.values() if (item["kind"], name_of(item)) in defaults]
        if len(defaults_found) < len(defaults):
            missing = ", ".join(
                sorted(name for _kind, name in defaults - {(item["kind"], name_of(item)) for item in defaults_found})
            )
            raise MissingObject(
                f"workload: the default preference {missing} of the DataSource {workload} does not exist"
            )
        return _single(defaults_found, workload), f"is the default of the DataSource {_path(sources[0])}"
    current = [item for item in by_name.values() if is_active(item)]
    spelled = [
        item
        for item in current
        if normalized(workload)
        in (normalized(name_of(item)), normalized(annotations_of(item).get(_DISPLAY_NAME) or ""))
    ]
    if spelled:
        return _single(spelled, workload), "has the name of the workload but for case and punctuation"
    tagged = [
        item for item in current if workload in map(str.strip, (annotations_of(item).get(_TAGS) or "").split(","))
    ]
    if tagged:
        return _single(tagged, workload), "is the only one with the workload's tag"
    names = dict.fromkeys([*by_name, *(name_of(item) for item in available.data_sources or ())])
    raise MissingObject(
        f"workload: no preference and no DataSource is named {quoted(workload)}{did_you_mean(workload, names)}"
    )


def _single(preferences: list[Manifest], workload: str) -> Manifest:
    preferences = _preferred(preferences)
    if len(preferences) > 1:
        choices = _listed(preferences, PREFERENCE)
        raise Rejected(f"workload: {quoted(workload)} means several preferences: {choices}; choose one, {_REMEDY}")
    return preferences[0]


def _source(
    workload: str, preference: Manifest, data_sources: Sequence[Manifest] | None
) -> tuple[Manifest | None, list[str], str]:
    """(the DataSource, the others that would do, why this one)."""
    if data_sources is None:
        return None, [], ""
    preferences = {
        _path(data_source): matchers(labels_of(data_source)).get(PREFERENCE.matcher) for data_source in data_sources
    }
    name = name_of(preference)
    suitable = [
        data_source for data_source in data_sources if preferences[_path(data_source)] == (preference["kind"], name)
    ]
    why = f"its default preference is {name}"
    if len(suitable) > 1 and (
        same_name := [data_source for data_source in suitable if name_of(data_source) == workload]
    ):
        others = sorted(_path(data_source) for data_source in suitable if data_source not in same_name)
        return _only_source(same_name), others, f"{why}, and it has the name of the workload"
    if not suitable:
        names = (normalized(workload), normalized(name))
        suitable = [
            data_source
            for data_source in data_sources
            if preferences[_path(data_source)] is None and normalized(name_of(data_source)) in names
        ]
        why = "it has the name of the workload, and no default preference"
    if not suitable:
        choices = [f"{path} ({default[1] if default else 'none'})" for path, default in sorted(preferences.items())]
        existing = f"; there are {_shortened(choices)}" if choices else ""
        raise MissingObject(
            f"boot: no DataSource has the default preference {name}{existing}; set boot, or label a DataSource"
            f" {PREFERENCE.volume_label}"
        )
    return _only_source(suitable), [], why


def _only_source(data_sources: list[Manifest]) -> Manifest:
    data_sources = _preferred(data_sources)
    if len(data_sources) > 1:
        choices = _shortened(sorted(_path(data_source) for data_source in data_sources))
        raise Rejected(f"boot: several DataSources would do: {choices}; set boot.data_source to one, {_REMEDY}")
    return data_sources[0]


class _Sizes(NamedTuple):
    """Instancetypes to choose from.

    too_small: why others are less than requested, by name. described: all of them, in words.
    """

    manifests: list[Manifest]
    too_small: dict[str, str]
    described: str


def _default(default: tuple[str, str], source: Manifest, available: AvailableObjects) -> list[Manifest]:
    matching = [item for item in available.instancetypes if (item.get("kind"), name_of(item)) == default]
    if not matching:
        where = f"of the DataSource {_path(source)}"
        raise MissingObject(f"size: the default instancetype {default[1]} {where} does not exist; set size")
    return matching


def _sizes(request: WorkloadRequest, available: AvailableObjects, release: Release) -> _Sizes:
    classes: dict[str, list[Manifest]] = {}
    for item in _by_name(available.instancetypes, INSTANCETYPE).values():
        if is_active(item):
            name = name_of(item)
            classes.setdefault(str(labels_of(item).get(CLASS_LABEL) or series_of(name) or name), []).append(item)
    name = _chosen_class(request.performance, classes)
    described = f"the instancetypes of the class {name}"
    manifests = classes[name]
    if request.size is not None:
        manifests = [item for item in manifests if size_of(item) == request.size]
        if not manifests:
            sizes = dict.fromkeys(size_of(item) for item in classes[name])
            raise Rejected(
                f"size: the class {name} has no size {quoted(request.size)}{did_you_mean(request.size, sizes)}"
            )
        described += f" and the size {request.size}"
    least = Constraints(cpu=count_of(request.cpu), memory=bytes_of(request.memory))
    large = fitting(manifests, least, release)
    bounds = [f"{least.cpu} vCPUs"] * bool(least.cpu) + [str(request.memory)] * bool(least.memory)
    too_small = {
        display_name(item, INSTANCETYPE): f"has less than {' and '.join(bounds)}"
        for item in manifests
        if item not in large
    }
    if bounds:
        described += f" with at least {' and '.join(bounds)}"
    if request.size is not None and len(large := _preferred(large)) > 1:
        choices = _listed(large, INSTANCETYPE)
        raise Rejected(
            f"size: {quoted(request.size)} means several instancetypes: {choices}; set instancetype to one, {_REMEDY}"
        )
    return _Sizes(large, too_small, described)


def _preferred(manifests: list[Manifest]) -> list[Manifest]:
    """The manifests that carry DEFAULT_LABEL; all manifests if none does."""
    return list(filter(_is_preferred, manifests)) or manifests


def _is_preferred(manifest: Manifest) -> bool:
    return labels_of(manifest).get(DEFAULT_LABEL) == "true"


def _chosen_class(performance: str | None, classes: Mapping[str, list[Manifest]]) -> str:
    if not classes:
        raise MissingObject("size: there are no instancetypes; deploy a catalog")
    remedy = f"or label the instancetypes of the one to prefer {DEFAULT_LABEL}=true"
    if performance is None:
        if GENERAL_PURPOSE in classes:
            return GENERAL_PURPOSE
        preferred = _preferred_classes(classes, list(classes))
        if len(preferred) == 1:
            return preferred[0]
        choices = _shortened(sorted(preferred))
        raise Rejected(f"performance: no instancetype has the class {GENERAL_PURPOSE}; choose {choices}, {remedy}")
    matching = (
        [performance] if performance in classes else [name for name in classes if name.partition(".")[0] == performance]
    )
    matching = _preferred_classes(classes, matching)
    if len(matching) > 1:
        choices = _shortened(sorted(matching))
        raise Rejected(f"performance: {quoted(performance)} means several classes; choose {choices}, {remedy}")
    if not matching:
        raise Rejected(
            f"performance: no instancetype has the class {quoted(performance)}; choose {_shortened(sorted(classes))}"
        )
    return matching[0]


def _preferred_classes(classes: Mapping[str, list[Manifest]], names: list[str]) -> list[str]:
    """The classes of instancetypes that a company prefers; all if there are none."""
    return [name for name in names if any(map(_is_preferred, classes[name]))] or names


def _suitable(
    sizes: _Sizes, preference: Manifest, refused: Mapping[tuple[str, str], str], release: Release
) -> tuple[list[Manifest], dict[str, str]]:
    """(the instancetypes that a VM with the preference can have, smallest first; why not the others, by name)."""
    try:
        spec = release_schema.canonical(PREFERENCE.spec_type, preference.get("spec"), release)
    except FieldError as error:
        raise Rejected(f"preference {name_of(preference)}: {error.with_parent('spec')}") from None
    fits = fitting(sizes.manifests, Constraints(preference=spec), release)
    rejected = dict(sizes.too_small)
    for instancetype in sizes.manifests:
        reason = refused.get((str(instancetype.get("kind")), name_of(instancetype)), "")
        if instancetype not in fits:
            reason = rejection_of_pair(instancetype, preference, "", release)
        if reason:
            rejected[display_name(instancetype, INSTANCETYPE)] = reason
    return [instancetype for instancetype in fits if display_name(instancetype, INSTANCETYPE) not in rejected], rejected


def _state(manifest: Manifest) -> str:
    state = state_of(manifest)
    return "" if state.name == ACTIVE else f"; it is {state.text}"


def _by_name(manifests: Iterable[Manifest], matcher_field: MatcherField) -> dict[str, Manifest]:
    """The manifests by name, in order; of two kinds the cluster-wide one."""
    result: dict[str, Manifest] = {}
    for manifest in manifests:
        if name_of(manifest) not in result or manifest.get("kind") == matcher_field.cluster_kind:
            result[name_of(manifest)] = manifest
    return result


def _listed(manifests: Iterable[Manifest], matcher_field: MatcherField) -> str:
    return _shortened([display_name(manifest, matcher_field) for manifest in manifests])


def _shortened(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_CHOICES} more" if len(names) > _MOST_CHOICES else ""
    return ", ".join(names[:_MOST_CHOICES]) + more


def normalized(name: str) -> str:
    """A name without case and punctuation."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _path(source: Manifest) -> str:
    return "/".join(filter(None, (namespace_of(source), name_of(source))))
