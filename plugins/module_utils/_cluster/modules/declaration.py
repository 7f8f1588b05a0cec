"""Shared by the modules that declare objects: options of one object or a list, results, the task's message."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import UnsupportedError

from ..._resolver.api.errors import FieldError, first_of
from ..._resolver.api.finding import Finding
from ..._resolver.api.manifest import Manifest, Options
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.redaction import mask_secrets
from ..._resolver.declare import plan
from ..._resolver.declare.argument_spec import expand_shorthand, merge_options
from ..._resolver.declare.option_checks import NOT_FINITE, not_finite, shape_problem
from ..client.errors import TaskFailed
from ..client.session import Session
from ..task import Task
from ..writes.declare import apply_findings, declare
from ..writes.kind_handler import DeclaredObject, DeclareOutcome, KindHandler
from . import rendering
from .module import ON_FAILURE, Module, Params, Result
from .rendering import RENDERED, RENDERING, Render
from .results import (
    counted_noun,
    diff_of,
    failed_result,
    group_warnings,
    joined_counts,
    label,
    need_verb,
    restart_warning,
)
from .shared_options import AUTH, CONCURRENCY, DRY_RUN, FAIL_FAST, OWNERSHIP, PREFLIGHT, REQUESTS, WAIT

Describe = Callable[[DeclareOutcome], Result]
# The longest text of an option's error.
_LONGEST = 500


@dataclass(frozen=True)
class Declaration:
    """The objects of one kind that a module declares: one at the top level, or a list.

    plural: the option with the list, and the objects' name in messages.
    spec: the argument spec of an object, with `name`, `namespace` and `state`.
    manifest: options → manifest; raises FieldError.
    handler: makes the KindHandler (see `declare`) of the task.
    describe: facts for the result of an object that exists.
    namespaced: whether the object needs a namespace.
    settings: options of the task, not of an object.
    object_rules: rules for the options of an object (mutually_exclusive and the like), as for AnsibleModule.
    shorthand: options of an object for which a text is short, and the suboptions that it sets.
    warnings: warnings about valid options; equal warnings are reported once for all their objects.
    declare: declares the objects; replaceable for objects that consist of several.
    selectors, select: further options that say which objects to delete, and what turns them into the list; it returns
    the task's options and may add warnings.
    render: with state rendered, the manifests that a declaration of a new object would send.
    collisions: with state rendered, the findings about each manifest beside the others.
    """

    plural: str
    spec: dict[str, Any]
    manifest: Callable[[Options], dict[str, Any]]
    handler: Callable[[Options, Session, Task], KindHandler] = lambda _options, _session, _task: KindHandler()
    namespaced: Callable[[Options], bool] = lambda _options: True
    settings: dict[str, Any] = field(default_factory=dict)
    object_rules: dict[str, Any] = field(default_factory=dict)
    shorthand: dict[str, str] = field(default_factory=dict)
    warnings: Callable[[Options], list[str]] = lambda _options: []
    declare: Callable[[Session, KindHandler, list[DeclaredObject], Task], list[DeclareOutcome]] = declare
    selectors: dict[str, Any] = field(default_factory=dict)
    describe: Describe = lambda _outcome: {}
    select: Callable[[Params, Task], Params] = lambda params, _task: params
    render: Render = lambda _options, manifest, _release: [manifest]
    collisions: Callable[[Sequence[Manifest]], Iterable[list[Finding]]] = lambda _manifests: ()

    def module(self) -> Module:
        """The module that declares the objects."""
        one_of = ("name", self.plural, *self.selectors)
        exclusive = [("name", self.plural), ("name", "defaults"), *self.object_rules.get("mutually_exclusive", [])]
        exclusive += [(option, selector) for option in ("name", self.plural) for selector in self.selectors]
        rules = {**self.object_rules, "required_one_of": [one_of], "mutually_exclusive": exclusive}
        # An object of the list inherits the task's state.
        state = {key: value for key, value in self.spec["state"].items() if key != "default"}
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
            **RENDERING,
            **self.settings,
            **self.selectors,
            **self.spec,
            self.plural: {"type": "list", "elements": "dict"},
            "defaults": {"type": "dict"},
        }

    @property
    def _nouns(self) -> str:
        return self.plural.replace("_", " ")

    @property
    def _listed_spec(self) -> dict[str, Any]:
        return {**self.spec, "name": {**self.spec["name"], "required": True}}

    def _run(self, params: Params, task: Task) -> Result:
        params = self.select(params, task)
        declared_objects = self._declared_objects(params, task)
        if rendering.renders_all(self.plural, params, declared_objects):
            return self._rendered(params, task, declared_objects)
        session = task.connect(params)
        handler = self.handler(params, session, task)
        result = self._result(params, task, self.declare(session, handler, declared_objects, task))
        return {"cluster": session.host, **result}

    def _rendered(self, params: Params, task: Task, declared_objects: list[DeclaredObject]) -> Result:
        outcomes = [DeclareOutcome(declared) for declared in declared_objects]
        valid = [outcome for outcome in outcomes if not outcome.failed]
        for outcome, findings in zip(valid, self.collisions([outcome.declared.manifest for outcome in valid])):
            apply_findings(outcome, findings, task)
        result = rendering.render(self._nouns, outcomes, self.render, params, task)
        task.warnings += group_warnings(self._option_warnings(outcomes))
        task.warnings += group_warnings(_warnings(outcomes))
        result["results"] = [result_of(outcome) for outcome in outcomes]
        if params["name"] is not None:
            result["result"] = result["results"][0]
        failed = any(outcome.failed for outcome in outcomes)
        return failed_result(params, self._nouns, result) if failed else result

    def _declared_objects(self, params: Params, task: Task) -> list[DeclaredObject]:
        if params["name"] is not None:
            return [self._declared_object({name: params.get(name) for name in self.spec})]
        first_index: dict[ObjectKey, int] = {}
        declared_objects: list[DeclaredObject] = []
        for index, options in enumerate(self._validated(params, task)):
            declared = self._declared_object(options)
            if declared.problem is None and declared.key in first_index:
                problem = f"name: entries {first_index[declared.key]} and {index} of {self.plural} have the same name"
                declared = DeclaredObject(declared.label, declared.key, declared.state, declared.manifest, problem)
            first_index.setdefault(declared.key, index)
            # Most objects of a large task differ in their names only; their manifests are half of the task's memory.
            if (
                declared_objects
                and "spec" in declared.manifest
                and declared.manifest["spec"] == declared_objects[-1].manifest.get("spec")
            ):
                declared.manifest["spec"] = declared_objects[-1].manifest["spec"]
            declared_objects.append(declared)
        return declared_objects

    def _option_warnings(self, outcomes: list[DeclareOutcome]) -> Iterator[tuple[str, str]]:
        for declared in (outcome.declared for outcome in outcomes):
            if declared.problem is None and declared.state != "absent":
                yield from ((declared.label, warning) for warning in self.warnings(declared.options))

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

    def _declared_object(self, options: Options) -> DeclaredObject:
        name, state = label(options), options["state"]
        no_key = ObjectKey("", options.get("namespace") or "", options["name"])
        # A rendered object may get the namespace of the tool which applies it.
        if self.namespaced(options) and not options.get("namespace") and state != RENDERED:
            return DeclaredObject(name, no_key, state, {}, "namespace: required; set the namespace of the object")
        try:
            manifest = self.manifest(options)
        except FieldError as error:
            return DeclaredObject(name, no_key, state, {}, str(error))
        key = ObjectKey(manifest["kind"], manifest["metadata"].get("namespace") or "", options["name"])
        return DeclaredObject(name, key, state, manifest, options=options)

    def _result(self, params: Params, task: Task, outcomes: list[DeclareOutcome]) -> Result:
        results = [result_of(outcome, self.describe) for outcome in outcomes]
        result: Result = {"changed": any(outcome.changed for outcome in outcomes), "results": results}
        if params["name"] is not None:
            result["result"] = results[0]
        if task.diff:
            result["diff"] = [
                diff(outcome) for outcome in outcomes if outcome.changed and outcome.action in plan.WRITES
            ]
        task.warnings += group_warnings(self._option_warnings(outcomes))
        task.warnings += group_warnings(_warnings(outcomes))
        if params.get("restart") == "never":
            pairs = zip(outcomes, results)
            waiting = [
                outcome.declared.label
                for outcome, result in pairs
                if result.get("restart_required") and not outcome.failed
            ]
            task.warnings += restart_warning(waiting, task.check_mode, "set restart: if_required")
        if any(outcome.failed for outcome in outcomes):
            done = joined_counts(_counts([outcome for outcome in outcomes if not outcome.failed]))
            return failed_result(params, self._nouns, result, done)
        return {**result, "msg": _message(self._nouns, outcomes, results, task.check_mode)}


def _warnings(outcomes: Iterable[DeclareOutcome]) -> Iterator[tuple[str, str]]:
    """(label, text) of each warning about an object."""
    return ((outcome.declared.label, text) for outcome in outcomes for text in outcome.warnings)


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
    """The options without those that are None, at every depth."""
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


_WORDS = {
    plan.CREATE: "created",
    plan.APPLY: "changed",
    plan.DELETE: "deleted",
    plan.NONE: "unchanged",
    plan.KEEP: "left unchanged",
}
_TAKEN_OVER = "taken over"
# Other entries are invalid, so nobody has looked at the object.
_NOT_SENT = "not sent"


def is_taken_over(outcome: DeclareOutcome) -> bool:
    """Whether only the ownership of the object's fields changes."""
    planned = outcome.planned
    return bool(planned.action == plan.APPLY and planned.before == planned.after == {})


