"""Shared by all modules that write: options, one object or a list, results, the task's message."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import UnsupportedError

from ..._resolver.api.errors import FieldError
from ..._resolver.api.limits import NOT_FINITE, misshapen, not_finite
from ..._resolver.api.masking import without
from ..._resolver.api.names import shown
from ..._resolver.api.redaction import secret_texts
from ..._resolver.declare import plan
from ..._resolver.declare.entries import merged, spelled_out
from ..._resolver.declare.take_over import TakeOver, whose
from ..act.declare import declare
from ..act.settings import Settings
from ..act.subject import Entry, Result, Subject
from ..client.errors import ConnectionFailed
from ..client.session import Session
from ..read.snapshot import Key
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, DRY_RUN, REQUESTS, WAIT
from .ending import ON_FAILURE, amount, fail, several, warn

Options = dict[str, Any]

# The number of invalid entries that a message names.
_TOLD = 5
# The longest text of an option's error.
_LONGEST = 500
_LONG_NAME = 100


class ObjectModule(NamedTuple):
    """A module that declares objects of one kind: one at the top level, or a list.

    plural: the option with the list, and the objects' name in messages.
    spec: the argument spec of an object, with `name`, `namespace` and `state`.
    manifest: options → manifest; raises schema.FieldError.
    namespaced: whether the object needs a namespace.
    subject: makes the Subject (see `declare`) from the task's options.
    settings: options of the task, not of an object.
    rules: rules for the options of an object (mutually_exclusive and the like), as for AnsibleModule. warnings:
    warnings about valid options; equal warnings are reported once for all their objects.
    declare: declares the objects; replaceable for objects that consist of several.
    """

    plural: str
    spec: dict[str, Any]
    manifest: Callable[[Options], dict[str, Any]]
    namespaced: Callable[[Options], bool]
    subject: Callable[[Options], Subject]
    settings: dict[str, Any]
    rules: dict[str, Any]
    warnings: Callable[[Options], list[str]] = lambda _options: []
    declare: Callable[[Session, Subject, list[Entry], Settings], list[Result]] = declare

    @last_net
    def run(self) -> None:
        exclusive = [("name", self.plural), ("name", "defaults"), *self.rules.get("mutually_exclusive", [])]
        module = make_module(
            prepare=lambda options: spelled_out(options, self.spec),
            unchecked={self.plural: {"type": "list", "elements": "dict", "options": self._of_entries()}},
            argument_spec={
                **AUTH,
                **REQUESTS,
                **WAIT,
                **DRY_RUN,
                **ON_FAILURE,
                **self.settings,
                **self.spec,
                self.plural: {"type": "list", "elements": "dict"},
                "defaults": {"type": "dict"},
            },
            required_one_of=[("name", self.plural)],
            **{**self.rules, "mutually_exclusive": exclusive},
        )
        # Ansible cannot know the secrets in free-form options such as `template`.
        module.hide(secret_texts(module.params))
        entries = self._entries(module)
        settings = Settings(
            check_mode=module.check_mode,
            **{name: module.params[name] for name in (*WAIT, *DRY_RUN) if name != "take_over"},
            take_over=take_over_of(module),
        )
        subject = self.subject(module.params)
        try:
            results = self.declare(Session(module.params, settings.concurrency), subject, entries, settings)
        except ConnectionFailed as error:
            module.fail_json(msg=str(error))
        self._exit(module, subject, results)

    def _of_entries(self) -> dict[str, Any]:
        """The argument spec of an entry, as documented. An entry inherits the task's options."""
        return {
            **self.spec,
            "name": {**self.spec["name"], "required": True},
            "state": {key: value for key, value in self.spec["state"].items() if key != "default"},
        }

    def _entries(self, module: Any) -> list[Entry]:
        if module.params["name"] is not None:
            options = {name: module.params.get(name) for name in self.spec}
            entry = self._entry(options)
            self._warn_of_options(module, [(entry, options)])
            return [entry]
        seen: dict[Key, int] = {}
        entries: list[Entry] = []
        given = self._validated(module)
        for index, options in enumerate(given):
            entry = self._entry(options)
            if entry.problem is None and entry.key in seen:
                problem = f"name: entries {seen[entry.key]} and {index} of {self.plural} have the same name"
                entry = Entry(entry.label, entry.key, entry.state, entry.manifest, problem)
            seen.setdefault(entry.key, index)
            # Most objects of a large task differ in their names only; their manifests are half of the task's memory.
            if entries and "spec" in entry.manifest and entry.manifest["spec"] == entries[-1].manifest.get("spec"):
                entry.manifest["spec"] = entries[-1].manifest["spec"]
            entries.append(entry)
        self._warn_of_options(module, list(zip(entries, given)))
        return entries

    def _warn_of_options(self, module: Any, entries: list[tuple[Entry, Options]]) -> None:
        told = [
            (entry.label, warning)
            for entry, options in entries
            if entry.problem is None and entry.state != "absent"
            for warning in self.warnings(options)
        ]
        warn(module, told)

    def _validated(self, module: Any) -> list[Options]:
        """The entries of the list, validated like options, on top of the top-level options and `defaults`.

        Fails the task with all invalid options of all entries, before anything is sent.
        """
        shared = self._shared(module)
        spec = {**self.spec, "name": {**self.spec["name"], "required": True}}
        validator = ArgumentSpecValidator(spec, **self.rules)
        exclusive = self.rules.get("mutually_exclusive", [])
        entries, told = [], []
        known: dict[str | None, Options] = {}
        for index, given in enumerate(module.params[self.plural]):
            alike = _but_name(given)
            if alike in known:
                # They share their values: a manifest is made of copies.
                entries.append({**known[alike], "name": given["name"]})
                continue
            # The entry's own value counts, then the shared value, then the default.
            own = merged(shared, spelled_out(given, self.spec), self.spec, exclusive)
            label = _label(own)
            where = f"{self.plural}[{index}]{label and f' ({label})'}"
            if problem := misshapen(own, spec):
                told.append(f"{where}: {problem}")
                continue
            try:
                result = validator.validate(own)
            except OverflowError:
                told.append(f"{where}: {not_finite(own)}: {NOT_FINITE}")
                continue
            module.hide(result._no_log_values)
            wrong = [f"{where}: {_words(error, module.secrets)}" for error in result.errors]
            if alike is not None and not wrong:
                known[alike] = result.validated_parameters
            told += wrong
            entries.append(result.validated_parameters)
        if told:
            more = f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
            module.fail_json(msg="; ".join(told[:_TOLD]) + more)
        return entries

    def _shared(self, module: Any) -> Options:
        """The options that entries inherit: those of the top level, on top of `defaults`."""
        asked = {
            name: module.params[name]
            for name, option in self.spec.items()
            if any(module.given.get(key) is not None for key in (name, *option.get("aliases", ())))
        }
        defaults = spelled_out(module.params["defaults"] or {}, self.spec)
        return merged(defaults, _given(asked), self.spec, self.rules.get("mutually_exclusive", []))

    def _entry(self, options: Options) -> Entry:
        label = _label(options)
        state = options["state"]
        nothing = Key("", options.get("namespace"), options["name"])
        if self.namespaced(options) and not options.get("namespace"):
            return Entry(label, nothing, state, {}, "namespace: required; set the namespace of the object")
        try:
            manifest = self.manifest(options)
        except FieldError as error:
            return Entry(label, nothing, state, {}, str(error))
        key = Key(manifest["kind"], manifest["metadata"].get("namespace"), options["name"])
        return Entry(label, key, state, manifest, options=options)

    def _exit(self, module: Any, subject: Subject, results: list[Result]) -> None:
        told = [tell(subject, result) for result in results]
        outcome: dict[str, Any] = {"changed": any(result.changed for result in results), "results": told}
        if module.params["name"] is not None:
            outcome["result"] = told[0]
        if module.shows_diff:
            outcome["diff"] = [diff(result) for result in results if result.changed and result.action in plan.WRITES]
        warn(module, [(result.entry.label, warning) for result in results for warning in result.warnings])
        failed = [result for result in results if result.failed]
        if failed:
            failures = [(result.entry.label, result.failed or "") for result in failed]
            done = several(_counts([result for result in results if not result.failed]))
            fail(module, subject.plural, failures, len(results), outcome, done)
        module.exit_json(msg=_message(subject, results, told, module.check_mode), **outcome)


