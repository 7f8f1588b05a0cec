"""The manifests in tasks of other collections: of `kubernetes.core.k8s` and of `kubevirt.core.kubevirt_vm`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._cluster.read.catalog_text import TextError, documents
from .findings import Location
from .sources import Source, SourceManifest, kinds_in, manifests
from .tasks import NOT_CHECKED, PLACEHOLDER, TEMPLATE, unknown

Options = dict[str, Any]

_COLLECTIONS: Final = ("kubernetes.core.", "community.kubernetes.", "community.okd.", "redhat.openshift.", "")
_K8S: Final = frozenset(f"{collection}k8s" for collection in _COLLECTIONS)
_KUBEVIRT_VM: Final = frozenset(("kubevirt.core.kubevirt_vm", "community.kubevirt.kubevirt_vm", "kubevirt_vm"))
_MODULES: Final = _K8S | _KUBEVIRT_VM
_DEFINITIONS: Final = ("definition", "resource_definition", "inline")
_OLD: Final = "the options of community.kubevirt are not known"
_PATCH: Final = "is a patch"


def task_manifests(location: Location, content: Any) -> Iterator[SourceManifest]:
    """The manifests in the tasks of a document. A VM whose options have templates is found with the reason."""
    if isinstance(content, list):
        for index, inside in enumerate(content):
            yield from task_manifests(location._replace(path=(*location.path, index)), inside)
    if not isinstance(content, dict) or "apiVersion" in content:
        return
    for key, value in content.items():
        child = location._replace(path=(*location.path, str(key)))
        if not isinstance(value, dict) or key not in _MODULES:
            yield from task_manifests(child, value)
        elif value.get("state") != "absent":
            yield from _of_k8s(child, value) if key in _K8S else [_of_kubevirt_vm(child, key, value)]


def _of_k8s(location: Location, options: Options) -> Iterator[SourceManifest]:
    key = next((name for name in _DEFINITIONS if options.get(name)), "")
    location, definition = location._replace(path=(*location.path, key)), options.get(key)
    if isinstance(definition, str):
        try:
            definition = documents(definition, location.file, foreign=True)
        except TextError:
            problem = unknown(definition) or "is not YAML"
            for kind in kinds_in(str(definition)):
                yield SourceManifest(location, {"apiVersion": "", "kind": kind}, f"{problem}{NOT_CHECKED}")
            return
        locations = [location] * len(definition)
    elif isinstance(definition, list):
        locations = [location._replace(path=(*location.path, index)) for index in range(len(definition))]
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
        names = {name: PLACEHOLDER for name in ("name", "namespace") if unknown(metadata.get(name)) == TEMPLATE}
        manifest = {**manifest, "metadata": {**metadata, **names}}
    problem = problem or unknown(manifest)
    return SourceManifest(location, manifest, f"{problem}{NOT_CHECKED}" if problem else "")