def _counts(outcomes: list[DeclareOutcome]) -> dict[str, int]:
    words = [_word(outcome) for outcome in outcomes]
    return {word: words.count(word) for word in (*_WORDS.values(), _TAKEN_OVER, _NOT_SENT)}


def _word(outcome: DeclareOutcome) -> str:
    if outcome.skip_reason and outcome.action == plan.NONE:
        return _NOT_SENT
    return _TAKEN_OVER if is_taken_over(outcome) else _WORDS[_reported_action(outcome)]


def _reported_action(outcome: DeclareOutcome) -> str:
    """The action of an outcome; a related change, such as a disk that grows, is a change of the object."""
    return plan.APPLY if outcome.related_changes and outcome.action == plan.NONE else outcome.action


def _message(nouns: str, outcomes: list[DeclareOutcome], results: list[Result], check_mode: bool) -> str:
    """`3 virtual machines: 1 created, 2 unchanged; 1 needs a restart`."""
    would = "would be " if check_mode and any(outcome.changed for outcome in outcomes) else ""
    done = joined_counts(_counts(outcomes))
    return counted_noun(len(outcomes), nouns) + (f": {would}{done}" if done else "") + _restarts(results, check_mode)


def _restarts(results: list[Result], check_mode: bool) -> str:
    """The number of VMs that were restarted, and that need a restart."""
    restarted = sum(bool(result.get("restarted")) for result in results)
    waiting = sum(bool(result.get("restart_required") and not result.get("restarted")) for result in results)
    would = "would be " if check_mode else ""
    needs = need_verb(waiting, check_mode)
    parts = (restarted and f"; {restarted} {would}restarted", waiting and f"; {waiting} {needs} a restart")
    return "".join(part for part in parts if part)


