"""The manifests of a task with the state `rendered`: they are returned, and nothing is sent or asked."""

from __future__ import annotations

from ..._cluster.client.errors import TaskFailed
from ..._cluster.modules.declaration import Declaration
from ..._cluster.modules.declared_results import result_of
from ..._cluster.modules.module import Params, Result
from ..._cluster.modules.results import counted_noun, failed_result
from ..._cluster.task import Task
from ..._resolver.api.errors import FieldError
from ..._resolver.api.manifest import Manifest, Options
from ..._resolver.api.release import NEWEST, Release, UnknownRelease, parse_release
from ..._resolver.change.declared import DeclareJob, judge, refuse
from ..._resolver.secrets.redaction import redact
from ..rendered import check_release, secret_option
from .manifest_files import files_of, write


def render(declaration: Declaration, params: Params, task: Task, jobs: list[DeclareJob]) -> Result:
    """Renders the objects of a task, and returns its result. Writes files only if none fails. Raises TaskFailed."""
    valid = [job for job in jobs if not job.failed]
    for job, findings in zip(valid, declaration.collisions([job.goal.manifest for job in valid])):
        judge(job, findings, task.preflight, task.check_mode)
    result = _render(declaration, params, task, jobs)
    declaration.show_warnings(jobs, task)
    result["results"] = [result_of(job) for job in jobs]
    if params["name"] is not None:
        result["result"] = result["results"][0]
    failed = any(job.failed for job in jobs)
    return failed_result(params, declaration.nouns, result) if failed else result


def _render(declaration: Declaration, params: Params, task: Task, jobs: list[DeclareJob]) -> Result:
    """The result without `results`. An object without manifests fails."""
    release = _release(params["kubevirt_version"])
    manifests: list[Manifest] = []
    shown: list[Manifest] = []
    for job in jobs:
        if job.failed:
            continue
        try:
            secret = _secret_of(job.goal.options, params["keep_secrets"])
            own = declaration.created(job.goal.options, job.goal.manifest, release)
            for manifest in own:
                check_release(manifest, release)
        except FieldError as error:
            refuse(job, str(error))
            continue
        manifests += own
        shown += [redact(manifest, manifest)[1] for manifest in own] if secret else own
    if any(job.failed for job in jobs):
        return {"changed": False, "rendered": []}
    message = f"{counted_noun(len(jobs), declaration.nouns)} rendered"
    result: Result = {"changed": False, "rendered": shown, "msg": message, **({"diff": []} if task.diff else {})}
    if params["dest"]:
        result.update(_write(params["dest"], manifests, message, task))
    return result


def _write(dest: str, manifests: list[Manifest], message: str, task: Task) -> Params:
    """Writes the files of manifests. Returns the part of the result about them. Raises TaskFailed."""
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
    secret = secret_option(options)
    if secret and not keep:
        raise FieldError(
            secret,
            "may be secret, and a rendered manifest is stored as it is; put it into a Secret and name that in"
            " access_credentials or as secretRef, or set keep_secrets: true",
        )
    return secret
