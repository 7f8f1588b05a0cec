"""Shared by the modules that declare objects: options of one object or a list, and the task."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import UnsupportedError

from ..._resolver.api.errors import FieldError, first_of
from ..._resolver.api.finding import Finding
from ..._resolver.api.manifest import Manifest, Options
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.release import Release
from ..._resolver.change.declare_steps import ANY_KIND, DeclaredKind
from ..._resolver.change.declared import DeclareJob, declare_job, refuse
from ..._resolver.declare import plan
from ..._resolver.declare.argument_spec import expand_shorthand, merge_options
from ..._resolver.declare.option_checks import NOT_FINITE, not_finite, shape_problem
from ..._resolver.secrets.redaction import mask_secrets
from ..client.errors import TaskFailed
from ..client.session import Session
from ..task import Task
from ..writes.declare import declare
from .declared_results import Describe, counts, diff, message, result_of
from .module import ON_FAILURE, Module, Params, Result
from .results import failed_result, group_warnings, joined_counts, label, restart_warning
from .shared_options import AUTH, CONCURRENCY, DRY_RUN, FAIL_FAST, OWNERSHIP, PREFLIGHT, REQUESTS, WAIT

Created = Callable[[Options, Manifest, Release], list[Manifest]]
"""(options, their manifest, release) → the manifests that a new object consists of. Raises FieldError."""

# The longest text of an option's error.
_LONGEST = 500


class TaskState(NamedTuple):
    """A state that a capability brings, which all objects of a task have or none.

    description: what the state does, in Ansible's markup. options: options of the task, valid with this state only.
    run: what the task does with its objects instead of declaring them; they need no namespace.
    """

    name: str
    description: str
    options: dict[str, Any]
    run: Callable[[Declaration, Params, Task, list[DeclareJob]], Result]


def with_states(spec: dict[str, Any], states: Sequence[TaskState]) -> dict[str, Any]:
    """The argument spec of an object that can have further states."""
    choices = [*spec["state"]["choices"], *(state.name for state in states)]
    return {**spec, "state": {**spec["state"], "choices": choices}}


@dataclass(frozen=True, eq=False, repr=False)
class Declaration:
    """The objects of one kind that a module declares: one at the top level, or a list.

    plural: the option with the list, and the objects' name in messages.
    spec: the argument spec of an object, with `name`, `namespace` and `state`.
    manifest: options → manifest; raises FieldError.
    kind: the kind of the objects for `declare`, in a task.
    describe: facts for the result of an object that exists.
    namespaced: whether the object needs a namespace.
    settings: options of the task, not of an object.
    object_rules: rules for the options of an object (mutually_exclusive and the like), as for AnsibleModule.
    shorthand: options of an object for which a text is short, and the suboptions that it sets.
    warnings: warnings about valid options; equal warnings are reported once for all their objects.
    declare: declares the objects; replaceable for objects that consist of several.
    selectors, select: further options that say which objects to delete, and what turns them into the list; it returns
    the task's options and may add warnings.
    states: further states of objects. kept: keys of results that results of failed objects keep.
    created: the manifests that a declaration of a new object would send. collisions: the findings about each manifest
    beside the others, where no cluster is asked.
    """

    plural: str
    spec: dict[str, Any]
    manifest: Callable[[Options], dict[str, Any]]
    kind: Callable[[Options, Session, Task], DeclaredKind] = lambda _options, _session, _task: ANY_KIND
    namespaced: Callable[[Options], bool] = lambda _options: True
    settings: dict[str, Any] = field(default_factory=dict)
    object_rules: dict[str, Any] = field(default_factory=dict)
    shorthand: dict[str, str] = field(default_factory=dict)
    warnings: Callable[[Options], list[str]] = lambda _options: []
    declare: Callable[[Session, DeclaredKind, list[DeclareJob], Task], list[DeclareJob]] = declare
    selectors: dict[str, Any] = field(default_factory=dict)
    describe: Describe = lambda _job: {}
    select: Callable[[Params, Task], Params] = lambda params, _task: params
    states: Sequence[TaskState] = ()
    kept: tuple[str, ...] = ()
    created: Created = lambda _options, manifest, _release: [manifest]
    collisions: Callable[[Sequence[Manifest]], Iterable[list[Finding]]] = lambda _manifests: ()

    def module(self) -> Module:
        """The module that declares the objects."""
        one_of = ("name", self.plural, *self.selectors)
        exclusive = [("name", self.plural), ("name", "defaults"), *self.object_rules.get("mutually_exclusive", [])]
        exclusive += [(option, selector) for option in ("name", self.plural) for selector in self.selectors]
        rules = {**self.object_rules, "required_one_of": [one_of], "mutually_exclusive": exclusive}
        # An object of the list inherits the task's state.
        state = {key: value for key, value in self._spec["state"].items() if key != "default"}
        listed = {"type": "list", "elements": "dict", "options": {**self._listed_spec, "state": state}}
        prepare = partial(expand_shorthand, spec=self.spec, shorthand=self.shorthand)
        return Module(self._argument_spec, self._run, rules, {self.plural: listed}, prepare)

    @property
    def _argument_spec(self) -> dict[str, Any]:
        return {
            **AUTH,
            **REQUESTS,
            **WAIT,
            **CONCURRENCY,
            **PREFLIGHT,
            **FAIL_FAST,
            **OWNERSHIP,
            **DRY_RUN,
            **ON_FAILURE,
            **{name: option for state in self.states for name, option in state.options.items()},
            **self.settings,
            **self.selectors,
            **self._spec,
            self.plural: {"type": "list", "elements": "dict"},
            "defaults": {"type": "dict"},
        }

    @property
    def _spec(self) -> dict[str, Any]:
        return with_states(self.spec, self.states)

    @property
    def nouns(self) -> str:
        """The objects, in the plural."""
        return self.plural.replace("_", " ")

    @property
    def _listed_spec(self) -> dict[str, Any]:
        return {**self._spec, "name": {**self.spec["name"], "required": True}}

    def _run(self, params: Params, task: Task) -> Result:
        params = self.select(params, task)
        jobs = self._jobs(params, task)
        if state := self._state_of_all(params, jobs):
            return state.run(self, params, task, jobs)
        session = task.connect(params)
        result = self._result(params, task, self.declare(session, self.kind(params, session, task), jobs, task))
        return {"cluster": session.host, **result}

    def _state_of_all(self, params: Params, jobs: Sequence[DeclareJob]) -> TaskState | None:
        """The further state that all objects have. Raises TaskFailed if only some have it, or for its options alone."""
        given = [job.goal.state for job in jobs] or [params["state"]]
        for state in self.states:
            others = [index for index, name in enumerate(given) if name != state.name]
            if others and len(others) < len(given):
                raise TaskFailed(
                    f"{self.plural}[{others[0]}] ({jobs[others[0]].label}): state is {given[others[0]]}, but others of"
                    f" the task are {state.name}; set state: {state.name} for all or for none"
                )
            if not others:
                return state
            for option in state.options:
                if params[option]:
                    raise TaskFailed(f"{option}: only valid with state {state.name}")
        return None

    def _jobs(self, params: Params, task: Task) -> list[DeclareJob]:
        if params["name"] is not None:
            return [self._job({name: params.get(name) for name in self.spec})]
        first_index: dict[ObjectKey, int] = {}
        jobs: list[DeclareJob] = []
        for index, options in enumerate(self._validated(params, task)):
            job = self._job(options)
            if job.goal.problem is None and job.key in first_index:
                problem = f"name: entries {first_index[job.key]} and {index} of {self.plural} have the same name"
                refuse(job, problem)
            first_index.setdefault(job.key, index)
            # Most objects of a large task differ in their names only; their manifests are half of the task's memory.
            if jobs and "spec" in job.goal.manifest and job.goal.manifest["spec"] == jobs[-1].goal.manifest.get("spec"):
                job.goal.manifest["spec"] = jobs[-1].goal.manifest["spec"]
            jobs.append(job)
        return jobs

    def show_warnings(self, jobs: list[DeclareJob], task: Task) -> None:
        """Adds the warnings about the objects to the warnings of the task."""
        task.warnings += group_warnings(self._option_warnings(jobs))
        task.warnings += group_warnings((job.label, text) for job in jobs for text in job.warnings)

    def _option_warnings(self, jobs: list[DeclareJob]) -> Iterator[tuple[str, str]]:
        for job in jobs:
            if job.goal.problem is None and job.goal.state != "absent":
                yield from ((job.label, warning) for warning in self.warnings(job.goal.options))

    def _validated(self, params: Params, task: Task) -> list[Options]:
        """The objects of the list, as options that are on top of the top-level options and `defaults`.

        Fails the task with all invalid options of all objects, before anything is sent.
        """
        shared = self._inherited_options(params, task)
        spec, of_task = self._listed_spec, self._argument_spec
        validator = ArgumentSpecValidator(spec, **self.object_rules)
        exclusive = self.object_rules.get("mutually_exclusive", [])
        validated: list[Options] = []
        problems: list[str] = []
        by_all_but_name: dict[str | None, Options] = {}
        for index, options in enumerate(params[self.plural]):
            if (options.get("state") or shared.get("state")) == "absent":
                options = _identity(options)
            all_but_name = _all_but_name(options)
            if all_but_name in by_all_but_name:
                # They share their values: a manifest is made of copies.
                validated.append({**by_all_but_name[all_but_name], "name": options["name"]})
                continue
            # The object's own value counts, then the shared value, then the default.
            own = merge_options(shared, expand_shorthand(options, self.spec, self.shorthand), self.spec, exclusive)
            name = label(own)
            where = f"{self.plural}[{index}]{name and f' ({name})'}"
            misplaced = [key for key in own if key not in spec and key in of_task]
            if misplaced:
                place = "defaults" if misplaced[0] in shared else self.plural
                problems.append(f"{where}: {misplaced[0]}: an option of the whole task; move it out of {place}")
                continue
            if problem := shape_problem(own, spec):
                problems.append(f"{where}: {problem}")
                continue
            try:
                checked = validator.validate(own)
            except OverflowError:
                problems.append(f"{where}: {not_finite(own)}: {NOT_FINITE}")
                continue
            task.secrets.update(map(str, checked._no_log_values))
            errors = [f"{where}: {_message_of(error, task.secrets)}" for error in checked.errors]
            problems += errors
            if all_but_name is not None and not errors:
                by_all_but_name[all_but_name] = checked.validated_parameters
            validated.append(checked.validated_parameters)
        if problems:
            raise TaskFailed(first_of(problems))
        return validated

    def _inherited_options(self, params: Params, task: Task) -> Options:
        """The options that all objects of the list inherit: the top-level options, and below them `defaults`."""
        provided = {
            name: params[name]
            for name, option in self.spec.items()
            if not task.provided.isdisjoint((name, *option.get("aliases", ())))
        }
        defaults = expand_shorthand(params["defaults"] or {}, self.spec, self.shorthand)
        return merge_options(
            defaults, _without_none(provided), self.spec, self.object_rules.get("mutually_exclusive", [])
        )

    def _job(self, options: Options) -> DeclareJob:
        name, state = label(options), options["state"]
        no_key = ObjectKey("", options.get("namespace") or "", options["name"])
        anywhere = state in {further.name for further in self.states}
        if self.namespaced(options) and not options.get("namespace") and not anywhere:
            return declare_job(no_key, state, {}, "namespace: required; set the namespace of the object", label=name)
        try:
            manifest = self.manifest(options)
        except FieldError as error:
            return declare_job(no_key, state, {}, str(error), label=name)
        key = ObjectKey(manifest["kind"], manifest["metadata"].get("namespace") or "", options["name"])
        return declare_job(key, state, manifest, options=options, label=name)

    def _result(self, params: Params, task: Task, jobs: list[DeclareJob]) -> Result:
        results = [result_of(job, self.describe) for job in jobs]
        result: Result = {"changed": any(job.changed for job in jobs), "results": results}
        if params["name"] is not None:
            result["result"] = results[0]
        if task.diff:
            result["diff"] = [diff(job) for job in jobs if job.changed and job.goal.action in plan.WRITES]
        self.show_warnings(jobs, task)
        if params.get("restart") == "never":
            pairs = zip(jobs, results)
            waiting = [job.label for job, result in pairs if result.get("restart_required") and not job.failed]
            task.warnings += restart_warning(waiting, task.check_mode, "set restart: if_required")
        if any(job.failed for job in jobs):
            done = joined_counts(counts([job for job in jobs if not job.failed]))
            return failed_result(params, self.nouns, result, done, more_keys=self.kept)
        return {**result, "msg": message(self.nouns, jobs, results, task.check_mode)}


def _all_but_name(options: Options) -> str | None:
    """The options that decide whether an object is valid: all but its name. None if Ansible would convert the name.

    Validation takes far longer than all else that is done for an unchanged object, and objects of a large task are
    mostly alike but for their names.
    """
    if not isinstance(options.get("name"), str):
        return None
    return json.dumps({name: value for name, value in options.items() if name != "name"})


def _identity(options: Options) -> Options:
    """The options that name the object to delete, of a result that a module has returned; other keys are no options."""
    return (
        {key: options[key] for key in ("name", "namespace", "state") if key in options} if "uid" in options else options
    )


def _without_none(value: Any) -> Any:
    """The options that are not None, at every depth."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_none(item) for item in value]
    return value


def _message_of(error: Exception, secrets: set[str]) -> str:
    # Secrets are hidden before the text is cut, because half a secret would not be found.
    text = " ".join(mask_secrets(str(error), secrets).split())
    if len(text) > _LONGEST:
        # The text contains the value.
        text = f"{text[:_LONGEST]}..."
    # The exception's text is only the option's name.
    return f"unknown option {text}" if isinstance(error, UnsupportedError) else text
