"""The state `rendered` of modules that declare objects: the manifests are returned, and nothing is sent or asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.api.manifest import Manifest, Options
from ..._resolver.api.release import NEWEST, Release, UnknownRelease, parse_release
from ..._resolver.change.declared import DeclareJob, refuse
from ..._resolver.secrets.redaction import redact
from ..client.errors import TaskFailed
from ..task import Task
from .module import Params
from .results import counted_noun

Render = Callable[[Options, Manifest, Release], list[Manifest]]
"""(options, their manifest, release) → the manifests that a new object consists of. Raises FieldError."""

RENDERED: Final = "rendered"
"""The state of an object whose manifest is returned instead of sent."""

RENDERING: Final[dict[str, dict[str, Any]]] = {
    "dest": {"type": "path"},
    "kubevirt_version": {"type": "str"},
    # The option says whether to keep secrets, and is none.
    "keep_secrets": {"type": "bool", "default": False, "no_log": False},
}


def renders_all(plural: str, params: Params, jobs: Sequence[DeclareJob]) -> bool:
    """Whether the task renders all its objects. Raises TaskFailed if it renders some, or has options of rendering."""
    states = [job.goal.state for job in jobs] or [params["state"]]
    if RENDERED in states:
        for index, state in enumerate(states):
            if state != RENDERED:
                raise TaskFailed(
                    f"{plural}[{index}] ({jobs[index].label}): state is {state}, but others of the task are"
                    f" {RENDERED}; set state: {RENDERED} for all or for none"
                )
        return True
    for option in RENDERING:
        if params[option]:
            raise TaskFailed(f"{option}: only valid with state {RENDERED}")
    return False


def render(nouns: str, jobs: Sequence[DeclareJob], of: Render, params: Params, task: Task) -> Params:
    """Renders objects, and returns the result of the task without `results`. An object without manifests fails.

    nouns: the objects, in the plural. Files are written only if none fails. Raises TaskFailed.
    """
    from ..._resolver.declare.rendered import check_release

    release = _release(params["kubevirt_version"])
    manifests: list[Manifest] = []
    shown: list[Manifest] = []
    for job in jobs:
        if job.failed:
            continue
        try:
            secret = _secret_of(job.goal.options, params["keep_secrets"])
            own = of(job.goal.options, job.goal.manifest, release)
            for manifest in own:
                check_release(manifest, release)
        except FieldError as error:
            refuse(job, str(error))
            continue
        manifests += own
        shown += [redact(manifest, manifest)[1] for manifest in own] if secret else own
    if any(job.failed for job in jobs):
        return {"changed": False, "rendered": []}
    message = f"{counted_noun(len(jobs), nouns)} rendered"
    result: Params = {"changed": False, "rendered": shown, "msg": message, **({"diff": []} if task.diff else {})}
    if params["dest"]:
        result.update(_write(params["dest"], manifests, message, task))
    return result


def _write(dest: str, manifests: list[Manifest], message: str, task: Task) -> Params:
    """Writes the files of manifests. Returns the part of the result about them. Raises TaskFailed."""
    from .manifest_files import files_of, write

    files = files_of(dest, manifests)
    changed = [file for file in files if file.changed]
    would = "would be written" if task.check_mode else "written"
    message += f"; {len(changed)} of {counted_noun(len(files), 'files')} {would}"
    if not task.check_mode:
        write(changed)
    return {
        "changed": bool(changed),
        "files": [str(file.path) for file in files],
        "msg": message,
        **({"diff": [file.diff() for file in changed]} if task.diff else {}),
    }


def _release(version: str | None) -> Release:
    try:
        return parse_release(version) if version else NEWEST
    except UnknownRelease as error:
        raise TaskFailed(f"kubevirt_version: {error}") from None


def _secret_of(options: Options, keep: bool) -> str:
    """The option that may be secret, "" for none. Raises FieldError for one that is not to be keep."""
    from ..._resolver.declare.rendered import secret_option

    secret = secret_option(options)
    if secret and not keep:
        raise FieldError(
            secret,
            "may be secret, and a rendered manifest is stored as it is; put it into a Secret and name that in"
            " access_credentials or as secretRef, or set keep_secrets: true",
        )
    return secret
