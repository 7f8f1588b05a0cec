"""From the name of a workload to boot source, preference and instancetype, as options of a VM.

Each rule has one answer or none: where several objects answer, the request is ambiguous and rejected with the choices.
Objects with the same name count once, as the cluster-wide kind, which a VM without a kind means.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .._resolver.api import release_schema
from .._resolver.api.errors import FieldError
from .._resolver.api.keys import DEFAULT_LABEL, WORKLOAD_ANNOTATION
from .._resolver.api.manifest import Manifest, Options, annotations_of, labels_of, name_of, namespace_of
from .._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, PREFERENCE, MatcherField
from .._resolver.api.name_rules import did_you_mean, first_names, quoted
from .._resolver.api.release import Release
from .._resolver.api.state import ACTIVE, is_active, state_of
from .._resolver.choose import fitting
from .._resolver.choose.fitting import CLASS_LABEL, Constraints
from .._resolver.choose.rejected import MissingObject, Rejected
from .._resolver.choose.suggestions import display_name
from .source import matchers
from .stored_choice import CHOSEN_OPTIONS

"""The label, with the value "true", of the objects to prefer where a request means several."""
_REMEDY: Final = f"or label the one to prefer {DEFAULT_LABEL}=true"
# The class of the published catalogs for workloads that ask for nothing else.
GENERAL_PURPOSE: Final = "general.purpose"
# Annotations of published preferences: a name for users, and words separated by commas.
_DISPLAY_NAME: Final = "openshift.io/display-name"
_TAGS: Final = "tags"
_MOST_CHOICES: Final = 20
_MOST_REASONS: Final = 3
# Names of other choices in the annotation of a VM, so that large catalogs do not make large VMs.
_MOST_OTHERS: Final = 10


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

    objects: instancetypes and preferences. data_sources: None if no boot source is to be chosen. refused: why a VM with
    an instancetype cannot run, by the instancetype's kind and name.
    """

    objects: Sequence[Manifest]
    data_sources: Sequence[Manifest] | None = None
    refused: Mapping[tuple[str, str], str] = {}


def size_option(options: Options) -> Options:
    """The option `size`, without what is not set."""
    return {name: value for name, value in (options.get("size") or {}).items() if value is not None}


def request_of(options: Options) -> WorkloadRequest:
    size = size_option(options)
    return WorkloadRequest(
        options["workload"], size.get("name"), size.get("cpu"), size.get("memory"), size.get("performance")
    )


def apply_choice(options: Options, choice: Options, size: Options) -> Options:
    """The options with what was chosen instead of the workload, see `resolve`. size: the size to keep."""
    chosen = {name: choice[name] for name in CHOSEN_OPTIONS if name in choice}
    others = {name: names[:_MOST_OTHERS] for name, names in choice["others"].items()}
    record = {"workload": options["workload"], "size": size, **chosen, "reasons": choice["reasons"], "others": others}
    return {
        **options,
        "workload": None,
        "size": None,
        **{name: value for name, value in chosen.items() if options.get(name) is None},
        "annotations": {**(options.get("annotations") or {}), WORKLOAD_ANNOTATION: json.dumps(record, sort_keys=True)},
    }


def resolve(request: WorkloadRequest, available: AvailableObjects, release: Release) -> Options:
    """The boot source, preference and instancetype of a workload. Raises Rejected.

    Preference: the one with exactly the workload's name; else the default of DataSources of the name; else the one that
    has the name or the display name without regard to case and punctuation; else the one with the tag. Boot source: the
    DataSource with this default preference, of several the one with the workload's name; else the one without a default
    preference that has the name of the workload or of the preference. Instancetype: without a size, the DataSource's
    default; else the smallest of the class and size.

    In the result, `boot`, `preference` and `instancetype` are options of the module virtual_machine. reasons: one line
    for each choice. others: names of what would also do, best first. rejected: why an instancetype of the class and
    size does not do, by name.
    """
    preference, why = _preference(request.workload, available)
    reasons = [f"preference {name_of(preference)}: {why}{_state(preference)}"]
    source: Manifest | None = None
    other_sources: list[str] = []
    if available.data_sources is not None:
        source, other_sources, why = _source(request.workload, preference, available.data_sources)
        reasons.append(f"boot source {_path(source)}: {why}")
    default = None if source is None or request.sized else _defaults(source).get("instancetype")
    rejected: dict[str, str] = {}
    if source is not None and default is not None:
        where = f"of the DataSource {_path(source)}"
        described = f"the default instancetype {where}"
        sizes = [item for item in available.objects if _kind_and_name(item) == default]
        if not sizes or MATCHER_FIELD_OF_KIND.get(default[0]) is not INSTANCETYPE:
            raise MissingObject(f"size: the default instancetype {default[1]} {where} does not exist; set size")
        why = f"is {described}"
    else:
        sizes, rejected, described = _sizes(request, available.objects, release)
        why = f"is the smallest of {described} that {name_of(preference)} can have"
    try:
        release_schema.canonical(PREFERENCE.spec_type, preference.get("spec"), release)
    except FieldError as error:
        raise Rejected(f"preference {name_of(preference)}: {error.with_parent('spec')}") from None
    for item in sizes:
        reason = fitting.rejection_of_pair(item, preference, "", release)
        if reason := reason or available.refused.get(_kind_and_name(item), ""):
            rejected[_size_name(item)] = reason
    fits = [item for item in sizes if _size_name(item) not in rejected]
    if not fits:
        last = "; ".join([f"{name}: {reason}" for name, reason in rejected.items()][-_MOST_REASONS:])
        raise Rejected(f"size: {name_of(preference)} cannot have {described}: {last}")
    chosen = _smallest(fits, release)
    reasons.append(f"instancetype {_size_name(chosen)}: {why}{_state(chosen)}")
    other_sizes = [_size_name(item) for item in fits if item is not chosen]
    return {
        **({"boot": {"data_source": _path(source)}} if source is not None else {}),
        "preference": {"name": name_of(preference), "kind": preference["kind"]},
        "instancetype": {"name": name_of(chosen), "kind": chosen["kind"]},
        "reasons": reasons,
        "others": {"boot": other_sources, "instancetype": other_sizes},
        "rejected": rejected,
    }


