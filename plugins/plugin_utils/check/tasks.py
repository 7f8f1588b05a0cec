"""VMs, instancetypes and preferences that Ansible tasks and variables declare with this collection.

Only literal values can be checked. Names and namespaces may be templates, and cloud_init and access_credentials are
left out with a template or an encrypted value. For others, a note says that the object is not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import UnsupportedError

from ...module_utils._resolver.api import unquoted
from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from ...module_utils._resolver.api.names import nearest
from ...module_utils._resolver.api.option_checks import shape_problem
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.choose.fitting import Rejected
from ...module_utils._resolver.choose.workload import AvailableObjects, MissingObject, resolve
from ...module_utils._resolver.declare import manifests
from ...module_utils._resolver.declare.argument_spec import expand_shorthand, merge_options
from ...module_utils._resolver.declare.virtual_machine import reconcile
from ...module_utils._resolver.declare.vm import workload
from ...module_utils._resolver.declare.vm.from_image import image_inferences
from ...module_utils._resolver.declare.vm.manifest import manifest as virtual_machine
from ...module_utils._resolver.declare.vm.options import EXCLUSIVE, SPEC
from .evaluate import VM, Declared
from .findings import ERROR, NOTE, WARNING, Finding, Location, Unchecked
from .hosts import Host
from .sources import Source

Options = dict[str, Any]
Manifest = dict[str, Any]

_COLLECTION: Final = "virtshape.instancetypes."
_TEMPLATED: Final = ("{{", "{%")
TEMPLATE: Final = "has a template"
NOT_CHECKED: Final = ", so the object is not checked; run the playbook with --check against a cluster"
_SECRET: Final = "has a value encrypted with Ansible Vault"
_STRINGS: Final = ("name", "namespace")
_SOURCE: Final = "DataSource"
# These options do not affect the checks, and may contain secrets and file names.
_UNCHECKED_OPTIONS: Final = ("access_credentials", "cloud_init")
PLACEHOLDER: Final = "templated"
"""Replaces a templated name or namespace."""


class _Module(NamedTuple):
    """A module of this collection.

    plural: the option with the list. spec: the options of an object. manifest: options → manifest.

    exclusive: groups of options that exclude each other: an entry that sets one loses the others of its task.
    """

    plural: str
    spec: Options
    manifest: Callable[[Options], Options]
    exclusive: Sequence[tuple[str, ...]] = ()


_MODULES: Final = {
    "virtual_machine": _Module("virtual_machines", SPEC, virtual_machine, EXCLUSIVE),
    "instancetype": _Module("instancetypes", manifests.argument_spec(INSTANCETYPE), manifests.instancetype),
    "preference": _Module("preferences", manifests.argument_spec(PREFERENCE), manifests.preference),
}
# The variables of the role virtual_machines, wherever they are set.
_ROLE_LIST: Final = "virtual_machines_list"
_ROLE_DEFAULTS: Final = "virtual_machines_defaults"


class _Entry(NamedTuple):
    """The options of an object, and its location."""

    module: _Module
    location: Location
    options: Options


class Undecided(NamedTuple):
    """A VM whose instancetype and preference depend on the other objects. See `decided`."""

    entry: _Entry
    label: str


def declared(source: Source, namespace: str) -> Iterator[Declared | Finding | Unchecked | Undecided]:
    """The objects that an Ansible document declares. namespace: the default for VMs."""
    for entry in _entries(source.location, source.content):
        yield from _declared(entry, namespace)


def host_vm(host: Host, namespace: str) -> Iterator[Declared | Finding | Unchecked | Undecided]:
    """The VM that a host of an inventory is. namespace: the default."""
    module = _MODULES["virtual_machine"]
    task = {module.plural: [host.options], "defaults": host.defaults}
    for _index, options in _options_of(task, module):
        yield from _declared(_Entry(module, host.location, options), namespace)


def _entries(location: Location, content: Any) -> Iterator[_Entry]:
    """Walks the whole document, because tasks are in lists and blocks, and variables in mappings."""
    if isinstance(content, list):
        for index, inside in enumerate(content):
            yield from _entries(location._replace(path=(*location.path, index)), inside)
    if not isinstance(content, dict) or "apiVersion" in content:
        return
    for key, value in content.items():
        child = location._replace(path=(*location.path, str(key)))
        name = str(key).removeprefix(_COLLECTION)
        if name in _MODULES and name != key and isinstance(value, dict):
            module = _MODULES[name]
            yield from _of_task(module, child, value, (module.plural,))
        elif key == _ROLE_LIST and isinstance(value, list):
            module = _MODULES["virtual_machine"]
            task = {module.plural: value, "defaults": content.get(_ROLE_DEFAULTS)}
            yield from _of_task(module, child, task, ())
        else:
            yield from _entries(child, value)


def _of_task(module: _Module, location: Location, options: Options, inside: tuple[str, ...]) -> Iterator[_Entry]:
    """The objects of a task. inside: the path from `location` to the list of objects."""
    for index, own in _options_of(options, module):
        path: tuple[str | int, ...] = () if index is None else (*inside, index)
        yield _Entry(module, location._replace(path=(*location.path, *path)), own)


def _options_of(options: Options, module: _Module) -> Iterator[tuple[int | None, Options]]:
    """The options of each object that a task declares, as its module reads them, with their index in the list.

    Without the option with the list, the task declares one object.
    """
    spec, exclusive = module.spec, module.exclusive
    names = {key for name, option in spec.items() for key in (name, *option.get("aliases", ()))}
    task_options = expand_shorthand(
        {name: value for name, value in options.items() if name in names and value is not None}, spec
    )
    listed = options.get(module.plural)
    if not isinstance(listed, list):
        if task_options.get("name"):
            yield None, task_options
        return
    defaults = options.get("defaults")
    defaults = expand_shorthand(defaults, spec) if isinstance(defaults, dict) else {}
    shared = merge_options(defaults, task_options, spec, exclusive)
    for index, entry in enumerate(listed):
        if isinstance(entry, dict):
            yield index, merge_options(shared, expand_shorthand(entry, spec), spec, exclusive)


def decided(
    vm: Undecided, candidates: Sequence[Manifest], release: Release
) -> Iterator[Declared | Finding | Unchecked]:
    """The VM with what is chosen for its workload among the known objects, which have names.

    The cluster may have other DataSources, but no other instancetypes and preferences.
    """
    entry, label = vm
    options = entry.options
    candidates = [
        item for item in candidates if item["metadata"].get("namespace") == options["namespace"] or _shared(item)
    ]
    preferences, instancetypes = (
        [item for item in candidates if item["kind"] in (role.kind, role.cluster_kind)]
        for role in (PREFERENCE, INSTANCETYPE)
    )
    sources = None if options.get("boot") else [item for item in candidates if item["kind"] == _SOURCE]
    try:
        available = AvailableObjects(preferences, instancetypes, sources or None)
        choice = resolve(workload.request_of(options), available, release).as_data()
        options = workload.apply_choice(options, choice, workload.size_of(options))
        yield from _virtual_machine(entry._replace(options=options), label)
    except MissingObject as error:
        message = f"{error}; pass what the cluster has with --objects"
        yield _unchecked(entry, label, "", message)._replace(
            finding=Finding("not-found", WARNING, entry.location, label, "", message)
        )
        return
    except (Rejected, FieldError) as error:
        yield Finding("not-found", ERROR, entry.location, label, "", str(error))
        return
    if sources == []:
        message = "no DataSource is among the checked files, so the boot source is not checked; pass it with --objects"
        yield Finding("unchecked", NOTE, entry.location, label, "workload", message)


def _shared(manifest: Manifest) -> bool:
    """Whether VMs of all namespaces can have it."""
    return manifest["kind"] in (_SOURCE, PREFERENCE.cluster_kind, INSTANCETYPE.cluster_kind)


def _declared(entry: _Entry, namespace: str) -> Iterator[Declared | Finding | Unchecked | Undecided]:
    options = dict(entry.options)
    for name in _STRINGS:
        if unknown(options.get(name)) == TEMPLATE:
            options[name] = PLACEHOLDER
    if options.get("state") == "absent":
        return
    label = f"{entry.module.plural.rstrip('s').replace('_', ' ')} {options.get('name') or ''}".strip()
    for name in entry.options:
        why = unknown(options[name])
        if not why:
            continue
        if name not in _UNCHECKED_OPTIONS:
            yield _unchecked(entry, label, name, f"{why}{NOT_CHECKED}")
            return
        yield Finding("unchecked", NOTE, entry.location, label, name, f"{why}, so the option is not checked")
        del options[name]
    if yaml_problem := unquoted.problem(options):
        yield Finding("invalid", ERROR, entry.location, label, *yaml_problem)
        return
    problem = shape_problem(options, entry.module.spec)
    if problem is None:
        validator = ArgumentSpecValidator(entry.module.spec, mutually_exclusive=entry.module.exclusive)
        result = validator.validate(options)
        problem = next((_words(error, entry.module.spec) for error in result.errors), None)
        options = result.validated_parameters
    if problem is not None:
        yield Finding("invalid", ERROR, entry.location, label, "", problem)
        return
    if entry.module.plural == "virtual_machines":
        options["namespace"] = options.get("namespace") or namespace
    try:
        manifest = entry.module.manifest(options)
    except FieldError as error:
        yield Finding("invalid", ERROR, entry.location, label, error.path, error.reason)
        return
    entry = entry._replace(options=options)
    if options.get("from_template") is not None:
        message = "the cluster decides on the VM; run the playbook with --check against a cluster"
        yield _unchecked(entry, label, "from_template", message)
    elif options.get("workload") is not None:
        yield Undecided(entry, label)
    elif entry.module.plural == "virtual_machines":
        yield from _virtual_machine(entry, label)
    else:
        yield Declared(entry.location, manifest)


def _virtual_machine(entry: _Entry, label: str) -> Iterator[Declared | Unchecked]:
    """Raises FieldError."""
    options, manifest = entry.options, entry.module.manifest(entry.options)
    if options.get("infer_from_registry") and (inferences := image_inferences(manifest, None, {})):
        first = inferences[0]
        message = f"the image {first.image.name} decides on the {first.role.matcher}; the check asks no registry"
        yield _unchecked(entry, label, "infer_from_registry", message)
        return
    # As for a new VM, which gets a run strategy.
    manifest, _owned = reconcile(manifest, None, "")
    yield Declared(entry.location, manifest)


def _unchecked(entry: _Entry, label: str, option: str, message: str) -> Unchecked:
    kind = VM if entry.module.plural == "virtual_machines" else entry.module.plural.rstrip("s")
    return Unchecked(kind, Finding("unchecked", NOTE, entry.location, label, option, message))


def _words(error: Exception, spec: Options) -> str:
    if not isinstance(error, UnsupportedError):
        return str(error)
    # Ansible's error is the unknown option, followed by the known ones.
    name = str(error).partition(".")[0]
    return f"{name}: unknown option{nearest(name, spec)}"


def unknown(value: Any) -> str:
    """Why a value is unknown; "" if it is known."""
    if isinstance(value, str):
        if value.startswith("$ANSIBLE_VAULT;"):
            return _SECRET
        return TEMPLATE if any(mark in value for mark in _TEMPLATED) else ""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next(filter(None, map(unknown, inside)), "")
