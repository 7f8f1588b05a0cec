"""Renders kustomizations with the program that the controller has."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

from ansible.errors import AnsibleActionFail

from ..module_utils._yaml_documents import LARGEST

_NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_PROGRAMS: Final = {"kustomize": ("build",), "kubectl": ("kustomize",)}
# A kustomization may name files in the web.
_SECONDS: Final = 120


def kustomization_of(path: Path) -> Path | None:
    """The folder of the kustomization that a path names, as a folder or by its file; None if it names none."""
    if path.name in _NAMES:
        return path.parent
    return path if any((path / name).is_file() for name in _NAMES) else None


def rendered(folder: Path) -> bytes:
    """The manifests of a kustomization. Raises AnsibleActionFail."""
    found = ((path, arguments) for name, arguments in _PROGRAMS.items() if (path := shutil.which(name)))
    program, arguments = next(found, (None, ()))
    if program is None:
        raise AnsibleActionFail(
            f"path: {folder} is a kustomization; install kustomize or kubectl on the controller to render it"
        )
    command = [program, *arguments, str(folder)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AnsibleActionFail(f"path: {Path(program).name} cannot render {folder}: {error}") from error
    if done.returncode != 0:
        reason = " ".join(done.stderr.decode(errors="replace").split())
        raise AnsibleActionFail(f"path: {Path(program).name} cannot render {folder}: {reason}")
    if len(done.stdout) > LARGEST:
        raise AnsibleActionFail(f"path: {folder} renders to more than {LARGEST >> 20} MiB; check that it is a catalog")
    return done.stdout
