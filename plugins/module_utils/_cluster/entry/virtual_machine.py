"""The module virtual_machine: its options, what VMs get of templates and for workloads, and whether they fit."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..._resolver.api.errors import FieldError
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import INSTANCETYPE, PREFERENCE, Role
from ..._resolver.api.names import nearest
from ..._resolver.api.option_checks import oversized
from ..._resolver.choose.fitting import Rejected
from ..._resolver.choose.workload import AvailableObjects, MissingObject, WorkloadRequest, resolve
from ..._resolver.declare.plan import KEEP
from ..._resolver.declare.virtual_machine import reconcile
from ..._resolver.declare.vm import cloud_init, workload
from ..._resolver.declare.vm.from_template import OPTION, vm_from_template
from ..._resolver.declare.vm.manifest import manifest, warnings
from ..._resolver.declare.vm.options import EXCLUSIVE, SPEC
from ..._resolver.kubevirt.pod.manifests import MIGRATE, verdict
from ..act.engine import UNKNOWN_IN_CHECK_MODE
from ..act.handlers.virtual_machine import VirtualMachineHandler
from ..act.kind_handler import Entry, with_live
from ..client.errors import ApiError, RequestFailed, TaskFailed
from ..client.session import Session
from ..read.capacity import read_placement, read_quota_effects
from ..read.kubevirt import kubevirt
from ..read.snapshot import Key, list_if_permitted, read
from .objects import ObjectModule
from .options import to_delete
from .outcome import Mode, Params, combined

Manifest = dict[str, Any]
Options = dict[str, Any]

# The number of VMs that a message names.
_SHOWN: Final = 5
_TEMPLATE: Final = "VirtualMachineTemplate"
_SOURCE: Final = BY_NAME["DataSource"]


def complete(
    mode: Mode,
    session: Session,
    entries: list[Entry],
    option: str,
    completed: Callable[[Entry, Manifest | None], Entry],
) -> list[Entry]:
    """The entries, of which those with the option are completed. One that fails gets a problem.

    completed: gets an entry and its live VM, None also for one that is being deleted; may raise MissingObject,
    Rejected, FieldError and ApiError. In check mode a missing object is a warning, because an earlier task might create
    it.
    """
    due = [entry for entry in entries if _is_due(entry, option)]
    if not due:
        return entries
    try:
        entries = with_live(session, entries, due)
    except RequestFailed as error:
        return [replace(entry, problem=str(error)) if entry in due else entry for entry in entries]
    missing: list[tuple[str, str]] = []

    def outcome(entry: Entry) -> Entry:
        live = entry.live
        try:
            return completed(entry, None if live is not None and live["metadata"].get("deletionTimestamp") else live)
        except MissingObject as error:
            if mode.check:
                missing.append((entry.label, f"{error}; {UNKNOWN_IN_CHECK_MODE}"))
                return entry
            return replace(entry, problem=str(error))
        except (Rejected, FieldError, ApiError) as error:
            return replace(entry, problem=str(error))

    entries = [outcome(entry) if _is_due(entry, option) else entry for entry in entries]
    mode.warnings += combined(missing)
    return entries


def _is_due(entry: Entry, option: str) -> bool:
    return entry.problem is None and entry.state != "absent" and entry.options.get(option) is not None


class Templates:
    """The templates that a task names. Each is read once."""

    def __init__(self, mode: Mode, session: Session) -> None:
        self._mode = mode
        self._session = session
        self._cache: dict[Key, Manifest | Exception] = {}

    def completed(self, entry: Entry, live: Manifest | None) -> Entry:
        """The entry with the VM of its template. Raises FieldError and MissingObject."""
        reference = entry.options[OPTION]
        key = Key(_TEMPLATE, reference.get("namespace") or entry.key.namespace, reference["name"])
        templated = vm_from_template(self._get(key), entry.options, entry.manifest, live, secrets.token_hex())
        self._mode.secrets.update(templated.secrets)
        summary = {
            "name": key.name,
            "namespace": key.namespace,
            "parameters": templated.parameters,
            "message": templated.message,
        }
        return replace(entry, manifest=templated.manifest, from_template=summary)

    def _get(self, key: Key) -> Manifest:
        if key not in self._cache:
            try:
                self._cache[key] = self._read(key)
            except (MissingObject, FieldError) as error:
                self._cache[key] = error
        template = self._cache[key]
        if isinstance(template, Exception):
            raise template
        return template

    def _read(self, key: Key) -> Manifest:
        try:
            template = read(self._session, [key]).get(key)
        except RequestFailed as error:
            raise FieldError(OPTION, str(error)) from None
        if template is None:
            raise MissingObject(f"{OPTION}: {_TEMPLATE} {key.namespace}/{key.name} does not exist{self._hint(key)}")
        if too_much := oversized(template):
            raise FieldError(OPTION, f"{_TEMPLATE} {key.namespace}/{key.name} {too_much}; simplify it")
        return template

    def _hint(self, key: Key) -> str:
        others = list_if_permitted(self._session, BY_NAME[_TEMPLATE], [], key.namespace) or []
        names = [other["metadata"]["name"] for other in others]
        return nearest(key.name, names) if names else f"; set {OPTION}.namespace to the template's namespace"


class Workloads:
    """Chooses once for all new VMs of a namespace with the same options."""

    def __init__(self, params: Params, session: Session, manifest: Callable[[Options], Manifest]) -> None:
        self._params = params
        self._session = session
        self._manifest = manifest
        self._lists: dict[tuple[Role, str], list[Manifest]] = {}
        self._sources: dict[str, tuple[list[Manifest], list[str]]] = {}
        self._choices: dict[str, Options] = {}

    def completed(self, entry: Entry, live: Manifest | None) -> Entry:
        """The entry with what is chosen for its workload. Raises Rejected, FieldError and RequestFailed."""
        size = workload.size_of(entry.options)
        if live is None:
            return self._with_choice(entry, self._choice(entry), size)
        stored = workload.stored_choice(live)
        if stored is None:
            raise Rejected(
                "workload: the VM exists, and was not declared with a workload; set boot, instancetype and preference"
            )
        if stored.workload != entry.options["workload"]:
            raise Rejected(
                f"workload: the VM was created for {stored.workload}, and keeps its disk; declare a VM of another name"
            )
        if not size or size == stored.size:
            choice = {**stored.choice, "reasons": ["the VM keeps what was chosen for it", *stored.choice["reasons"]]}
            return replace(self._with_choice(entry, stored.choice, stored.size), choice=choice)
        return self._with_choice(entry, self._resized(entry, stored), size)

    def _with_choice(self, entry: Entry, choice: Options, size: Options) -> Entry:
        options = workload.apply_choice(entry.options, choice, size)
        return replace(entry, options=options, manifest=self._manifest(options), choice=choice)

    def _choice(self, entry: Entry) -> Options:
        namespace = entry.key.namespace or ""
        key = json.dumps({**entry.options, "name": "", "namespace": namespace}, sort_keys=True, default=str)
        if key not in self._choices:
            sources, notes = (None, []) if entry.options.get("boot") else self._data_sources(namespace)
            available = AvailableObjects(
                self._list(PREFERENCE, namespace), self._list(INSTANCETYPE, namespace), sources
            )
            choice = self._smallest_runnable(entry, workload.request_of(entry.options), available)
            self._choices[key] = {**choice, "reasons": [*choice["reasons"], *notes]}
        return self._choices[key]

    def _resized(self, entry: Entry, stored: workload.StoredChoice) -> Options:
        namespace, preference = entry.key.namespace or "", stored.choice[PREFERENCE.matcher]
        preferences = [
            manifest
            for manifest in self._list(PREFERENCE, namespace)
            if (manifest["kind"], manifest["metadata"]["name"]) == (preference.get("kind"), preference["name"])
        ]
        request = workload.request_of(entry.options)._replace(workload=preference["name"])
        choice = self._smallest_runnable(
            entry, request, AvailableObjects(preferences, self._list(INSTANCETYPE, namespace))
        )
        reasons = ["the VM keeps its boot source and its preference", choice["reasons"][-1]]
        stored_options = {name: stored.choice[name] for name in ("boot", PREFERENCE.matcher) if name in stored.choice}
        return {**choice, **stored_options, "reasons": reasons}

    def _smallest_runnable(self, entry: Entry, request: WorkloadRequest, available: AvailableObjects) -> Options:
        """The smallest choice that the quotas and nodes let run, as far as the task asks for it.

        If none runs, the smallest, which the task then refuses or warns of.
        """
        refused: dict[tuple[str, str], str] = {}
        smallest: Options | None = None
        while True:
            try:
                choice = resolve(
                    request, available._replace(refused=refused), kubevirt(self._session).release
                ).as_data()
            except Rejected:
                if smallest is None:
                    raise
                return smallest
            smallest = smallest or choice
            verdicts = _capacity(self._params, self._session, [self._with_choice(entry, choice, {})]).verdicts
            verdict = next(iter(verdicts.values()), None)
            if verdict is None or verdict["fits"] or not verdict["evaluated"]:
                return choice
            instancetype = choice[INSTANCETYPE.matcher]
            refused[instancetype["kind"], instancetype["name"]] = verdict["problem"]

    def _list(self, role: Role, namespace: str) -> list[Manifest]:
        """The role's objects that VMs of a namespace can name."""
        for kind, place in ((role.cluster_kind, ""), (role.kind, namespace)):
            if (role, place) not in self._lists:
                live = self._session.list(BY_NAME[kind], place or None)
                self._lists[role, place] = [{**manifest, "kind": kind} for manifest in live]
        return [*self._lists[role, ""], *self._lists[role, namespace]]

    def _data_sources(self, namespace: str) -> tuple[list[Manifest], list[str]]:
        """(those of all namespaces, or of the VM's if the user may not list more, and then a note)."""
        if namespace not in self._sources:
            notes: list[str] = []
            live = list_if_permitted(self._session, _SOURCE, notes)
            if live is None and notes:
                live = list_if_permitted(self._session, _SOURCE, [], namespace)
                notes = ["only the DataSources of the VM's namespace count, because you may not list the others"]
            self._sources[namespace] = live or [], notes
        return self._sources[namespace]


