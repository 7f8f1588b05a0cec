"""Kubeconfigs of the controller: found like the files of a play, and decrypted where Ansible Vault has encrypted them.

The decrypted content is passed on as a dictionary, so that it is never in a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from ansible.errors import AnsibleError
from ansible.parsing.vault import is_encrypted

from ...module_utils._cluster.client.errors import ConnectionFailed
from ...module_utils._cluster.client.kubeconfig import CREDENTIALS, LISTS, kubeconfig_content, merged
from ...module_utils._cluster.modules.shared_options import AUTH

_DEFAULT: Final = "~/.kube/config"
# Paths in a kubeconfig, which are relative to its folder.
_PATHS: Final = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_HEADER: Final = 64
_NO_PASSWORD: Final = (
    "is encrypted with Ansible Vault, and no vault password of this run decrypts it; give it with --ask-vault-pass or"
    " --vault-password-file, or decrypt the file"
)

Find = Callable[[str], str]
"""The path of a file as the play finds it. Raises AnsibleError."""


def on_controller(
    options: Mapping[str, Any], environment: Mapping[str, str], loader: Any, find: Find | None = None
) -> Any:
    """The kubeconfig that a task uses on the controller, for its option: paths, or the content if a file is encrypted;
    None to leave the option as it is.

    options: of the connection. loader: has the vault passwords of the run. Raises AnsibleError in one line.
    """

    def given(name: str) -> Any:
        return options.get(name) or environment.get(AUTH[name]["fallback"][1][0])

    source = given("kubeconfig")
    if source is None and given("host") and any(map(given, CREDENTIALS)):
        return None
    if source is not None and (not isinstance(source, str) or kubeconfig_content(source) is not None):
        return None
    written = (source or environment.get("KUBECONFIG") or _DEFAULT).split(os.pathsep)
    paths = [_found(path, find if source else None) for path in written if path]
    if any(map(_is_encrypted, paths)):
        return _merged({path: _content(path, loader) for path in paths if path.is_file()})
    return os.pathsep.join(map(str, paths)) if source and paths != [Path(path) for path in written] else None


def _found(written: str, find: Find | None) -> Path:
    path = Path(written).expanduser()
    if find is None or path.exists():
        return path
    try:
        return Path(find(written))
    except AnsibleError:
        # The module says that there is no such file.
        return path


def _is_encrypted(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return bool(is_encrypted(file.read(_HEADER)))
    except OSError:
        return False


def _content(path: Path, loader: Any) -> dict[str, Any]:
    try:
        text, _is_public = loader._get_file_contents(str(path.absolute()))
    except AnsibleError:
        raise AnsibleError(f"kubeconfig {path}: {_NO_PASSWORD}") from None
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError:
        content = None
    if not isinstance(content, dict):
        raise AnsibleError(f"kubeconfig {path}: expected the YAML of a kubeconfig, found other text")
    return content


def _merged(contents: Mapping[Path, dict[str, Any]]) -> dict[str, Any]:
    """The contents of kubeconfigs as one content, whose paths are absolute."""
    try:
        found, current = merged(
            "kubeconfig cannot be used: ", {str(path): content for path, content in contents.items()}
        )
    except ConnectionFailed as error:
        raise AnsibleError(str(error)) from None
    lists = {
        plural: [
            {"name": name, key: _absolute(entry.fields, Path(entry.folder))} for name, entry in found[plural].items()
        ]
        for plural, key in LISTS.items()
    }
    return {"current-context": current, **lists}


def _absolute(item: Any, folder: Path) -> Any:
    """An entry of a kubeconfig with absolute paths."""
    if isinstance(item, dict):
        return {key: _absolute(part, folder) if key not in _PATHS else str(folder / part) for key, part in item.items()}
    return item