def _smallest(sizes: Sequence[Manifest], release: Release) -> Manifest:
    """The first of ascending instancetypes; of equally small ones the preferred one. Raises Rejected if several are."""
    smallest = fitting.rank(sizes[0], release)
    same = _preferred([item for item in sizes if fitting.rank(item, release) == smallest])
    if len(same) > 1:
        choices = first_names(map(_size_name, same), _MOST_CHOICES)
        raise Rejected(f"size: {choices} are equally small; name a size, set instancetype, {_REMEDY}")
    return same[0]


def _preference(workload: str, available: AvailableObjects) -> tuple[Manifest, str]:
    """(the preference, why this one)."""
    if not normalized(workload):
        raise Rejected(f"workload: {quoted(workload)} has no letter and no digit; write a name such as fedora")
    by_name = _by_name(available.objects, PREFERENCE)
    if workload in by_name:
        return by_name[workload], "has the name of the workload"
    data_sources = available.data_sources or ()
    sources = [item for item in data_sources if name_of(item) == workload]
    if defaults := {default for item in sources if (default := _defaults(item).get("preference"))}:
        found = [item for item in by_name.values() if _kind_and_name(item) in defaults]
        if missing := defaults.difference(map(_kind_and_name, found)):
            names = ", ".join(sorted(name for _kind, name in missing))
            raise MissingObject(f"workload: the default preference {names} of the DataSource {workload} does not exist")
        return _one_preference(found, workload), f"is the default of the DataSource {_path(sources[0])}"
    current = [item for item in by_name.values() if is_active(item)]
    spelled = [item for item in current if normalized(workload) in map(normalized, _names(item))]
    if spelled:
        return _one_preference(spelled, workload), "has the name of the workload but for case and punctuation"
    tagged = [item for item in current if workload in _tags(item)]
    if tagged:
        return _one_preference(tagged, workload), "is the only one with the workload's tag"
    known = dict.fromkeys([*by_name, *map(name_of, data_sources)])
    raise MissingObject(
        f"workload: no preference and no DataSource is named {quoted(workload)}{did_you_mean(workload, known)}"
    )


def _names(preference: Manifest) -> tuple[str, str]:
    return name_of(preference), annotations_of(preference).get(_DISPLAY_NAME) or ""


def _tags(preference: Manifest) -> list[str]:
    return [tag.strip() for tag in (annotations_of(preference).get(_TAGS) or "").split(",")]


def _one_preference(preferences: list[Manifest], workload: str) -> Manifest:
    problem = f"workload: {quoted(workload)} means several preferences"
    return _only(preferences, lambda item: display_name(item, PREFERENCE), problem, "choose one")


def _only(candidates: list[Manifest], name: Callable[[Manifest], str], problem: str, remedy: str) -> Manifest:
    """The only candidate, or the only one that is preferred. Raises Rejected with the names of several."""
    candidates = _preferred(candidates)
    if len(candidates) > 1:
        raise Rejected(f"{problem}: {first_names(map(name, candidates), _MOST_CHOICES)}; {remedy}, {_REMEDY}")
    return candidates[0]


def _preferred(manifests: list[Manifest]) -> list[Manifest]:
    """The manifests that carry DEFAULT_LABEL; all manifests if none does."""
    return list(filter(_is_preferred, manifests)) or manifests


def _is_preferred(manifest: Manifest) -> bool:
    return labels_of(manifest).get(DEFAULT_LABEL) == "true"


