"""The objects that tasks of other collections declare: kubevirt_vm, which many carry, and k8s with manifests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ._resolver.api.manifest import Manifest, list_items
from ._resolver.api.matcher import MATCHER_FIELDS
from ._resolver.api.tree import value_at
from ._yaml.documents import TextError, documents
from ._yaml.scalars import ansible

KUBEVIRT_VM: Final = "kubevirt_vm"
K8S: Final = "k8s"
# Forks and mirrors carry the modules under many names, and redirects and `collections` make short ones.
_MODULE: Final = re.compile(rf"(?:\w+\.\w+\.)?({KUBEVIRT_VM}|{K8S})")
# The statements whose option `module` names the module of a task.
_ACTIONS: Final = ("action", "local_action")

PATCH: Final = "is a patch"
_OLD: Final = "the options of community.kubevirt are not known"
# Only the module of community.kubevirt has these options.
_OLD_OPTIONS: Final = frozenset(
    ("cloud_init_nocloud", "cpu_cores", "cpu_model", "datavolumes", "disks", "ephemeral", "interfaces", "memory")
)
_LOOKUP: Final = re.compile(r"""\(\s*['"](?:ansible\.builtin\.)?(template|file)['"]\s*,\s*['"]([^'"]+)['"]""")
_FALSE: Final = ("0", "f", "false", "n", "no", "off")

_METADATA: Final = ("name", "namespace", "labels", "annotations")
_SPEC: Final = (
    *((field.name, field.name) for field in MATCHER_FIELDS),
    ("data_volume_templates", "dataVolumeTemplates"),
)
_DEFINITIONS: Final = ("definition", "resource_definition", "inline")
_POD: Final = ("spec", "template", "spec")
# The fields of which each makes a guest, and the size alone only of a VM that says whether it runs.
_GUEST: Final = ((*_POD, "volumes"), *(("spec", field) for _option, field in _SPEC))
_SIZE: Final = ((*_POD, "domain", "memory"), (*_POD, "domain", "resources"))
_RUNS: Final = (("spec", "runStrategy"), ("spec", "running"))


class TaskObject(NamedTuple):
    """An object of a task.

    path: where it is in the options. content: the manifest, or a text that is not YAML, such as one with templates.
    problem: the reason why a cluster would get another manifest, "" for none.
    """

    path: tuple[str | int, ...]
    content: Any
    problem: str = ""


def module_of(key: Any, value: Any) -> str:
    """The module that an entry of a task runs, without its collection: KUBEVIRT_VM, K8S or ""."""
    name = value.get("module") if key in _ACTIONS and isinstance(value, Mapping) else key
    found = _MODULE.fullmatch(name) if isinstance(name, str) and isinstance(value, Mapping) else None
    return found[1] if found else ""


def objects_of(module: str, options: Mapping[str, Any]) -> Iterator[TaskObject]:
    """The objects that a task declares; none without a module, see `module_of`."""
    if not module or options.get("state") == "absent":
        return
    if module == KUBEVIRT_VM:
        vm = manifest_of(options)
        old = "spec" not in options and not _OLD_OPTIONS.isdisjoint(options)
        yield TaskObject((), vm, _OLD if old else patch_problem(vm, options))
        return
    for path, content in _definitions(options):
        if isinstance(content, str):
            yield TaskObject(path, content)
        for inside, manifest in _listed(completed(content, options)) if isinstance(content, Mapping) else ():
            yield TaskObject((*path, *inside), manifest, patch_problem(manifest, options))


def files_of(module: str, options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(the folder in which Ansible looks first, path) of the files from which a task of k8s takes what it declares."""
    if module != K8S or options.get("state") == "absent":
        return
    templates = options.get("template")
    named = [("files", options.get("src"))]
    for item in templates if isinstance(templates, list) else [templates]:
        named.append(("templates", item.get("path") if isinstance(item, Mapping) else item))
    for name in _DEFINITIONS:
        named += [(f"{kind}s", path) for kind, path in _LOOKUP.findall(str(options.get(name) or ""))]
    yield from ((folder, path) for folder, path in named if isinstance(path, str))


def completed(content: Mapping[str, Any], options: Mapping[str, Any]) -> Manifest:
    """A manifest with what the options of a task of k8s add to it."""
    named = {name: options[name] for name in ("name", "namespace") if options.get(name)}
    metadata = content.get("metadata")
    return {
        "apiVersion": options.get("api_version") or options.get("api") or "v1",
        "kind": options.get("kind"),
        **content,
        "metadata": {**named, **metadata} if isinstance(metadata, Mapping) else metadata or named,
    }


def manifest_of(options: Mapping[str, Any]) -> Manifest:
    """The VM of a task of kubevirt_vm."""
    metadata = {name: options[name] for name in _METADATA if options.get(name)}
    if options.get("generate_name"):
        metadata["name"] = f"{options['generate_name']}x"
    halted = str(options.get("running", True)).lower() in _FALSE
    return {
        "apiVersion": options.get("api_version") or "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": {
            "runStrategy": options.get("run_strategy") or ("Halted" if halted else "Always"),
            **{field: options[name] for name, field in _SPEC if options.get(name)},
            "template": {
                "metadata": {name: metadata[name] for name in ("labels", "annotations") if name in metadata},
                "spec": options.get("spec") or {"domain": {"devices": {}}},
            },
        },
    }


def declares_guest(vm: Manifest) -> bool:
    """Whether a task declares the guest of its VM.

    Otherwise it changes something of an existing VM, such as its power, its labels or its CPUs.
    """
    if any(isinstance(value_at(vm, _POD[:length]), str) for length in range(1, len(_POD) + 1)):
        # A template of Ansible may say anything.
        return True
    if value_at(vm, _POD[:2]) is None:
        return False

    def says(paths: Iterable[tuple[str, ...]]) -> bool:
        return any(_says(value_at(vm, path)) for path in paths)

    return says(_GUEST) or (says(_SIZE) and says(_RUNS))


def _says(value: Any) -> bool:
    """Whether anything in a value is not empty."""
    if isinstance(value, Mapping):
        return any(map(_says, value.values()))
    return any(map(_says, value)) if isinstance(value, list) else value not in (None, "")


def patch_problem(manifest: Manifest, options: Mapping[str, Any]) -> str:
    """PATCH if a task changes an object that exists; else ""."""
    state = str(options.get("state") or "present")
    is_vm = manifest.get("kind") == "VirtualMachine"
    changes = state != "present" and "{" not in state
    return PATCH if changes or (is_vm and not declares_guest(manifest)) else ""


def _definitions(options: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """(path, content) of the definitions; a text that is YAML counts as its documents."""
    key = next((name for name in _DEFINITIONS if options.get(name)), "")
    definition = options.get(key)
    for index, content in enumerate(definition) if isinstance(definition, list) else [(None, definition)]:
        path = (key,) if index is None else (key, index)
        if not isinstance(content, str):
            yield path, content
            continue
        try:
            read = documents(content, key, "manifest", keep_unknown_tags=True, scalars=ansible)
        except TextError:
            yield path, content
            continue
        for document in read:
            yield path, content if isinstance(document.content, str) else document.content


def _listed(manifest: Manifest) -> Iterator[tuple[tuple[str | int, ...], Manifest]]:
    """(path, manifest) of an object, or of the objects of a list."""
    items = list_items(manifest) if isinstance(manifest.get("kind"), str) else None
    if items is None:
        yield (), manifest
        return
    for index, item in enumerate(items):
        if isinstance(item, Mapping):
            yield ("items", index), dict(item)
