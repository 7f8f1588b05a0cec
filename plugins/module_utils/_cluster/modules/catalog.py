"""The module catalog: options, the source, the message, the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..._resolver.api.manifest import Manifest, qualified_name
from ..._resolver.api.matcher import MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, ObjectKey
from ..._resolver.api.release import Release
from ..._resolver.catalog.bundle import Conversion, bundle, version_of, with_catalog_labels
from ..._resolver.catalog.errors import CatalogError
from ..._resolver.catalog.selection import CatalogSelection
from ..._resolver.change.declared import DeclareJob
from ..._resolver.change.drift import Drift
from ..._resolver.declare import plan
from ..client.errors import TaskFailed
from ..client.session import Session
from ..reads.catalog_source import documents_of
from ..reads.kubevirt import kubevirt
from ..task import Task
from ..writes.catalog_compatibility import AUTO, CHOICES, ENABLE, KEEP, apply_deployment_option, choose_version
from ..writes.catalog_deployment import CatalogExtension, CatalogSummary, deploy
from ..writes.catalog_objects import ObjectCheck
from .declared_results import diff, generation, is_taken_over, result_of
from .module import ON_FAILURE, Module, Params, Result
from .results import counted_noun, failed_result, group_warnings, joined_counts
from .shared_options import AUTH, CONCURRENCY, DRY_RUN, FAIL_FAST, OWNERSHIP, PREFLIGHT, REQUESTS, WAIT

CatalogJudge = Callable[[Session, Sequence[Manifest], Sequence[Manifest], Release], "tuple[Result, list[str]]"]
"""(the session, the objects of the catalog, the objects that the task declares, KubeVirt's release) → facts for the
result, and notes.
"""

_KINDS = [matcher_field.name for matcher_field in MATCHER_FIELDS]
_LIST = {"type": "list", "elements": "str", "default": []}

_SELECTION: dict[str, dict[str, Any]] = {
    "kinds": {**_LIST, "choices": _KINDS, "default": _KINDS},
    **dict.fromkeys(("instancetypes", "preferences", "series", "sizes", "classes", "os", "architectures"), _LIST),
    "label_selectors": _LIST,
    "deprecated": {"type": "str", "choices": ["include", "exclude", "only"], "default": "include"},
}

_SPEC: dict[str, dict[str, Any]] = {
    **AUTH,
    **REQUESTS,
    **CONCURRENCY,
    **PREFLIGHT,
    **FAIL_FAST,
    **OWNERSHIP,
    **DRY_RUN,
    **ON_FAILURE,
    **_SELECTION,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "source": {"type": "str", "choices": ["builtin", "url", "path", "definitions"], "default": "builtin"},
    "definitions": {"type": "list", "elements": "dict"},
    # Where each of the definitions comes from; set by the action.
    "_places": {"type": "list", "elements": "str"},
    "path": {"type": "str"},
    "url": {"type": "str"},
    "version": {"type": "str"},
    "checksum": {"type": "str"},
    "download_proxy": {"type": "str"},
    "download_ca_cert": {"type": "path"},
    "download_timeout": {"type": "int", "default": 60},
    "cache_directory": {"type": "path", "default": "~/.cache/virtshape/catalogs"},
    "other_kinds": {"type": "str", "choices": ["fail", "skip"], "default": "fail"},
    "namespaces": {**_LIST, "aliases": ["namespace"]},
    "catalog": {"type": "str"},
    "catalog_version": {"type": "str"},
    "labels": {"type": "dict", "default": {}},
    "name_prefix": {"type": "str", "default": ""},
    "existing": {"type": "str", "choices": ["apply", "keep"], "default": "apply"},
    "prune": {"type": "str", "choices": ["never", "unused", "always"], "default": "never"},
    "force": {"type": "bool", "default": False},
    "wait_timeout": WAIT["wait_timeout"],
    "lost_fields": {"type": "str", "choices": ["fail", "warn", "ignore"], "default": "fail"},
    "common_instancetypes_deployment": {"type": "str", "choices": list(CHOICES), "default": KEEP},
}


def _run(
    params: Params,
    task: Task,
    extension: CatalogExtension | None,
    conversions: Sequence[Conversion],
    checks: Sequence[ObjectCheck],
    judges: Sequence[CatalogJudge],
) -> Result:
    catalog = _catalog(params)
    documents, places, checksums = documents_of(params)
    session = task.connect(params)
    # A fetched release has only one version.
    fetched = params["source"] == "url"
    version, reason = ("", "") if fetched else choose_version(session, documents, params["version"] or AUTO)
    available = bundle(documents, params["other_kinds"], version, places, conversions)
    selected = _selection(params).select(available.objects)
    if params["common_instancetypes_deployment"] == ENABLE and params["state"] == "present":
        # virt-operator deploys them.
        selected = []
    recorded = params["catalog_version"] or (fetched and params["version"]) or version_of(available.objects) or version
    namespaces = tuple(dict.fromkeys(params["namespaces"])) or ("",)
    manifests = [
        manifest
        for namespace in namespaces
        for manifest in with_catalog_labels(
            selected,
            catalog=catalog,
            version=recorded,
            namespace=namespace,
            labels=params["labels"],
            name_prefix=params["name_prefix"],
            places=available.places,
        )
    ]
    kubevirt_version = kubevirt(session).version
    if session.give_up_reason:
        # The task fails once, not once for each object.
        raise TaskFailed(session.give_up_reason)
    choice = params["common_instancetypes_deployment"]
    deployment = apply_deployment_option(session, choice, task)
    deployed = deploy(
        session, {**params, "catalog": catalog, "namespaces": namespaces}, manifests, task, extension, checks
    )
    declared = manifests if params["state"] == "present" else []
    judged = [judge(session, available.objects, declared, kubevirt(session).release) for judge in judges]
    source = {
        "catalog": catalog,
        "catalog_version": recorded,
        "version_reason": reason,
        "kubevirt_version": kubevirt_version,
        "checksums": checksums,
        "notes": [*available.notes, *(note for _facts, notes in judged for note in notes)],
        **{name: value for facts, _notes in judged for name, value in facts.items()},
    }
    return _result(params, task, source, deployed, deployment, extension.option if extension is not None else "")


def module(
    extension: CatalogExtension | None = None,
    conversions: Sequence[Conversion] = (),
    checks: Sequence[ObjectCheck] = (),
    judges: Sequence[CatalogJudge] = (),
) -> Module:
    """The module. extension, conversions, checks, judges: what capabilities add to catalogs."""
    spec = _SPEC if extension is None else {**_SPEC, extension.option: extension.spec}
    run = partial(_run, extension=extension, conversions=conversions, checks=checks, judges=judges)
    return Module(spec, run, errors=(CatalogError,))


def _selection(params: Params) -> CatalogSelection:
    names = [name for name in _SELECTION if name not in ("label_selectors", "deprecated")]
    return CatalogSelection(
        **{name: tuple(params[name]) for name in names},
        labels=tuple(params["label_selectors"]),
        deprecated=params["deprecated"],
    )


def _catalog(params: Params) -> str:
    """The name of the catalog.

    A user's own catalog needs a name for pruning: two with the same name would prune each other.
    """
    published = params["source"] in ("builtin", "url") and not (params["source"] == "url" and not params["version"])
    if params["catalog"]:
        return str(params["catalog"])
    if params["prune"] != "never" and not published:
        raise CatalogError("catalog: required with prune; set the name of the catalog whose objects may be deleted")
    return "common" if published else "custom"


def _result(
    params: Params, task: Task, source: Result, deployed: CatalogSummary, deployment: Result, added: str
) -> Result:
    """The result of the task. added: the key for what a capability adds, "" for none."""
    jobs = [*deployed.results, *deployed.pruned]
    counts = _counts(deployed, jobs)
    result: Result = {
        **source,
        "changed": deployment["changed"] or any(job.changed for job in (*jobs, *deployed.added)),
        "common_instancetypes_deployment": deployment,
        "counts": counts,
        **({added: [result_of(job, generation) for job in deployed.added]} if added else {}),
        "results": [result_of(job, generation) for job in jobs],
        "catalog_changes": _catalog_changes(deployed),
        "virtual_machines": [_affected(*affected, deployed) for affected in deployed.affected],
        "lost_fields": [
            {**_key_fields(object_key), "fields": list(lost.lost), "effects": list(lost.effects), "text": lost.text}
            for object_key, lost in deployed.lost_fields
        ],
        "deployed_versions": {"before": deployed.versions_before, "after": deployed.versions},
    }
    if task.diff:
        result["diff"] = [diff(job) for job in (*jobs, *deployed.added) if job.changed]
    task.warnings += [*source["notes"], *deployed.warnings]
    task.warnings += group_warnings((job.label, text) for job in (*jobs, *deployed.added) for text in job.warnings)
    if any(job.failed for job in (*jobs, *deployed.added)):
        done = joined_counts({word.replace("_", " "): counts[word] for word in _WRITES})
        nothing = "nothing was deleted" if params["state"] == "absent" else "nothing was written"
        would = "would be " if task.check_mode else ""
        unfinished = f"{would}{done}; the next run continues from there" if done else nothing
        if deployed.lost_fields and params["lost_fields"] == "fail":
            unfinished += "; set lost_fields to warn to deploy without these fields"
        return failed_result(params, "objects", result, unfinished, ("results", added) if added else ("results",))
    return {**result, "msg": _message(source, deployed, counts, added, task.check_mode) + _operator(deployment, task)}


_ACTIONS = {
    "created": plan.CREATE,
    "changed": plan.APPLY,
    "unchanged": plan.NONE,
    "kept": plan.KEEP,
    "deleted": plan.DELETE,
}
_WRITES = ("created", "changed", "deleted", "taken_over")


def _counts(deployed: CatalogSummary, jobs: list[DeclareJob]) -> dict[str, int]:
    by_field = [MATCHER_FIELD_OF_KIND[job.key.kind].name for job in deployed.results]
    # If an object is invalid, the others are not even planned.
    planned = [job for job in jobs if not (job.skip_reason and job.goal.action == plan.NONE)]
    written = [job for job in planned if not job.failed]
    done = [job.goal.action for job in written if not is_taken_over(job)]
    return {
        **{f"{kind}s": by_field.count(kind) for kind in _KINDS},
        **{word: done.count(action) for word, action in _ACTIONS.items()},
        "taken_over": len(written) - len(done),
        "failed": sum(bool(job.failed) for job in jobs),
        "gone": sum(gone.keep_reason is not None for gone in deployed.gone),
    }


def _message(source: Result, deployed: CatalogSummary, counts: dict[str, int], added: str, check_mode: bool) -> str:
    done = joined_counts({word.replace("_", " "): counts[word] for word in (*_ACTIONS, "taken_over")})
    would = "would be " if check_mode and any(counts[word] for word in _WRITES) else ""
    name = " ".join(filter(None, ("catalog", source["catalog"], source["catalog_version"])))
    if source["version_reason"]:
        name += f" ({source['version_reason']})"
    kinds = ", ".join(counted_noun(counts[f"{kind}s"], f"{kind}s") for kind in _KINDS)
    text = f"{name}: {kinds}: {would}{done}"
    if gone := counts["gone"]:
        text += f"; {counted_noun(gone, 'objects')} that the catalog no longer has {'is' if gone == 1 else 'are'} kept"
    if users := len(deployed.affected):
        text += (
            f"; {counted_noun(users, 'virtual machines')} {'uses' if users == 1 else 'use'} changed or removed objects"
        )
    if deployed.added:
        text += f"; {_added(deployed, added, check_mode)}"
    reasons = Counter(job.skip_reason for job in deployed.results if job.skip_reason)
    return text + "".join(f"; left alone: {count} ({reason})" for reason, count in reasons.items())


def _added(deployed: CatalogSummary, noun: str, check_mode: bool) -> str:
    """`2 limits: 1 created, 1 unchanged`"""
    # Objects with one name are one to users, such as a policy and its binding, which seldom changes.
    actions: dict[str, str] = {}
    for job in deployed.added:
        if job.key.name not in actions or job.goal.action in plan.WRITES:
            actions[job.key.name] = job.goal.action
    done = joined_counts({word: list(actions.values()).count(action) for word, action in _ACTIONS.items()})
    would = "would be " if check_mode and any(job.changed for job in deployed.added) else ""
    return f"{counted_noun(len(actions), noun)}: {would}{done}"


def _operator(deployment: Result, task: Task) -> str:
    if not deployment["changed"]:
        return ""
    deploys = "deploys" if deployment["enabled"] else "no longer deploys"
    return f"; virt-operator {'would ' if task.check_mode else ''}{deploys} the common instancetypes"


def _catalog_changes(deployed: CatalogSummary) -> Result:
    return {
        "new": [_key_fields(object_key) for object_key in deployed.new],
        "changed": [
            {**_key_fields(object_key), "changes": changes, "used_by": _users(deployed, object_key)}
            for object_key, changes in deployed.changed.items()
        ],
        "gone": [
            {
                **_key_fields(ObjectKey.of(gone.live)),
                "used_by": _users(deployed, ObjectKey.of(gone.live)),
                "pruned": gone.keep_reason is None,
                **({"keep_reason": gone.keep_reason} if gone.keep_reason else {}),
            }
            for gone in deployed.gone
        ],
    }


def _users(deployed: CatalogSummary, object_key: ObjectKey) -> list[str] | None:
    return None if deployed.used_by is None else list(map(qualified_name, deployed.used_by[object_key]))


def _affected(vm: Manifest, object_keys: list[ObjectKey], drift: Drift, deployed: CatalogSummary) -> Result:
    effect = drift.effect
    removed = {ObjectKey.of(gone.live) for gone in deployed.gone}
    return {
        "name": vm["metadata"]["name"],
        "namespace": vm["metadata"]["namespace"],
        "uses": [
            {**_key_fields(object_key), "status": "gone" if object_key in removed else "changed"}
            for object_key in object_keys
        ],
        "states": {matcher_field.name: part.state for matcher_field, part in drift.parts.items()},
        "guest_before": effect.guest_before,
        "guest_after": effect.guest_after,
        "changes": list(effect.changes),
        "needs": effect.needs,
        **({"refusal": effect.refusal} if effect.refusal else {}),
    }


def _key_fields(object_key: ObjectKey) -> Result:
    return {
        "kind": object_key.kind,
        "name": object_key.name,
        **({"namespace": object_key.namespace} if object_key.namespace else {}),
    }
