"""What VMs get of templates and for workloads, and whether they fit, before they are planned."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...._boot_sources import workload_options as workload
from ...._boot_sources.workload import AvailableObjects, MissingObject, WorkloadRequest, resolve
from ...._capacity.cluster.reads import read_placement, read_quota_effects
from ...._capacity.pod.render import MIGRATE, verdict
from ...._resolver.api.errors import FieldError
from ...._resolver.api.kinds import BY_NAME
from ...._resolver.api.matcher import INSTANCETYPE, PREFERENCE, Role
from ...._resolver.api.name_rules import nearest
from ...._resolver.choose.fitting import Rejected
from ...._resolver.declare.option_checks import oversized
from ...._resolver.declare.plan import KEEP
from ...._resolver.declare.virtual_machine import reconcile
from ...._resolver.declare.vm import cloud_init
from ...._resolver.declare.vm.manifest import manifest
from ...._resolver.kubevirt.find.lookup import Problem
from ...._templates.from_template import OPTION, vm_from_template
from ...client.errors import RequestFailed, TaskFailed
from ...client.session import Session
from ...reads.kubevirt import kubevirt
from ...reads.lookup import ClusterLookup
from ...reads.snapshot import list_if_permitted
from ..engine import UNKNOWN_IN_CHECK_MODE
from ..kind_handler import DeclareOutcome

Manifest = dict[str, Any]
Options = dict[str, Any]

# The number of VMs that a message names.
_SHOWN: Final = 5
_TEMPLATE: Final = "VirtualMachineTemplate"
_SOURCE: Final = BY_NAME["DataSource"]


class Completion:
    """Completes the VMs of a task by what the cluster has. secrets: texts of templates to keep out of the result."""

    def __init__(self, options: Options, session: Session, lookup: ClusterLookup, secrets: set[str]) -> None:
        self._lookup = lookup
        self._secrets = secrets
        self._workloads = _Workloads(options, session, lookup)

    def complete(self, results: list[DeclareOutcome], check_mode: bool) -> None:
        """Completes VMs that are to be present. One that fails gets a problem.

        In check mode a missing object is a warning, because an earlier task might create it.
        """
        for option, completed in ((OPTION, self._from_template), ("workload", self._workloads.completed)):
            for result in results:
                if result.entry.problem is not None or result.entry.options.get(option) is None:
                    continue
                try:
                    completed(result)
                except MissingObject as error:
                    if check_mode:
                        result.warn(f"{error}; {UNKNOWN_IN_CHECK_MODE}")
                    else:
                        result.refuse(str(error))
                except (Rejected, FieldError, RequestFailed) as error:
                    result.refuse(str(error))

    def _from_template(self, result: DeclareOutcome) -> None:
        """Gives the entry the VM of its template. Raises FieldError and MissingObject."""
        entry = result.entry
        reference = entry.options[OPTION]
        namespace, name = reference.get("namespace") or str(entry.key.namespace), reference["name"]
        template = self._template(namespace, name)
        templated = vm_from_template(template, entry.options, entry.manifest, result.live, secrets.token_hex())
        self._secrets.update(templated.secrets)
        result.entry = replace(entry, manifest=templated.manifest)
        result.facts["from_template"] = {
            "name": name,
            "namespace": namespace,
            "parameters": templated.parameters,
            "message": templated.message,
        }

    def _template(self, namespace: str, name: str) -> Manifest:
        template = self._lookup.get(_TEMPLATE, namespace, name)
        if isinstance(template, Problem):
            raise FieldError(OPTION, template.message)
        if template is None:
            names = [other["metadata"]["name"] for other in self._lookup.list(_TEMPLATE, namespace)]
            hint = nearest(name, names) if names else f"; set {OPTION}.namespace to the template's namespace"
            raise MissingObject(f"{OPTION}: {_TEMPLATE} {namespace}/{name} does not exist{hint}")
        if too_much := oversized(template):
            raise FieldError(OPTION, f"{_TEMPLATE} {namespace}/{name} {too_much}; simplify it")
        return template


class _Workloads:
    """Chooses once for all new VMs of a namespace with the same options."""

    def __init__(self, options: Options, session: Session, lookup: ClusterLookup) -> None:
        """options: of the task."""
        self._options = options
        self._session = session
        self._lookup = lookup
        self._sources: dict[str, tuple[list[Manifest], list[str]]] = {}
        self._choices: dict[str, Options] = {}

    def completed(self, result: DeclareOutcome) -> None:
        """Gives the entry what is chosen for its workload. Raises Rejected, FieldError and RequestFailed."""
        options = result.entry.options
        size = workload.size_of(options)
        if result.live is None:
            choice = chosen = self._choice(result)
        else:
            stored = workload.stored_choice(result.live)
            if stored is None:
                raise Rejected(
                    "workload: the VM exists, and was not declared with a workload; set boot, instancetype and"
                    " preference"
                )
            if stored.workload != options["workload"]:
                raise Rejected(
                    f"workload: the VM was created for {stored.workload}, and keeps its disk; declare a VM of another"
                    " name"
                )
            if not size or size == stored.size:
                kept = "the VM keeps what was chosen for it"
                choice, size = stored.choice, stored.size
                chosen = {**choice, "reasons": [kept, *choice["reasons"]]}
            else:
                choice = chosen = self._resized(result, stored)
        options = workload.apply_choice(options, choice, size)
        result.entry = replace(result.entry, options=options, manifest=declared(options))
        result.facts["choice"] = chosen

    def _choice(self, result: DeclareOutcome) -> Options:
        namespace, options = result.entry.key.namespace or "", result.entry.options
        key = json.dumps({**options, "name": "", "namespace": namespace}, sort_keys=True, default=str)
        if key not in self._choices:
            sources, notes = (None, []) if options.get("boot") else self._data_sources(namespace)
            available = AvailableObjects(
                self._list(PREFERENCE, namespace), self._list(INSTANCETYPE, namespace), sources
            )
            choice = self._smallest_runnable(options, workload.request_of(options), available)
            self._choices[key] = {**choice, "reasons": [*choice["reasons"], *notes]}
        return self._choices[key]

    def _resized(self, result: DeclareOutcome, stored: workload.StoredChoice) -> Options:
        namespace, preference = result.entry.key.namespace or "", stored.choice[PREFERENCE.matcher]
        options = result.entry.options
        preferences = [
            manifest
            for manifest in self._list(PREFERENCE, namespace)
            if (manifest["kind"], manifest["metadata"]["name"]) == (preference.get("kind"), preference["name"])
        ]
        request = workload.request_of(options)._replace(workload=preference["name"])
        choice = self._smallest_runnable(
            options, request, AvailableObjects(preferences, self._list(INSTANCETYPE, namespace))
        )
        reasons = ["the VM keeps its boot source and its preference", choice["reasons"][-1]]
        stored_options = {name: stored.choice[name] for name in ("boot", PREFERENCE.matcher) if name in stored.choice}
        return {**choice, **stored_options, "reasons": reasons}

    def _smallest_runnable(self, options: Options, request: WorkloadRequest, available: AvailableObjects) -> Options:
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
            vm = declared(workload.apply_choice(options, choice, {}))
            verdicts = _capacity(self._options, self._session, [vm]).verdicts
            verdict = next(iter(verdicts.values()), None)
            if verdict is None or verdict["fits"] or not verdict["evaluated"]:
                return choice
            instancetype = choice[INSTANCETYPE.matcher]
            refused[instancetype["kind"], instancetype["name"]] = verdict["problem"]

    def _list(self, role: Role, namespace: str) -> list[Manifest]:
        """The role's objects that VMs of a namespace can name. Raises Rejected if they cannot be listed."""
        objects = []
        for kind, place in ((role.cluster_kind, ""), (role.kind, namespace)):
            if problem := self._lookup.problem(kind, place):
                raise Rejected(problem.message)
            objects += self._lookup.list(kind, place)
        return objects

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