def take_over_of(module: Any) -> TakeOver:
    """The option `take_over`; fails the task if it is invalid."""
    try:
        return whose(module.params["take_over"])
    except ValueError as error:
        module.fail_json(msg=str(error))
        raise


def _but_name(given: Options) -> str | None:
    """What decides whether an entry is valid: all but its name. None for a name that Ansible would convert.

    Validation takes far longer than all else that is done for an unchanged object, and entries of a large task are
    mostly alike but for their names.
    """
    if not isinstance(given.get("name"), str):
        return None
    return json.dumps({name: value for name, value in given.items() if name != "name"})


def _given(value: Any) -> Any:
    """The options without those that are None, at every depth."""
    if isinstance(value, dict):
        return {key: _given(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, list):
        return [_given(entry) for entry in value]
    return value


def _words(error: Exception, secrets: frozenset[str]) -> str:
    # Before the text is cut, because half a secret would not be found.
    text = " ".join(without(str(error), secrets).split())
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


def is_taken_over(result: Result) -> bool:
    """Whether only the ownership of the object's fields changes."""
    return bool(result.action == plan.APPLY and result.before == result.after == {})


def _counts(results: list[Result]) -> dict[str, int]:
    words = [_TAKEN_OVER if is_taken_over(result) else _WORDS[result.action] for result in results]
    return {one: words.count(one) for one in (*_WORDS.values(), _TAKEN_OVER)}


def _message(subject: Subject, results: list[Result], told: list[dict[str, Any]], check_mode: bool) -> str:
    """`3 virtual machines: 1 created, 2 unchanged; 1 needs a restart`."""
    would = "would be " if check_mode and any(result.changed for result in results) else ""
    done = several(_counts(results))
    return amount(len(results), subject.plural) + (f": {would}{done}" if done else "") + _restarts(told, check_mode)


def _restarts(told: list[dict[str, Any]], check_mode: bool) -> str:
    """The number of VMs that were restarted, and that need a restart."""
    restarted = sum(bool(one.get("restarted")) for one in told)
    waiting = sum(bool(one.get("restart_required") and not one.get("restarted")) for one in told)
    would = "would be " if check_mode else ""
    need = "would need" if check_mode else "needs" if waiting == 1 else "need"
    words = (restarted and f"; {restarted} {would}restarted", waiting and f"; {waiting} {need} a restart")
    return "".join(one for one in words if one)


def _label(options: Options) -> str:
    given = [str(options[part]) for part in ("namespace", "name") if options.get(part)]
    return "/".join(part if len(part) < _LONG_NAME and part.isprintable() else shown(part) for part in given)


def tell(subject: Subject, result: Result) -> dict[str, Any]:
    key = result.entry.key
    told: dict[str, Any] = {
        "name": key.name,
        # A refused object was not changed.
        "action": plan.NONE if result.failed and not result.written else result.action,
        "changed": result.changed,
        "failed": bool(result.failed),
    }
    told.update({field: value for field, value in (("kind", key.kind), ("namespace", key.namespace)) if value})
    if result.failed:
        told["msg"] = result.failed
    if result.left:
        told["left"] = result.left
    if result.kept:
        told["kept"] = result.kept
    if is_taken_over(result):
        told["taken_over"] = True
    if result.taken:
        told["taken_over_from"] = list(result.taken)
        told["owned_by_others"] = result.owners
    if result.warnings:
        told["warnings"] = result.warnings
    if result.live is not None:
        told.update(subject.describe(result.live))
        told.update(subject.report(result))
    return told


def diff(result: Result) -> dict[str, Any]:
    header = f"{result.entry.key.kind} {result.entry.label}"
    return {
        "before": result.before,
        "after": result.after,
        "before_header": f"{header} (live)",
        "after_header": f"{header} (declared)",
    }
