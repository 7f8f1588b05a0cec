"""VMs, instancetypes and preferences that Ansible tasks and variables declare.

With this collection, or as manifests with `kubernetes.core.k8s` and `kubevirt.core.kubevirt_vm`.

Only literal values can be checked. Names and namespaces may be templates, and cloud_init and access_credentials are
left out with a template or an encrypted value. For others, a note says that the object is not checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._resolver.api.finding import NOTE
from ...module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from ...module_utils._resolver.declare import instancetypes as declare
from ...module_utils._resolver.declare.argument_spec import expand_shorthand, merge_options
from ...module_utils._resolver.declare.option_checks import own_name
from ...module_utils._resolver.declare.virtual_machine import reconcile
from ...module_utils._resolver.declare.vm.manifest import manifest as virtual_machine
from ...module_utils._resolver.declare.vm.options import EXCLUSIVE, SPEC
from ...module_utils._yaml_documents import TextError, documents
from .findings import LocatedFinding, Location, invalid
from .hosts import Host
from .objects import VM, Declared
from .options import COLLECTION, DeclaringModule, errors_in, first, misspelt
from .sources import Source, SourceManifest, entries, kinds_in, manifests

Options = dict[str, Any]
Manifest = dict[str, Any]

_TEMPLATED: Final = ("{{", "{%")
_TEMPLATE: Final = "has a template"
_NOT_CHECKED: Final = ", so the object is not checked; run the playbook with --check against a cluster"
_SECRET: Final = "has a value encrypted with Ansible Vault"
_STRINGS: Final = ("name", "namespace")
# These options do not affect the checks, and may contain secrets and file names.
_UNCHECKED_OPTIONS: Final = ("access_credentials", "cloud_init")
# Options that say nothing about the guest.
_APART: Final = ("name", "namespace", "labels", "annotations", "node_selector", "tolerations", "run_strategy")
# Replaces a templated name or namespace.
_PLACEHOLDER: Final = "templated"

_K8S_COLLECTIONS: Final = ("kubernetes.core.", "community.kubernetes.", "community.okd.", "redhat.openshift.", "")
_K8S: Final = frozenset(f"{collection}k8s" for collection in _K8S_COLLECTIONS)
_KUBEVIRT_VM: Final = frozenset(("kubevirt.core.kubevirt_vm", "community.kubevirt.kubevirt_vm", "kubevirt_vm"))
_OTHER_MODULES: Final = _K8S | _KUBEVIRT_VM
_DEFINITIONS: Final = ("definition", "resource_definition", "inline")
_OLD: Final = "the options of community.kubevirt are not known"
_PATCH: Final = "is a patch"


_VIRTUAL_MACHINE: Final = DeclaringModule("virtual_machines", SPEC, virtual_machine, EXCLUSIVE)
_MODULES: Final = {
    "virtual_machine": _VIRTUAL_MACHINE,
    "instancetype": DeclaringModule("instancetypes", declare.argument_spec(INSTANCETYPE), declare.instancetype),
    "preference": DeclaringModule("preferences", declare.argument_spec(PREFERENCE), declare.preference),
}
# The variables of the role virtual_machines, wherever they are set.
_ROLE_LIST: Final = "virtual_machines_list"
_ROLE_DEFAULTS: Final = "virtual_machines_defaults"


class TaskObject(NamedTuple):
    """The options of an object, and its location. wrong: the fields with errors that are reported already."""

    module: DeclaringModule
    location: Location
    options: Options
    wrong: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        noun = self.module.plural.rstrip("s").replace("_", " ")
        return f"{noun} {self.options.get('name') or ''}".strip()

    def finding(self, rule: str, level: str, field: str, message: str) -> LocatedFinding:
        return LocatedFinding(rule, level, self.location, self.label, field, message)

    def unchecked(self, option: str, message: str) -> LocatedFinding:
        kind = VM if self.module is _VIRTUAL_MACHINE else self.module.plural.rstrip("s")
        return self.finding("unchecked", NOTE, option, message)._replace(unjudged=kind)


def objects_of_document(source: Source, namespace: str) -> Iterator[Declared | LocatedFinding | TaskObject]:
    """The objects that an Ansible document declares; VMs as their options. namespace: the default for VMs."""
    yield from misspelt(source)
    for location, key, value, variables in entries(source.location, source.content, _declares):
        if key == _ROLE_LIST:
            task = {_VIRTUAL_MACHINE.plural: value, "defaults": variables.get(_ROLE_DEFAULTS)}
            found = _of_task(_VIRTUAL_MACHINE, location, task, ())
        else:
            module = _MODULES[key.removeprefix(COLLECTION)]
            found = _of_task(module, location, value, (module.plural,))
        for entry in found:
            yield from _declared(entry, namespace)


def _declares(_location: Location, key: str, value: Any) -> bool:
    """Whether the entry is a task of a module, or the variable of the role."""
    name = str(key).removeprefix(COLLECTION)
    if name in _MODULES and name != key and isinstance(value, dict):
        return True
    return key == _ROLE_LIST and isinstance(value, list)


def host_vm(host: Host, namespace: str) -> Iterator[Declared | LocatedFinding | TaskObject]:
    """The VM that a host of an inventory is. namespace: the default."""
    task = {_VIRTUAL_MACHINE.plural: [host.options], "defaults": host.defaults}
    for _index, options in _options_of(task, _VIRTUAL_MACHINE):
        yield from _declared(TaskObject(_VIRTUAL_MACHINE, host.location, options), namespace)


def _of_task(
    module: DeclaringModule, location: Location, options: Options, inside: tuple[str, ...]
) -> Iterator[TaskObject]:
    """The objects of a task. inside: the path from `location` to the list of objects."""
    for index, own in _options_of(options, module):
        path: tuple[str | int, ...] = () if index is None else (*inside, index)
        yield TaskObject(module, location.below(*path), own)


def _options_of(options: Options, module: DeclaringModule) -> Iterator[tuple[int | None, Options]]:
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


def _declared(entry: TaskObject, namespace: str) -> Iterator[Declared | LocatedFinding | TaskObject]:
    options = dict(entry.options)
    for name in _STRINGS:
        if _unknown(options.get(name)) == _TEMPLATE:
            options[name] = _PLACEHOLDER
    if options.get("state") == "absent":
        return
    entry = entry._replace(options=options)
    for name, value in list(options.items()):
        why = _unknown(value)
        if why and name not in _UNCHECKED_OPTIONS:
            yield entry.unchecked(name, f"{why}{_NOT_CHECKED}")
            return
        if why:
            yield entry.finding("unchecked", NOTE, name, f"{why}, so the option is not checked")
            del options[name]
    is_vm = entry.module is _VIRTUAL_MACHINE
    found = errors_in(options, entry.module)
    yield from invalid(entry.finding, found.errors)
    if found.options is None or any(_decides(field, entry.module.spec) for field in found.fields):
        return
    options = found.options
    if is_vm:
        options["namespace"] = options.get("namespace") or namespace
    wrong = tuple(found.fields)
    entry = entry._replace(options=options)
    if options.get("from_template") is not None:
        message = "the cluster decides on the VM; run the playbook with --check against a cluster"
        yield entry.unchecked("from_template", message)
    elif is_vm:
        yield entry._replace(wrong=wrong)
    else:
        yield Declared(entry.location, entry.module.manifest(options), wrong)


def virtual_machine_of(entry: TaskObject) -> Declared:
    """The VM that the options declare. Raises FieldError."""
    # As for a new VM, which gets a run strategy.
    return Declared(entry.location, reconcile(entry.module.manifest(entry.options), None, "").manifest, entry.wrong)


def _decides(field: str, spec: Options) -> bool:
    """Whether other errors may follow from an error in the field of an option: it says what the guest has."""
    name = own_name(first(field), spec)
    return name in spec and name not in _APART


def task_manifests(location: Location, content: Any) -> Iterator[SourceManifest]:
    """The manifests in the tasks of a document. A VM whose options have templates is found with the reason."""
    for place, key, options, _task in entries(
        location, content, lambda _location, key, value: isinstance(value, dict) and key in _OTHER_MODULES
    ):
        if options.get("state") != "absent":
            yield from _of_k8s(place, options) if key in _K8S else [_of_kubevirt_vm(place, key, options)]


def _of_k8s(location: Location, options: Options) -> Iterator[SourceManifest]:
    key = next((name for name in _DEFINITIONS if options.get(name)), "")
    location, definition = location.below(key), options.get(key)
    if isinstance(definition, str):
        try:
            definition = [document.content for document in documents(definition, location.file, keep_unknown_tags=True)]
        except TextError:
            problem = _unknown(definition) or "is not YAML"
            for kind in kinds_in(str(definition)):
                yield SourceManifest(location, {"apiVersion": "", "kind": kind}, f"{problem}{_NOT_CHECKED}")
            return
        locations = [location] * len(definition)
    elif isinstance(definition, list):
        locations = [location.below(index) for index in range(len(definition))]
    else:
        locations, definition = [location], [definition]
    for where, content in zip(locations, definition):
        if not isinstance(content, dict):
            continue
        named = {name: options[name] for name in ("name", "namespace") if options.get(name)}
        metadata = content.get("metadata")
        whole = {
            "apiVersion": options.get("api_version") or options.get("api") or "v1",
            "kind": options.get("kind"),
            **content,
            "metadata": {**named, **metadata} if isinstance(metadata, dict) else metadata or named,
        }
        for inside in manifests([Source(where, whole)]):
            yield _known(inside.location, inside.manifest, _PATCH if options.get("state") == "patched" else "")


def _of_kubevirt_vm(location: Location, module: str, options: Options) -> SourceManifest:
    metadata = {name: options[name] for name in ("name", "namespace", "labels", "annotations") if options.get(name)}
    if options.get("generate_name"):
        metadata["name"] = f"{options['generate_name']}x"
    running = options.get("running")
    spec = {
        "runStrategy": options.get("run_strategy")
        or ("Halted" if running is not None and not boolean(running, strict=False) else "Always"),
        **{
            field: options[name]
            for name, field in (
                ("instancetype", "instancetype"),
                ("preference", "preference"),
                ("data_volume_templates", "dataVolumeTemplates"),
            )
            if options.get(name)
        },
        "template": {
            "metadata": {name: options[name] for name in ("labels", "annotations") if options.get(name)},
            "spec": options.get("spec") or {"domain": {"devices": {}}},
        },
    }
    manifest = {
        "apiVersion": options.get("api_version") or "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": spec,
    }
    old = "spec" not in options and "kubevirt.core" not in module
    return _known(location, manifest, _OLD if old else "")


def _known(location: Location, manifest: Options, problem: str) -> SourceManifest:
    """The manifest with placeholders for a templated name and namespace."""
    metadata = manifest.get("metadata")
    if isinstance(metadata, dict):
        names = {name: _PLACEHOLDER for name in ("name", "namespace") if _unknown(metadata.get(name)) == _TEMPLATE}
        manifest = {**manifest, "metadata": {**metadata, **names}}
    problem = problem or _unknown(manifest)
    return SourceManifest(location, manifest, f"{problem}{_NOT_CHECKED}" if problem else "")


def _unknown(value: Any) -> str:
    """Why a value is unknown; "" if it is known."""
    if isinstance(value, str):
        if value.startswith("$ANSIBLE_VAULT;"):
            return _SECRET
        return _TEMPLATE if any(mark in value for mark in _TEMPLATED) else ""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next(filter(None, map(_unknown, inside)), "")
