"""VMs, instancetypes and preferences that Ansible tasks and variables declare.

With this collection, or as manifests with `kubernetes.core.k8s` and `kubevirt.core.kubevirt_vm`.

Only literal values can be checked. Names and namespaces may be templates, and cloud_init and access_credentials are
left out with a template or an encrypted value. For others, a note says that the object is not checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...module_utils._resolver.api.finding import NOTE
from ...module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE, ObjectKey
from ...module_utils._resolver.api.tree import value_at
from ...module_utils._resolver.declare import instancetypes as declare
from ...module_utils._resolver.declare.argument_spec import expand_shorthand, merge_options
from ...module_utils._resolver.declare.option_checks import own_name
from ...module_utils._resolver.declare.rewrites import RUN_STRATEGY
from ...module_utils._resolver.declare.virtual_machine import as_created
from ...module_utils._resolver.declare.vm.manifest import manifest as virtual_machine
from ...module_utils._task_files import found
from ...module_utils._task_objects import PATCH, completed, files_of, module_of, objects_of, patch_problem
from ...module_utils._vm_options import VM_OPTIONS
from .checked_objects import VM, CheckedObject
from .findings import LocatedFinding, Location, invalid
from .hosts import Host
from .option_errors import COLLECTION, DeclaringModule, errors_in, first, misspelt
from .placeholders import Placeholders
from .sources import LocatedDocument, Repository, SourceManifest, add, kinds_in, manifests, mapping_items

Options = dict[str, Any]
# File → the options of the first task that takes it.
Links = dict[str, Options]

_TEMPLATED: Final = ("{{", "{%")
_TEMPLATE: Final = "has a template"
_NOT_CHECKED: Final = ", so the object is not checked; run the playbook with --check against a cluster"
_SECRET: Final = "has a value encrypted with Ansible Vault"
# The statement whose entries name modules too.
_DEFAULTS: Final = "module_defaults"
_STRINGS: Final = ("name", "namespace")
# These options do not affect the checks, and may contain secrets and file names.
_UNCHECKED_OPTIONS: Final = ("access_credentials", "cloud_init")
# The guest does not depend on these options.
_NO_GUEST_OPTIONS: Final = (
    "name",
    "namespace",
    "labels",
    "annotations",
    "node_selector",
    "tolerations",
    "run_strategy",
)
_VIRTUAL_MACHINE: Final = DeclaringModule(
    "virtual_machines",
    VM_OPTIONS.spec,
    partial(virtual_machine, table=VM_OPTIONS),
    VM_OPTIONS.exclusive,
    VM_OPTIONS.shorthand,
)
_MODULES: Final = {
    "virtual_machine": _VIRTUAL_MACHINE,
    "instancetype": DeclaringModule("instancetypes", declare.argument_spec(INSTANCETYPE), declare.instancetype),
    "preference": DeclaringModule("preferences", declare.argument_spec(PREFERENCE), declare.preference),
}
# The variables of the role virtual_machines, wherever they are set.
_ROLE_LIST: Final = "virtual_machines_list"
_ROLE_DEFAULTS: Final = "virtual_machines_defaults"


class DeclaredOptions(NamedTuple):
    """The options of an object, and its location. wrong: the fields with errors that are reported already."""

    module: DeclaringModule
    location: Location
    options: Options
    wrong: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        noun = self.module.plural.rstrip("s").replace("_", " ")
        return f"{noun} {self.options.get('name') or ''}".strip()

    def finding(self, rule: str, severity: str, field: str, message: str) -> LocatedFinding:
        return LocatedFinding(message, severity, field, rule=rule, location=self.location, label=self.label)

    def unchecked(self, option: str, message: str) -> LocatedFinding:
        kind = VM if self.module is _VIRTUAL_MACHINE else self.module.plural.rstrip("s")
        return replace(self.finding("unchecked", NOTE, option, message), unjudged=kind)


def objects_of_document(
    source: LocatedDocument, namespace: str, placeholders: Placeholders
) -> Iterator[CheckedObject | LocatedFinding | DeclaredOptions]:
    """The objects that an Ansible document declares; VMs as their options. namespace: the default for VMs."""
    yield from misspelt(source)
    for location, key, value, variables in mapping_items(source.location, source.content, _declares):
        if key == _ROLE_LIST:
            task = {_VIRTUAL_MACHINE.plural: value, "defaults": variables.get(_ROLE_DEFAULTS)}
            found = _task_objects(_VIRTUAL_MACHINE, location, task, ())
        else:
            module = _MODULES[key.removeprefix(COLLECTION)]
            found = _task_objects(module, location, value, (module.plural,))
        for declared in found:
            yield from _checked_object(declared, namespace, placeholders)


def _declares(_location: Location, key: str, value: Any) -> bool:
    """Whether a key and its value are a task of a module, or the variable of the role."""
    name = str(key).removeprefix(COLLECTION)
    if name in _MODULES and name != key and isinstance(value, dict):
        return True
    return key == _ROLE_LIST and isinstance(value, list)


def absent_vms(source: LocatedDocument, namespace: str) -> Iterator[ObjectKey]:
    """The VMs that the tasks of a document delete. namespace: the default."""
    for _location, key, value, variables in mapping_items(source.location, source.content, _declares):
        if key == _ROLE_LIST:
            value = {_VIRTUAL_MACHINE.plural: value, "defaults": variables.get(_ROLE_DEFAULTS)}
        elif _MODULES[key.removeprefix(COLLECTION)] is not _VIRTUAL_MACHINE:
            continue
        for _index, options in _object_options(value, _VIRTUAL_MACHINE):
            if options.get("state") == "absent":
                yield ObjectKey(VM, str(options.get("namespace") or namespace), str(options.get("name")))


def host_vm(
    host: Host, namespace: str, placeholders: Placeholders
) -> Iterator[CheckedObject | LocatedFinding | DeclaredOptions]:
    """The VM that a host of an inventory is. namespace: the default."""
    task = {_VIRTUAL_MACHINE.plural: [host.options], "defaults": host.defaults}
    for _index, options in _object_options(task, _VIRTUAL_MACHINE):
        yield from _checked_object(DeclaredOptions(_VIRTUAL_MACHINE, host.location, options), namespace, placeholders)


def _task_objects(
    module: DeclaringModule, location: Location, options: Options, inside: tuple[str, ...]
) -> Iterator[DeclaredOptions]:
    """The objects of a task. inside: the path from `location` to the list of objects."""
    for index, own in _object_options(options, module):
        path: tuple[str | int, ...] = () if index is None else (*inside, index)
        yield DeclaredOptions(module, location.below(*path), own)


def _object_options(options: Options, module: DeclaringModule) -> Iterator[tuple[int | None, Options]]:
    """The options of each object that a task declares, as its module reads them, with their index in the list.

    Without the option with the list, the task declares one object.
    """
    spec, exclusive, shorthand = module.spec, module.exclusive, module.shorthand
    names = {key for name, option in spec.items() for key in (name, *option.get("aliases", ()))}
    task_options = expand_shorthand(
        {name: value for name, value in options.items() if name in names and value is not None}, spec, shorthand
    )
    listed = options.get(module.plural)
    if not isinstance(listed, list):
        if task_options.get("name"):
            yield None, task_options
        return
    defaults = options.get("defaults")
    defaults = expand_shorthand(defaults, spec, shorthand) if isinstance(defaults, dict) else {}
    shared = merge_options(defaults, task_options, spec, exclusive)
    for index, item in enumerate(listed):
        if isinstance(item, dict):
            yield index, merge_options(shared, expand_shorthand(item, spec, shorthand), spec, exclusive)


def _checked_object(
    declared: DeclaredOptions, namespace: str, placeholders: Placeholders
) -> Iterator[CheckedObject | LocatedFinding | DeclaredOptions]:
    options = dict(declared.options)
    for name in _STRINGS:
        if _why_unknown(options.get(name)) == _TEMPLATE:
            options[name] = placeholders.hidden_text(options[name])
    if options.get("state") == "absent":
        return
    declared = declared._replace(options=options)
    for name, value in list(options.items()):
        why = _why_unknown(value)
        if why and name not in _UNCHECKED_OPTIONS:
            yield declared.unchecked(name, f"{why}{_NOT_CHECKED}")
            return
        if why:
            yield declared.finding("unchecked", NOTE, name, f"{why}, so the option is not checked")
            del options[name]
    is_vm = declared.module is _VIRTUAL_MACHINE
    errors = errors_in(options, declared.module)
    yield from invalid(declared.finding, errors.errors)
    if errors.options is None or any(_may_cause_others(field, declared.module.spec) for field in errors.fields):
        return
    options = errors.options
    if is_vm:
        options["namespace"] = options.get("namespace") or namespace
    wrong = tuple(errors.fields)
    declared = declared._replace(options=options)
    if options.get("from_template") is not None:
        message = "the cluster decides on the VM; run the playbook with --check against a cluster"
        yield declared.unchecked("from_template", message)
    elif is_vm:
        yield declared._replace(wrong=wrong)
    else:
        yield CheckedObject(declared.location, declared.module.manifest(options), wrong)


def virtual_machine_of(declared: DeclaredOptions) -> CheckedObject:
    """The VM that the options declare. Raises FieldError."""
    # A new VM gets a run strategy.
    options = declared.options
    desired = declared.module.manifest(options)
    return CheckedObject(
        declared.location,
        as_created(desired),
        declared.wrong,
        adopts_disks=bool(options.get("adopt_disks")),
        keeps_power=value_at(desired, RUN_STRATEGY) is None,
    )


def _may_cause_others(field: str, spec: Options) -> bool:
    """Whether other errors may follow from an error in the field of an option: it says what the guest has."""
    name = own_name(first(field), spec)
    return name in spec and name not in _NO_GUEST_OPTIONS


def _is_task(location: Location, key: str, value: Any) -> bool:
    return bool(module_of(key, value)) and _DEFAULTS not in location.path


def task_manifests(location: Location, content: Any) -> Iterator[SourceManifest]:
    """The manifests in the tasks of a document. A VM whose options have templates is found with the reason."""
    for place, key, options, _task in mapping_items(location, content, _is_task):
        for item in objects_of(module_of(key, options), options):
            where = place.below(*item.path)
            if isinstance(item.content, str):
                problem = _why_unknown(item.content) or "is not YAML"
                for kind in kinds_in(item.content):
                    yield SourceManifest(where, {"apiVersion": "", "kind": kind}, f"{problem}{_NOT_CHECKED}")
            elif isinstance(item.content.get("kind"), str):
                yield _with_reasons(where, item.content, item.problem)


def add_linked_files(repository: Repository) -> Links:
    """Adds the files from which tasks take objects to their repository."""
    links: Links = {}
    for source in list(repository.sources):
        for _place, key, options, _task in mapping_items(*source, _is_task):
            for folder, path in files_of(module_of(key, options), options):
                file = found(Path(source.location.file), folder, path)
                if file is not None:
                    links.setdefault(str(file), options)
                    add(repository, str(file))
    return links


def manifests_of(source: LocatedDocument, links: Links) -> Iterator[SourceManifest]:
    """The manifests of a document: its own, the manifests in its tasks, and in a file that a task takes."""
    options = links.get(source.location.file)
    for item in manifests([source]):
        if options is None:
            yield item
            continue
        whole = completed(item.manifest, options)
        yield _with_reasons(item.location, whole, patch_problem(whole, options))
    yield from task_manifests(*source)


def _with_reasons(location: Location, manifest: Options, problem: str) -> SourceManifest:
    """The manifest with the reasons why it or parts of it are unknown. Its name and namespace may be templates."""
    metadata = manifest.get("metadata")
    if isinstance(metadata, dict):
        metadata = {key: value for key, value in metadata.items() if key not in _STRINGS}
    unknown = _why_unknown({**manifest, "metadata": metadata})
    reasons = [f"{reason}{_NOT_CHECKED}" if reason else "" for reason in (problem, unknown)]
    return SourceManifest(location, manifest, reasons[0], problem == PATCH, reasons[1])


def _why_unknown(value: Any) -> str:
    """Why a value is unknown; "" if it is known."""
    if isinstance(value, str):
        if value.startswith("$ANSIBLE_VAULT;"):
            return _SECRET
        return _TEMPLATE if any(mark in value for mark in _TEMPLATED) else ""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next(filter(None, map(_why_unknown, inside)), "")
