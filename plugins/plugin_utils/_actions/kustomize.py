"""Renders kustomizations, of a folder or of a Git repository, with the program that the controller has."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from ansible.errors import AnsibleActionFail

from ...module_utils._resolver.secrets.redaction import without_logins
from ...module_utils._yaml.documents import LARGEST

_NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_PROGRAMS: Final = {"kustomize": ("build",), "kubectl": ("kustomize",)}
# A kustomization may name files in the web.
_SECONDS: Final = 120


def kustomization_of(path: Path) -> Path | None:
    """The folder of the kustomization that a path names, as a folder or by its file; None if it names none."""
    if path.name in _NAMES:
        return path.parent
    return path if any((path / name).is_file() for name in _NAMES) else None


def is_in_git(url: str) -> bool:
    """Whether an address names a folder of a Git repository, as kustomize takes it, and not a file.

    Such an address has a ref, or the path of the folder after ``//`` or ``.git``.
    """
    parts = urlsplit(url)
    return "ref" in parse_qs(parts.query) or "//" in parts.path or ".git/" in f"{parts.path}/"


def rendered_from_git(url: str) -> bytes:
    """The manifests of a kustomization in a Git repository. Raises AnsibleActionFail."""
    if not parse_qs(urlsplit(url).query).get("ref"):
        raise AnsibleActionFail(
            f"url: {without_logins(url)} names no ref, so each run might deploy something else; add ?ref= and a tag or"
            " commit"
        )
    return _rendered("url", url)


def rendered(folder: Path) -> bytes:
    """The manifests of a kustomization in a folder. Raises AnsibleActionFail."""
    return _rendered("path", str(folder))


def _rendered(option: str, target: str) -> bytes:
    shown = without_logins(target)
    found = ((path, arguments) for name, arguments in _PROGRAMS.items() if (path := shutil.which(name)))
    program, arguments = next(found, (None, ()))
    if program is None:
        raise AnsibleActionFail(
            f"{option}: {shown} is a kustomization; install kustomize or kubectl on the controller to render it"
        )
    command = [program, *arguments, target]
    # Git would ask for a login on the terminal.
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False, env=environment
        )
    except OSError as error:
        raise AnsibleActionFail(f"{option}: {Path(program).name} cannot render {shown}: {error}") from error
    except subprocess.TimeoutExpired:
        raise AnsibleActionFail(
            f"{option}: {Path(program).name} did not render {shown} within {_SECONDS} seconds"
        ) from None
    if done.returncode != 0:
        reason = without_logins(" ".join(done.stderr.decode(errors="replace").split()))
        raise AnsibleActionFail(f"{option}: {Path(program).name} cannot render {shown}: {reason}")
    if len(done.stdout) > LARGEST:
        raise AnsibleActionFail(
            f"{option}: {shown} renders to more than {LARGEST >> 20} MiB; check that it is a catalog"
        )
    return done.stdout