def result_of(outcome: DeclareOutcome, describe: Describe = lambda _outcome: {}) -> Result:
    """An object as a module returns it. describe: facts of an object that exists."""
    key = outcome.declared.key
    result: Result = {
        "name": key.name,
        # A refused object was not changed.
        "action": plan.NONE if outcome.failed and not outcome.written else outcome.action,
        "changed": outcome.changed,
        "failed": bool(outcome.failed),
    }
    result.update({field: value for field, value in (("kind", key.kind), ("namespace", key.namespace)) if value})
    known = outcome.live or outcome.live_before
    if known is not None:
        result["uid"] = known["metadata"].get("uid", "")
    if outcome.failed:
        result["msg"] = outcome.failed
    if is_taken_over(outcome):
        result["taken_over"] = True
    if outcome.planned.taken_from:
        result["taken_over_from"] = list(outcome.planned.taken_from)
        result["owned_by_others"] = outcome.owners
    facts = {
        **outcome.facts,
        "skip_reason": outcome.skip_reason,
        "retained": outcome.retained,
        "warnings": outcome.warnings,
    }
    result.update({name: value for name, value in facts.items() if value})
    if outcome.live is not None:
        result.update(describe(outcome))
    return result


def diff(outcome: DeclareOutcome) -> Result:
    title = f"{outcome.declared.key.kind} {outcome.declared.label}"
    return diff_of(title, *outcome.shown_change, ("live", "declared"))


def generation(outcome: DeclareOutcome) -> Result:
    """The result's details of an instancetype or a preference that exists."""
    return {"generation": (outcome.live or {})["metadata"].get("generation")}