def _source(workload: str, preference: Manifest, data_sources: Sequence[Manifest]) -> tuple[Manifest, list[str], str]:
    """(the DataSource, the others that would do, why this one)."""
    name, others = name_of(preference), []
    defaults = {_path(item): _defaults(item).get("preference") for item in data_sources}
    suitable = [item for item in data_sources if defaults[_path(item)] == _kind_and_name(preference)]
    why = f"its default preference is {name}"
    same_name = [item for item in suitable if name_of(item) == workload]
    if same_name and len(suitable) > 1:
        others = sorted(_path(item) for item in suitable if item not in same_name)
        suitable, why = same_name, f"{why}, and it has the name of the workload"
    if not suitable:
        names = (normalized(workload), normalized(name))
        suitable = [
            item for item in data_sources if defaults[_path(item)] is None and normalized(name_of(item)) in names
        ]
        why = "it has the name of the workload, and no default preference"
    if not suitable:
        choices = [f"{path} ({default[1] if default else 'none'})" for path, default in sorted(defaults.items())]
        existing = f"; there are {first_names(choices, _MOST_CHOICES)}" if choices else ""
        raise MissingObject(
            f"boot: no DataSource has the default preference {name}{existing}; set boot, or label a DataSource"
            f" {PREFERENCE.volume_label}"
        )
    problem, remedy = "boot: several DataSources would do", "set boot.data_source to one"
    return _only(sorted(suitable, key=_path), _path, problem, remedy), others, why


def _sizes(
    request: WorkloadRequest, objects: Iterable[Manifest], release: Release
) -> tuple[list[Manifest], dict[str, str], str]:
    """(the instancetypes to choose from, smallest first; why others are too small, by name; all of them, in words)."""
    classes: dict[str, list[Manifest]] = {}
    for item in _by_name(objects, INSTANCETYPE).values():
        if is_active(item):
            name = name_of(item)
            classes.setdefault(str(labels_of(item).get(CLASS_LABEL) or fitting.series_of(name) or name), []).append(
                item
            )
    name = _chosen_class(request.performance, classes)
    manifests, described = classes[name], f"the instancetypes of the class {name}"
    if request.size is not None:
        sizes = dict.fromkeys(map(fitting.size_of, manifests))
        if request.size not in sizes:
            hint = did_you_mean(request.size, sizes)
            raise Rejected(f"size: the class {name} has no size {quoted(request.size)}{hint}")
        manifests = [item for item in manifests if fitting.size_of(item) == request.size]
        described += f" and the size {request.size}"
    least = Constraints(cpu=fitting.count_of(request.cpu), memory=fitting.bytes_of(request.memory))
    large = fitting.fitting(manifests, least, release)
    bounds = " and ".join([f"{least.cpu} vCPUs"] * bool(least.cpu) + [str(request.memory)] * bool(least.memory))
    too_small = {_size_name(item): f"has less than {bounds}" for item in manifests if item not in large}
    if bounds:
        described += f" with at least {bounds}"
    if request.size is not None and large:
        problem = f"size: {quoted(request.size)} means several instancetypes"
        large = [_only(large, _size_name, problem, "set instancetype to one")]
    return large, too_small, described


def _chosen_class(performance: str | None, classes: Mapping[str, list[Manifest]]) -> str:
    if not classes:
        raise MissingObject("size: there are no instancetypes; deploy a catalog")
    wanted = GENERAL_PURPOSE if performance is None else performance
    if wanted in classes:
        return wanted
    matching, problem = list(classes), f"no instancetype has the class {wanted}"
    if performance is not None:
        matching = [name for name in classes if name.partition(".")[0] == performance]
        problem = f"{quoted(performance)} means several classes"
    if not matching:
        choices = first_names(sorted(classes), _MOST_CHOICES)
        raise Rejected(f"performance: no instancetype has the class {quoted(performance)}; choose {choices}")
    matching = [name for name in matching if any(map(_is_preferred, classes[name]))] or matching
    if len(matching) > 1:
        remedy = f"or label the instancetypes of the one to prefer {DEFAULT_LABEL}=true"
        raise Rejected(f"performance: {problem}; choose {first_names(sorted(matching), _MOST_CHOICES)}, {remedy}")
    return matching[0]


def _state(manifest: Manifest) -> str:
    state = state_of(manifest)
    return "" if state.name == ACTIVE else f"; it is {state.text}"


def _by_name(objects: Iterable[Manifest], matcher_field: MatcherField) -> dict[str, Manifest]:
    """The objects of a field by name, in order; of two kinds the cluster-wide one."""
    result: dict[str, Manifest] = {}
    for manifest in objects:
        kind = manifest.get("kind")
        if kind == matcher_field.cluster_kind or (kind == matcher_field.kind and name_of(manifest) not in result):
            result[name_of(manifest)] = manifest
    return result


def _defaults(data_source: Manifest) -> dict[str, tuple[str, str]]:
    """Kind and name of the default instancetype and preference."""
    return matchers(labels_of(data_source))


def _kind_and_name(manifest: Manifest) -> tuple[str, str]:
    return str(manifest.get("kind")), name_of(manifest)


def _size_name(instancetype: Manifest) -> str:
    return display_name(instancetype, INSTANCETYPE)


def normalized(name: str) -> str:
    """A name without case and punctuation."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _path(source: Manifest) -> str:
    return "/".join(filter(None, (namespace_of(source), name_of(source))))
