"""Applies the patches of kustomizations, so that the check judges the objects that kustomize would build.

A patch is no object of its own, and the base alone need not be right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from os.path import normpath
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.tree import copy
from ...module_utils._yaml.documents import TextError, documents
from .json_patch import DIRECTIVE, REPLACE, PatchError, json_patched, merge_patched
from .sources import Repository, SourceManifest, is_manifest, manifests

_NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_UNAPPLIED: Final = (
    "is a patch whose base is not among the files; check what it becomes: kustomize build FOLDER | virtshape-check -"
)
_DATA: Final = "is data of a ConfigMap or Secret that a kustomization makes, so it is not checked"
_GENERATORS: Final = ("configMapGenerator", "secretGenerator")
# A patch cannot change these by its own metadata.
_IDENTITY: Final = ("name", "namespace")
# The form of an unknown value; see `placeholders`.
_REPLACED: Final = "$(replacement)"


class _Object(NamedTuple):
    """An object of a kustomization: where it is written, and what it has become."""

    source: SourceManifest
    manifest: Manifest


class _Patch(NamedTuple):
    """A patch. target: the selectors of its objects; None if its content names the object. file: "" if inline."""

    content: Any
    target: Mapping[str, Any] | None
    file: str = ""


class Kustomized:
    """The objects of a repository as its kustomizations make them."""

    def __init__(self, repository: Repository) -> None:
        self._files: dict[str, list[SourceManifest]] = {}
        self._lists: dict[str, list[Any]] = {}
        self._folders: dict[str, Mapping[str, Any]] = {}
        for source in repository.sources:
            file = normpath(source.location.file)
            if Path(file).name in _NAMES and isinstance(source.content, dict):
                self._folders.setdefault(str(Path(file).parent), source.content)
            elif isinstance(source.content, list):
                self._lists.setdefault(file, []).append(source.content)
        if self._folders:
            for source in repository.sources:
                self._files.setdefault(normpath(source.location.file), []).extend(manifests([source]))
        self._patches: set[str] = set()
        self._applied: set[str] = set()
        self._deleted: set[Any] = set()
        self._results: dict[Any, list[Manifest]] = {}
        used = {
            _place(folder, path)
            for folder, content in self._folders.items()
            for path in (*_items(content, "resources"), *_items(content, "bases"), *_items(content, "components"))
        }
        self._data = set(self._data_files()) - used
        for folder in sorted(self._folders):
            # The objects of an overlay's base are judged as the overlay makes them.
            built = self._built(folder, ())
            for item in built if folder not in used else ():
                same = self._results.setdefault(item.source.location, [])
                if item.manifest not in same:
                    same.append(item.manifest)

    def __bool__(self) -> bool:
        return bool(self._folders)

    def judged(self, items: Iterable[SourceManifest]) -> Iterator[SourceManifest]:
        """The objects as kustomizations make them; patches only if they could not be applied, with the reason."""
        for item in items:
            file = normpath(item.location.file)
            results = self._results.get(item.location)
            if results:
                yield from (item._replace(manifest=manifest) for manifest in results)
            elif item.location in self._deleted:
                continue
            elif file in self._data - self._patches:
                yield item._replace(problem=item.problem or _DATA)
            elif file not in self._patches:
                yield item
            elif file not in self._applied:
                yield item._replace(problem=item.problem or _UNAPPLIED)

    def _data_files(self) -> Iterator[str]:
        """The files that become data of ConfigMaps and Secrets."""
        for folder, content in self._folders.items():
            for entry in (entry for key in _GENERATORS for entry in _items(content, key) if isinstance(entry, dict)):
                # An entry may begin with the key that the data gets.
                yield from (_place(folder, str(file).rpartition("=")[2]) for file in _items(entry, "files"))

    def _built(self, folder: str, above: tuple[str, ...]) -> list[_Object]:
        """The objects that kustomize builds from a folder."""
        content = self._folders.get(folder)
        if content is None or folder in above:
            return []
        objects: list[_Object] = []
        for path in (*_items(content, "resources"), *_items(content, "bases")):
            place = _place(folder, path)
            found = self._files.get(place, ()) if place not in self._folders else ()
            objects += [_Object(item, item.manifest) for item in found]
            objects += self._built(place, (*above, folder))
        return self._patched(folder, content, objects, above)

    def _patched(
        self, folder: str, content: Mapping[str, Any], objects: list[_Object], above: tuple[str, ...]
    ) -> list[_Object]:
        """The objects with the patches of a kustomization and of its components."""
        for path in _items(content, "components"):
            place = _place(folder, path)
            inside = self._folders.get(place)
            if inside is not None and place not in above:
                objects = [*objects, *(_Object(item, item.manifest) for item in self._resources(place, inside))]
                objects = self._patched(place, inside, objects, (*above, folder))
        for patch in self._patches_of(folder, content):
            objects = list(self._with_patch(objects, patch))
        for replacement in _items(content, "replacements"):
            objects = [item._replace(manifest=_replaced(item.manifest, replacement)) for item in objects]
        return objects

    def _resources(self, folder: str, content: Mapping[str, Any]) -> Iterator[SourceManifest]:
        for path in _items(content, "resources"):
            yield from self._files.get(_place(folder, path), ())

    def _patches_of(self, folder: str, content: Mapping[str, Any]) -> Iterator[_Patch]:
        entries = [*_items(content, "patches"), *_items(content, "patchesJson6902")]
        texts = [{"patch" if "\n" in str(text) else "path": text} for text in _items(content, "patchesStrategicMerge")]
        for entry in (*entries, *texts):
            if not isinstance(entry, dict):
                continue
            target = entry.get("target") if isinstance(entry.get("target"), dict) else None
            file = _place(folder, entry["path"]) if entry.get("path") else ""
            if file:
                self._patches.add(file)
            for part in self._contents(file, entry.get("patch")):
                yield _Patch(part, target, file)

    def _contents(self, file: str, text: Any) -> list[Any]:
        """The documents of a patch."""
        if file:
            return [*(item.manifest for item in self._files.get(file, ())), *self._lists.get(file, ())]
        try:
            return [document.content for document in documents(str(text), "", keep_unknown_tags=True)]
        except TextError:
            return []

    def _with_patch(self, objects: Iterable[_Object], patch: _Patch) -> Iterator[_Object]:
        """The objects after a patch, without the deleted ones. A patch that does not fit changes nothing."""
        for item in objects:
            if not _is_selected(item.manifest, patch):
                yield item
                continue
            try:
                manifest = patched(item.manifest, patch.content)
            except PatchError:
                yield item
                continue
            self._applied.add(patch.file)
            if manifest is None:
                self._deleted.add(item.source.location)
            else:
                yield item._replace(manifest=manifest)


def patched(manifest: Manifest, patch: Any) -> Manifest | None:
    """The object as a patch makes it; None if it deletes the object. Raises PatchError."""
    changed: Manifest | None
    if isinstance(patch, list):
        changed = json_patched(manifest, patch)
    elif not isinstance(patch, dict) or not isinstance(patch.get("metadata", {}), dict):
        raise PatchError(str(patch))
    elif patch.get(DIRECTIVE) == REPLACE:
        # kustomize then leaves the object as it is.
        return manifest
    else:
        changed = merge_patched(
            manifest, {key: value for key, value in patch.items() if key not in ("apiVersion", "kind")}
        )
        if changed is not None:
            own = {key: value for key, value in _metadata(manifest).items() if key in _IDENTITY}
            changed["metadata"] = {**_metadata(changed), **own}
    if changed is not None and not (is_manifest(changed) and isinstance(changed.get("metadata"), dict)):
        raise PatchError(str(patch))
    return changed


def _place(folder: str, path: Any) -> str:
    """The path of a file or folder that a kustomization names."""
    return normpath(Path(folder) / str(path))


def _items(content: Mapping[str, Any], key: str) -> list[Any]:
    value = content.get(key)
    return value if isinstance(value, list) else []


def _metadata(manifest: Any) -> Mapping[str, Any]:
    metadata = manifest.get("metadata") if isinstance(manifest, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _is_selected(manifest: Manifest, patch: _Patch) -> bool:
    """Whether a patch is for an object."""
    if patch.target is None:
        own = patch.content if isinstance(patch.content, dict) else {}
        names = _metadata(own)
        return own.get("kind") == manifest["kind"] and names.get("name") == _metadata(manifest).get("name")
    return _matches(manifest, patch.target)


def _matches(manifest: Manifest, target: Mapping[str, Any]) -> bool:
    """Whether the selectors of a target match; kustomize anchors their patterns."""
    group, _slash, version = str(manifest["apiVersion"]).rpartition("/")
    metadata = _metadata(manifest)
    parts = {
        "group": group,
        "version": version,
        "kind": manifest["kind"],
        "name": metadata.get("name"),
        "namespace": metadata.get("namespace"),
    }
    for key, value in parts.items():
        wanted = target.get(key)
        if wanted and not _full_match(str(wanted), str(value or "")):
            return False
    return all(
        _selects(str(target[key]), metadata.get(texts))
        for key, texts in (("labelSelector", "labels"), ("annotationSelector", "annotations"))
        if target.get(key)
    )


def _full_match(pattern: str, text: str) -> bool:
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error:
        return pattern == text


def _selects(selector: str, texts: Any) -> bool:
    """Whether a selector such as `app=web,tier` matches; the sets of others are unknown, and match."""
    texts = texts if isinstance(texts, dict) else {}
    for part in filter(None, map(str.strip, selector.split(","))):
        key, equal, value = part.replace("==", "=").partition("=")
        if not re.search(r"[\s!()]", part) and (key not in texts or (equal and str(texts[key]) != value)):
            return False
    return True


def _replaced(manifest: Manifest, replacement: Any) -> Manifest:
    """The object with unknown values in the fields of a replacement."""
    for target in _items(replacement, "targets") if isinstance(replacement, dict) else ():
        select = target.get("select") if isinstance(target, dict) else None
        if isinstance(select, dict) and _matches(manifest, select):
            manifest = copy(manifest)
            for path in _items(target, "fieldPaths"):
                *parents, last = str(path).split(".")
                value: Any = manifest
                for step in parents:
                    value = value.get(step) if isinstance(value, dict) else None
                if isinstance(value, dict) and (last in value or _creates(target)):
                    value[last] = _REPLACED
    return manifest


def _creates(target: Mapping[str, Any]) -> bool:
    """Whether a target of a replacement gets a field that it lacks."""
    options = target.get("options")
    return isinstance(options, dict) and bool(options.get("create"))