class _Capacity(NamedTuple):
    """verdicts: {evaluated, fits, problem} of each VM that is to run, by namespace and name.

    refusals: why the task must not send anything. refused: the VMs for which it must not.
    """

    verdicts: dict[tuple[str, str], Options]
    warnings: list[str]
    refusals: list[str]
    refused: set[tuple[str, str]]


def _check_capacity(params: Params, mode: Mode, session: Session, entries: list[Entry]) -> list[Entry]:
    """The entries with whether their VMs fit, as far as the task asks for it. Raises TaskFailed for what does not."""
    verdicts, warnings, refusals, refused = _capacity(params, session, entries)
    mode.warnings += warnings
    if refusals:
        results = [
            {
                "namespace": key[0],
                "name": key[1],
                "will_run": will_run,
                "kind": "VirtualMachine",
                "action": "none",
                "changed": False,
                "failed": key in refused,
                **({"msg": will_run["problem"]} if key in refused else {}),
            }
            for key, will_run in verdicts.items()
        ]
        raise TaskFailed(f"{'; '.join(refusals)}. Nothing was sent", changed=False, results=results)
    return [replace(entry, will_run=verdicts.get((entry.key.namespace or "", entry.key.name))) for entry in entries]


def _capacity(params: Params, session: Session, entries: Iterable[Entry]) -> _Capacity:
    # The option, whether a VM that does not fit fails the task, and what gives verdicts by VM and warnings.
    checks: list[tuple[str, bool, Callable[[list[Manifest]], tuple[Options, list[str]]]]] = []
    if params["quota"] != "off":
        checks.append(("quota", params["quota"] == "strict", lambda vms: read_quota_effects(session, vms, KEEP)))
    if params["preflight_placement"] and params["preflight"] != "off":
        strict = params["preflight"] == "strict"
        checks.append(("preflight_placement", strict, lambda vms: read_placement(session, vms, [], [], MIGRATE)))
    vms = _to_run(entries) if checks else []
    lines_by_vm: dict[tuple[str, str], list[Options]] = {}
    warnings: list[str] = []
    refusals: list[str] = []
    refused: set[tuple[str, str]] = set()
    for option, strict, check in checks if vms else ():
        lines: list[Options] = []
        problems: list[str] = []
        try:
            checked, check_warnings = check(vms)
            lines = checked["virtual_machines"]
            warnings += [*check_warnings, kubevirt(session).assumption]
        except (RequestFailed, FieldError) as error:
            problems.append(str(error))
        for line in lines:
            key = (line["namespace"], line["name"])
            lines_by_vm.setdefault(key, []).append(line)
            if line["fits"]:
                continue
            problem = f"{key[0]}/{key[1]}: {line['problem']}"
            if not line["evaluated"]:
                warnings.append(f"{option}: {problem}")
            else:
                problems.append(problem)
                refused.update({key} if strict else ())
        if problems:
            more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
            (refusals if strict else warnings).append(f"{option}: {'; '.join(problems[:_SHOWN])}{more}")
    verdicts = {key: verdict(lines) for key, lines in lines_by_vm.items()}
    return _Capacity(verdicts, [text for text in dict.fromkeys(warnings) if text], refusals, refused)