def check_capacity(options: Options, session: Session, results: list[DeclareOutcome], task_warnings: list[str]) -> None:
    """Tells whether VMs fit, as far as the task asks for it. Raises TaskFailed for what does not.

    options: of the task.
    """
    due = [result for result in results if result.entry.problem is None]
    verdicts, warnings, refusals, refused = _capacity(options, session, [result.entry.manifest for result in due])
    task_warnings += warnings
    if refusals:
        outputs = [
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
        raise TaskFailed(f"{'; '.join(refusals)}. Nothing was sent", changed=False, results=outputs)
    for result in due:
        result.facts["will_run"] = verdicts.get((result.entry.key.namespace or "", result.entry.key.name))


def _capacity(options: Options, session: Session, manifests: Iterable[Manifest]) -> _Capacity:
    # The option, whether a VM that does not fit fails the task, and what gives verdicts by VM and warnings.
    checks: list[tuple[str, bool, Callable[[list[Manifest]], tuple[Options, list[str]]]]] = []
    if (level := options["preflight_quota"]) != "off":
        checks.append(("preflight_quota", level == "strict", lambda vms: read_quota_effects(session, vms, KEEP)))
    if (level := options["preflight_placement"]) != "off":
        strict = level == "strict"
        checks.append(("preflight_placement", strict, lambda vms: read_placement(session, vms, [], [], MIGRATE)))
    vms = _to_run(manifests) if checks else []
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


def _to_run(manifests: Iterable[Manifest]) -> list[Manifest]:
    vms = []
    for declared in manifests:
        # As for a new VM, which gets a run strategy and memory.
        vm = reconcile(declared, None, "").manifest
        if vm["spec"].get("runStrategy") != "Halted" and vm["spec"].get("running") is not False:
            vms.append(vm)
    return vms


def with_password(options: Options) -> Options:
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


def declared(options: Options) -> Manifest:
    """The VM that options declare. Raises FieldError."""
    return manifest(with_password(options))
