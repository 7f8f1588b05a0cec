"""The module catalog: options, the source, the message, the result."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.errors import CatalogError
from ..._resolver.api.matcher import ROLE_OF_KIND, ROLES
from ..._resolver.catalog.bundle import bundle, marked, version_of
from ..._resolver.catalog.matrix import matrix, unsatisfied
from ..._resolver.catalog.place import Place, place_of
from ..._resolver.catalog.selection import Selection
from ..._resolver.declare import plan
from ..._resolver.refresh.drift import needs
from ..act.catalog import Affected, Deployed, Request, deploy
from ..act.catalog_version import AUTO, Chosen, choose_version
from ..act.handlers.catalog import CatalogSubject
from ..act.settings import Settings
from ..act.subject import Result
from ..client.errors import ConnectionFailed
from ..client.session import Session
from ..read.catalog_source import SourceError, documents_of
from ..read.catalog_users import label
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, DRY_RUN, REQUESTS, WAIT
from .ending import ON_FAILURE, fail, several, warn
from .objects import diff, is_taken_over, take_over_of, tell

Manifest = dict[str, Any]
Told = dict[str, Any]

_KINDS = [role.matcher for role in ROLES]
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
    **{name: spec for name, spec in WAIT.items() if name not in ("wait", "wait_timeout")},
    **DRY_RUN,
    **ON_FAILURE,
    **_SELECTION,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "source": {"type": "str", "choices": ["builtin", "url", "path", "definitions"], "default": "builtin"},
    "definitions": {"type": "list", "elements": "dict"},
    "path": {"type": "str"},
    "url": {"type": "str"},
    "version": {"type": "str"},
    "checksum": {"type": "str"},
    "download_proxy": {"type": "str"},
    "download_ca_cert": {"type": "path"},
    "download_timeout": {"type": "int", "default": 60},
    "cache_dir": {"type": "path", "default": "~/.cache/virtshape/catalogs"},
    "other_kinds": {"type": "str", "choices": ["fail", "skip"], "default": "fail"},
    "namespaces": {**_LIST, "aliases": ["namespace"]},
    "catalog": {"type": "str"},
    "catalog_version": {"type": "str"},
    "labels": {"type": "dict", "default": {}},
    "name_prefix": {"type": "str", "default": ""},
    "existing": {"type": "str", "choices": ["apply", "keep"], "default": "apply"},
    "prune": {"type": "str", "choices": ["never", "unused", "always"], "default": "never"},
    "force": {"type": "bool", "default": False},
    "on_lost_fields": {"type": "str", "choices": ["fail", "warn", "ignore"], "default": "fail"},
}


# Options for the writes.
_HOW = ("concurrency", "preflight", "fail_fast", "force_conflicts", "server_dry_run")


@last_net
def run_catalog() -> None:
    """The module catalog."""
    module = make_module(argument_spec=_SPEC)
    options = module.params
    try:
        catalog = _catalog(options)
        documents, checksums = documents_of(options)
        session = Session(options, options["concurrency"])
        version = _chosen(session, options, documents)
        found = bundle(documents, options["other_kinds"], version.version)
        chosen = _selection(options).of(found.objects)
        recorded = options["catalog_version"] or _version(options, found.objects) or version.version
        namespaces = tuple(dict.fromkeys(options["namespaces"])) or ("",)
        manifests = [
            manifest
            for namespace in namespaces
            for manifest in marked(
                chosen,
                catalog=catalog,
                version=recorded,
                namespace=namespace,
                labels=options["labels"],
                name_prefix=options["name_prefix"],
            )
        ]
    except (CatalogError, SourceError, ConnectionFailed) as error:
        module.fail_json(msg=str(error))
    request = Request(
        manifests,
        namespaces,
        catalog,
        **{name: options[name] for name in ("state", "prune", "existing", "force", "on_lost_fields")},
    )
    settings = Settings(
        check_mode=module.check_mode,
        **{name: options[name] for name in _HOW},
        take_over=take_over_of(module),
    )
    try:
        told = deploy(session, request, settings)
    except ConnectionFailed as error:
        module.fail_json(msg=str(error))
    notes = found.notes + [
        f"no instancetype of the catalog satisfies the preference {name}" for name in unsatisfied(matrix(found.objects))
    ]
    source = {
        "catalog": catalog,
        "catalog_version": recorded,
        "version_reason": version.reason,
        "checksums": checksums,
        "notes": notes,
    }
    _exit(module, source, told)


def _catalog(options: Told) -> str:
    """The name of the catalog.

    A user's own catalog needs a name for pruning: two with the same name would prune each other.
    """
    published = options["source"] in ("builtin", "url") and not (options["source"] == "url" and not options["version"])
    if options["catalog"]:
        return str(options["catalog"])
    if options["prune"] != "never" and not published:
        raise CatalogError("catalog: required with prune; set the name of the catalog whose objects may be deleted")
    return "common" if published else "custom"


def _chosen(session: Session, options: Told, documents: list[Any]) -> Chosen:
    """The version of a catalog that has versions; a fetched release has only one."""
    if options["source"] == "url":
        return Chosen()
    return choose_version(session, documents, options["version"] or AUTO)


def _version(options: Told, objects: list[Manifest]) -> str:
    return (options["source"] == "url" and options["version"]) or version_of(objects)


def _selection(options: Told) -> Selection:
    names = [name for name in _SELECTION if name not in ("label_selectors", "deprecated")]
    return Selection(
        **{name: tuple(options[name]) for name in names},
        labels=tuple(options["label_selectors"]),
        deprecated=options["deprecated"],
    )


def _exit(module: Any, source: Told, told: Deployed) -> None:
    every = [*told.results, *told.pruned]
    counts = _counts(told, every)
    outcome: Told = {
        **source,
        "changed": any(result.changed for result in every),
        "counts": counts,
        "results": [tell(_WORDS, result) for result in every],
        "upgrade": _upgrade(told),
        "virtual_machines": [_affected(one, told) for one in told.affected],
        "lost_fields": [
            {**_place(place), "fields": list(one.lost), "effects": list(one.effects), "text": one.text}
            for place, one in told.misfits
        ],
        "deployed_versions": {"before": told.versions_before, "after": told.versions},
    }
    if module.shows_diff:
        outcome["diff"] = [diff(result) for result in every if result.changed]
    for text in [*source["notes"], *told.warnings]:
        module.warn(text)
    warn(module, [(result.entry.label, text) for result in every for text in result.warnings])
    failed = [result for result in every if result.failed]
    if failed:
        done = sum(result.changed for result in every)
        rest = (
            f"{done} other objects were written, and the next run continues from there"
            if done
            else "nothing was written"
        )
        if told.misfits and module.params["on_lost_fields"] == "fail":
            rest += "; set on_lost_fields to warn to deploy without these fields"
        failures = [(result.entry.label, result.failed or "") for result in failed]
        fail(module, _WORDS.plural, failures, len(every), outcome, rest)
    module.exit_json(msg=_message(source, told, counts, module.check_mode), **outcome)


# Names the objects in messages and describes them in results.
_WORDS = CatalogSubject("objects")

_ACTIONS = {
    "created": plan.CREATE,
    "changed": plan.APPLY,
    "unchanged": plan.NONE,
    "kept": plan.KEEP,
    "deleted": plan.DELETE,
}


def _counts(told: Deployed, every: list[Result]) -> dict[str, int]:
    by_role = [ROLE_OF_KIND[result.entry.key.kind].matcher for result in told.results]
    # If an object is invalid, the others are not even planned.
    written = [result for result in every if not result.failed and not (result.left and result.action == plan.NONE)]
    done = [result.action for result in written if not is_taken_over(result)]
    return {
        **{f"{kind}s": by_role.count(kind) for kind in _KINDS},
        **{word: done.count(action) for word, action in _ACTIONS.items()},
        "taken_over": len(written) - len(done),
        "failed": sum(bool(result.failed) for result in every),
        "gone": sum(one.kept is not None for one in told.gone),
    }


def _message(source: Told, told: Deployed, counts: dict[str, int], check_mode: bool) -> str:
    done = several({word.replace("_", " "): counts[word] for word in (*_ACTIONS, "taken_over")})
    writes = ("created", "changed", "deleted", "taken_over")
    would = "would be " if check_mode and any(counts[word] for word in writes) else ""
    name = " ".join(filter(None, ("catalog", source["catalog"], source["catalog_version"])))
    if source["version_reason"]:
        name += f" ({source['version_reason']})"
    text = f"{name}: {counts['instancetypes']} instancetypes, {counts['preferences']} preferences: {would}{done}"
    if counts["gone"]:
        text += f"; {counts['gone']} objects that the catalog no longer has are kept"
    if told.affected:
        text += f"; {len(told.affected)} virtual machines use changed or removed objects"
    reasons = {result.left: 0 for result in told.results if result.left}
    for result in told.results:
        if result.left:
            reasons[result.left] += 1
    return text + "".join(f"; left alone: {count} ({reason})" for reason, count in reasons.items())


def _upgrade(told: Deployed) -> Told:
    return {
        "new": [_place(place) for place in told.new],
        "changed": [
            {**_place(one.place), "changes": one.changes, "used_by": _names(one.used_by)} for one in told.changed
        ],
        "gone": [
            {
                **_place(place_of(one.live)),
                "used_by": _names(one.used_by),
                "pruned": one.kept is None,
                **({"kept": one.kept} if one.kept else {}),
            }
            for one in told.gone
        ],
    }


def _names(vms: list[Manifest] | None) -> list[str] | None:
    return None if vms is None else [label(vm) for vm in vms]


def _affected(one: Affected, told: Deployed) -> Told:
    effect = one.drift.effect
    going = {place_of(gone.live) for gone in told.gone}
    return {
        "name": one.vm["metadata"]["name"],
        "namespace": one.vm["metadata"]["namespace"],
        "uses": [{**_place(place), "what": "gone" if place in going else "changed"} for place in one.places],
        "states": {
            role.matcher: part.state
            for role, part in zip(ROLES, (one.drift.instancetype, one.drift.preference))
            if part is not None
        },
        "guest_before": effect.guest_before,
        "guest_after": effect.guest_after,
        "changes": list(effect.changes),
        "needs": needs(effect),
        **({"refusal": effect.refusal} if effect.refusal else {}),
    }


def _place(place: Place) -> Told:
    return {"kind": place.kind, "name": place.name, **({"namespace": place.namespace} if place.namespace else {})}