def _to_run(entries: Iterable[Entry]) -> list[Manifest]:
    vms = []
    for entry in entries:
        if entry.problem is None and entry.state != "absent":
            # As for a new VM, which gets a run strategy and memory.
            vm, _owned = reconcile(entry.manifest, None, "")
            if vm["spec"].get("runStrategy") != "Halted" and vm["spec"].get("running") is not False:
                vms.append(vm)
    return vms


# Of the task, not of a VM.
_SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "restart": {"type": "str", "choices": ["never", "if_required"], "default": "never"},
    "field_manager": {"type": "str", "default": "virtshape"},
    "quota": {"type": "str", "choices": ["strict", "warn", "off"], "default": "off"},
    "preflight_placement": {"type": "bool", "default": False},
}
# No default for label_selectors: the user must choose VMs.
_SELECTORS: Final[dict[str, dict[str, Any]]] = {
    "names": {"type": "list", "elements": "str"},
    "label_selectors": {"type": "list", "elements": "str"},
}


def with_password(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a VM with the content of `cloud_init.password_file` as its password.

    The resolver has no I/O. An empty path counts as none. Raises FieldError if the file cannot be read.
    """
    settings = options.get("cloud_init") or {}
    path = settings.get("password_file")
    if not path or settings.get("type") == cloud_init.NONE or options.get("state") == "absent":
        return options
    try:
        content = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        # The message may name the file but must not contain its content.
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise FieldError(cloud_init.PASSWORD_FILE, f"cannot be read: {reason}") from None
    return cloud_init.with_password(options, content)


def _manifest(options: dict[str, Any]) -> dict[str, Any]:
    return manifest(with_password(options))


def _complete(params: Params, mode: Mode, session: Session, entries: list[Entry]) -> list[Entry]:
    for option, completed in (
        (OPTION, Templates(mode, session).completed),
        ("workload", Workloads(params, session, _manifest).completed),
    ):
        entries = complete(mode, session, entries, option, completed)
    return entries


MODULE = ObjectModule(
    plural="virtual_machines",
    spec=SPEC,
    manifest=_manifest,
    handler=VirtualMachineHandler,
    settings=_SETTINGS,
    rules={"mutually_exclusive": EXCLUSIVE},
    complete=_complete,
    check=_check_capacity,
    warnings=warnings,
    selectors=_SELECTORS,
    select=to_delete,
).module
