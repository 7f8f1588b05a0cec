"""Writes manifests as YAML files, for Git."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..._cluster.client.errors import TaskFailed
from ..._cluster.client.files import write_file
from ..._cluster.client.libraries import yaml
from ..._resolver.api.manifest import Manifest, name_of
from ..._resolver.api.tree import value_at
from ..._resolver.secrets.redaction import redact
from ..._yaml.documents import TextError, documents
from ..._yaml.scalars import NOT_TEXT, NOT_TEXT_STARTS
from ..rendered import file_name

_SUFFIXES: Final = (".yml", ".yaml")


class ManifestFile(NamedTuple):
    """A file with manifests. before: its text, None if there is no file. after: the text for the manifests."""

    path: Path
    manifests: list[Manifest]
    before: str | None
    after: str

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def diff(self) -> dict[str, Any]:
        """The change as Ansible prints it, with secrets hidden."""
        shown_before, shown_after = redact(_parsed(self.path, self.before or ""), self.manifests)
        return {
            "before": to_yaml(shown_before),
            "after": to_yaml(shown_after),
            "before_header": str(self.path),
            "after_header": str(self.path),
        }


def files_of(dest: str, manifests: Sequence[Manifest]) -> list[ManifestFile]:
    """The files for manifests: one for all if `dest` ends in .yml or .yaml, else one for each, in the folder `dest`.

    Raises FieldError for names that no object can have, and TaskFailed for a file that cannot be read, or that has
    something else than such manifests: it is somebody else's.
    """
    path = Path(dest)
    alone = path.suffix not in _SUFFIXES
    parts: Mapping[Path, list[Manifest]] = {path: list(manifests)}
    if alone:
        parts = {path / file_name(manifest): [manifest] for manifest in manifests}
    files = [ManifestFile(place, contents, _text_of(place), to_yaml(contents)) for place, contents in parts.items()]
    for file in files:
        if file.changed:
            _check_contents(file, _key if alone else _family)
    return files


def _check_contents(file: ManifestFile, key: Callable[[Any], Any]) -> None:
    """Raises TaskFailed if the file has an object whose key none of the manifests has. No manifest has all keys."""
    own = [key(manifest) for manifest in file.manifests]
    for content in _parsed(file.path, file.before or ""):
        name = value_at(content, ("metadata", "name"))
        if not (name and content.get("kind") and content.get("apiVersion")):
            raise _others(file.path, "something else than manifests")
        if own and key(content) not in own:
            raise _others(file.path, f"{content['kind']} {name}")


def _key(manifest: Manifest) -> tuple[Any, ...]:
    return _family(manifest), manifest["kind"], name_of(manifest), manifest["metadata"].get("namespace")


def _family(manifest: Manifest) -> tuple[str, bool]:
    """The objects that one module renders share it: the API group, and whether they are preferences."""
    return str(manifest["apiVersion"]).rpartition("/")[0], "Preference" in manifest["kind"]


def _others(path: Path, found: str) -> TaskFailed:
    return TaskFailed(f"dest: {path}: has {found}, which this task does not render; name another file, or delete it")


def write(files: Iterable[ManifestFile]) -> None:
    """Writes the changed files, each of them as a whole or not at all. Raises TaskFailed."""
    for file in files:
        if file.changed:
            try:
                file.path.parent.mkdir(parents=True, exist_ok=True)
                write_file(file.path, file.after)
            except OSError as error:
                raise _failed(file.path, error) from error


def _text_of(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _failed(path, error) from error


def _failed(path: Path, error: OSError) -> TaskFailed:
    return TaskFailed(
        f"dest: {path}: {error.strerror}; name a folder, or a file that ends in .yaml, that you may write"
    )


def _parsed(path: Path, text: str) -> list[Any]:
    """The documents of a text. Raises TaskFailed."""
    try:
        return [document.content for document in documents(text, str(path), keep_unknown_tags=True)]
    except TextError:
        raise _others(path, "something else than manifests") from None


def to_yaml(manifests: Sequence[Manifest]) -> str:
    """Manifests as YAML, the same text for the same manifests everywhere."""
    # JSON has neither aliases nor classes derived from Python's.
    data = json.loads(json.dumps(manifests))
    text: str = yaml.dump_all(
        data, Dumper=_dumper(), explicit_start=True, sort_keys=False, allow_unicode=True, width=float("inf")
    )
    return text if manifests else ""


@cache
def _dumper() -> Any:
    """PyYAML's dumper, which also writes texts of several lines as they are, and quotes what Go takes for no text."""

    # This is not the dumper in C, because another version of libyaml may write another text.
    class Dumper(yaml.SafeDumper):
        pass

    def text(dumper: Any, value: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    Dumper.add_implicit_resolver("tag:instancetypes.virtshape.io:not-text", NOT_TEXT, list(NOT_TEXT_STARTS))
    return Dumper
