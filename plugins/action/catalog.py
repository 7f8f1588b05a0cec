# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the built-in catalog and the play's files on the controller, because the module runs elsewhere."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.secrets.redaction import without_logins
from ansible_collections.virtshape.instancetypes.plugins.module_utils._yaml.documents import (
    LARGEST,
    TextError,
    catalog_documents,
)
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._actions.action import action
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._actions.kustomize import (
    is_in_git,
    kustomization_of,
    rendered,
    rendered_from_git,
)
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._catalog_files import builtin, regular_files

# The options with the name of the source that they belong to.
_SOURCES = ("definitions", "path", "url")
SUFFIXES = (".yml", ".yaml", ".json")


class ActionModule(action(__name__)):
    # No TRANSFERS_FILES: the contents are passed in the module's options.
    def execute(self, options: dict[str, Any], tmp: Any, task_vars: Any) -> dict[str, Any]:
        source = options.get("source") or "builtin"
        for option in _SOURCES:
            if option != source and options.get(option) not in (None, ""):
                raise AnsibleActionFail(
                    f"{option}: only valid with source {option}; set source: {option}, or remove {option}"
                )
        given = options.get("definitions")
        url = str(options.get("url") or "")
        is_folder = source == "url" and is_in_git(url)
        if source == "path" or is_folder:
            found = _documents_in_git(url, options) if is_folder else self._documents(options)
            options["definitions"] = [content for content, _place in found]
            options["_places"] = [place for _content, place in found]
        elif source == "definitions" and isinstance(given, list):
            # An empty YAML document is None, which Ansible would refuse.
            indexes = [index for index, content in enumerate(given) if content is not None]
            options["definitions"] = [given[index] for index in indexes]
            options["_places"] = [f"definitions[{index}]" for index in indexes]
        elif source == "builtin":
            options["definitions"] = builtin()
        return super().execute(options, tmp, task_vars)

    def _documents(self, options: dict[str, Any]) -> list[tuple[Any, str]]:
        """The documents of the files, each with its place."""
        if not options.get("path"):
            raise AnsibleActionFail("path: required; set it to a file or a directory")
        try:
            source = Path(self._find_needle("files", str(options["path"])))
        except AnsibleError:
            # Not `from error`: Ansible would add its message, about an option that this module does not have.
            raise AnsibleActionFail(f"path: {options['path']}: no such file or directory") from None
        checksum, folder = options.get("checksum"), kustomization_of(source)
        files = [path for path in regular_files(source) if path.suffix in SUFFIXES] if source.is_dir() else [source]
        if not files and folder is None:
            raise AnsibleActionFail(f"path: {source} contains no file that ends in {', '.join(SUFFIXES)}")
        if checksum and (len(files) > 1 or folder):
            raise AnsibleActionFail("checksum: only valid for a single file; set path to the file, or remove checksum")
        if folder is None and (below := [path for path in files if kustomization_of(path)]):
            raise AnsibleActionFail(f"path: {source} contains a kustomization; set path to {below[0].parent}")
        if folder is not None:
            found = _parse(rendered(folder), folder)
        else:
            found = [item for path in files for item in _parse(self._content(path, checksum), path)]
        if not found:
            raise AnsibleActionFail(f"path: {source} contains only empty documents; name a catalog or manifests")
        return found

    def _content(self, path: Path, checksum: Any) -> bytes:
        # Decrypts a file of ansible-vault.
        real = self._loader.get_real_file(str(path))
        content = _bounded(real, path)
        self._loader.cleanup_tmp_file(real)
        actual = hashlib.sha256(content).hexdigest()
        if checksum and str(checksum).lower().rpartition(":")[2] != actual:
            raise AnsibleActionFail(f"checksum: {path} has sha256:{actual}; the file was changed or truncated")
        return content


def _documents_in_git(url: str, options: dict[str, Any]) -> list[tuple[Any, str]]:
    for option in ("version", "checksum"):
        if options.get(option):
            raise AnsibleActionFail(f"{option}: not valid with a folder of a Git repository; its ref says the same")
    shown = without_logins(url)
    found = _parse(rendered_from_git(url), shown)
    if not found:
        raise AnsibleActionFail(f"url: {shown} renders to nothing; name the folder of a catalog")
    return found


def _parse(content: bytes, path: Path | str) -> list[tuple[Any, str]]:
    try:
        return [(document.content, document.place_in(str(path))) for document in catalog_documents(content, str(path))]
    except TextError as error:
        raise AnsibleActionFail(str(error)) from None


def _bounded(path: str, name: Path) -> bytes:
    """The contents of a file, limited to the size of a catalog."""
    with Path(path).open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise AnsibleActionFail(f"path: {name} is larger than {LARGEST >> 20} MiB; check that the file is a catalog")
    return content
