"""Cases of virtctl's vectors: read, run through the collection, compared.

A command line becomes options; these are checked as Ansible checks a module's, and the module writes the manifest to a
file, with `state: rendered`. Compared are the manifest and the warnings with virtctl's, or the error, in virtctl's
words (see `virtctl_words`), warnings before it left aside. Three things are written differently and are the same: the
parts that virtctl leaves unfilled (`status`, `resources`, ...), the case of a matcher's kind, and the names that
virtctl makes at random, which are always the same here: they have to be of virtctl's form.
"""

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import collection_path  # noqa: F401  # pylint: disable=unused-import
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from catalog_flags import MATCHER_FIELDS, argument_spec, build, missing, options_of
from command_line import Flags, Syntax, parse
from vector_run import Failure, differences, judged
from virtctl_words import said, said_of_catalog, warned
from vm_flags import GROUPS, Stage, deprecations, exclusive, stages

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.virtual_machine import (
    read_password_file,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.task import Task
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import formats, schema
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import FieldError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare import validation
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.vm import (
    manifest as vm_manifest,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.vm.manifest import (
    check_exclusive,
    manifest,
    warnings,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._vm_options import VM_OPTIONS
from ansible_collections.virtshape.instancetypes.plugins.modules import instancetype, preference, virtual_machine

Case = dict[str, Any]
_MODULES = {"vm": virtual_machine.MODULE, "instancetype": instancetype.MODULE, "preference": preference.MODULE}
# The order in which virtctl complains about one flag.
_RANK = ("UnsupportedError", "ArgumentValueError", "MutuallyExclusiveError", "RequiredOneOfError", "RequiredError")


class Outcome(NamedTuple):
    """The result of a command line."""

    manifest: dict[str, Any] | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()


def groups(directory: Path) -> list[str]:
    """The groups below a directory, such as `vm/names`, in order."""
    return sorted(str(path.relative_to(directory).with_suffix("")) for path in directory.glob("*/*.json"))


def load(directory: Path, group: str) -> list[Case]:
    """The cases of a group, in the order of its file."""
    cases: list[Case] = json.loads((directory / f"{group}.json").read_text(encoding="utf-8"))
    return cases


def failures(group: str, cases: list[Case]) -> Iterator[Failure]:
    """The failures among the cases of a group, in their order."""
    kind = group.partition("/")[0]
    return judged(cases, lambda case: _differences(case, _run(kind, case)), lambda case: (case["name"], case["args"]))


def _run(kind: str, case: Case) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for name, content in case.get("files", {}).items():
            paths[f"${{file:{name}}}"] = str(Path(folder, name))
            Path(folder, name).write_text(content, encoding="utf-8", newline="")
        args = list(case["args"])
        for placeholder, path in paths.items():
            args = [word.replace(placeholder, path) for word in args]
        try:
            flags = parse(kind, args)
        except Syntax as error:
            return Outcome(error=str(error))
        with _unchecked():
            return (_virtual_machine if kind == "vm" else _catalog)(kind, flags, case["name"])


@contextmanager
def _unchecked() -> Iterator[None]:
    """virtctl writes a manifest that a cluster refuses, and whatever name it is given."""
    checked = mock.patch.object(formats, "checked", lambda kind, value, accept_unknown: schema.as_declared(kind, value))
    with checked, mock.patch.object(validation, "check_name"), mock.patch.object(vm_manifest, "check_name"):
        yield


def _virtual_machine(_kind: str, flags: Flags, seed: str) -> Outcome:
    validator = ArgumentSpecValidator(VM_OPTIONS.spec)
    error = _exclusive(validator, flags)
    if error is not None:
        return Outcome(error=error)
    for stage in stages(flags, seed):
        error = _error_of(validator, stage)
        if error is not None:
            return Outcome(error=said(error, stage))
        if stage.syntax is not None:
            return Outcome(error=f'failed to parse "--{stage.flag}" flag: {stage.syntax}')
    options = read_password_file(validator.validate(stage.options).validated_parameters)
    result = (*deprecations(flags), *(warned(warning) for warning in warnings(options)))
    return Outcome(_rendered("vm", stage.options), warnings=result)


def _rendered(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    """The manifest in the file that the module writes for options."""
    module = _MODULES[kind]
    with tempfile.TemporaryDirectory() as folder:
        rendering = {"state": "rendered", "dest": f"{folder}/it.yaml", "keep_secrets": True}
        params = ArgumentSpecValidator(module.argument_spec).validate({**options, **rendering}).validated_parameters
        returned = module.run(params, Task())
        if returned.get("failed"):
            raise AssertionError(returned["msg"])
        result: dict[str, Any] = yaml.safe_load(Path(folder, "it.yaml").read_text(encoding="utf-8"))
    return result


def _error_of(validator: ArgumentSpecValidator, stage: Stage) -> str | None:
    result = validator.validate(deepcopy(stage.options))
    matches = _sorted(result.errors)
    if matches:
        return matches[0]
    try:
        manifest(read_password_file(result.validated_parameters))
    except FieldError as error:
        return _with_cause(error)
    return None


def _with_cause(error: FieldError) -> str:
    """A user is not told why something is not a quantity; virtctl says it."""
    return f"{error} [{error.__cause__}]" if error.__cause__ else str(error)


def _exclusive(validator: ArgumentSpecValidator, flags: Flags) -> str | None:
    """virtctl's words if we say of flags that they exclude each other, and if they are the same ones."""
    options = {"name": "any", **exclusive(flags)}
    result = [str(error) for error in validator.validate(options).errors if "mutually exclusive" in str(error)]
    try:
        check_exclusive(options)
    except FieldError as error:
        result.append(str(error))
    groups = [group for group in GROUPS if sum(flags.any(flag) for flag in group.split()) > 1]
    if bool(result) != bool(groups):
        return f"we say {result}, and virtctl's groups are {groups}"
    if not groups:
        return None
    first = sorted(groups)[0]
    given = " ".join(sorted(flag for flag in first.split() if flags.any(flag)))
    return f"if any flags in the group [{first}] are set none of the others can be; [{given}] were all set"


def _catalog(kind: str, flags: Flags, seed: str) -> Outcome:
    error = missing(kind, flags)
    if error is not None:
        return Outcome(error=error)
    try:
        options = options_of(kind, flags, seed)
    except Syntax as wrong:
        return Outcome(error=str(wrong))
    result = ArgumentSpecValidator(argument_spec(MATCHER_FIELDS[kind])).validate(options)
    matches = _sorted(result.errors)
    if matches:
        return Outcome(error=said_of_catalog(matches[0]))
    try:
        build[kind](result.validated_parameters)
    except FieldError as problem:
        return Outcome(error=said_of_catalog(_with_cause(problem)))
    return Outcome(_rendered(kind, options))


def _sorted(errors: Any) -> list[str]:
    """Ansible's errors about options, in virtctl's order."""

    def rank(error: Exception) -> tuple[int, bool]:
        name = type(error).__name__
        return _RANK.index(name) if name in _RANK else len(_RANK), "value of type" not in str(error)

    return [
        f"unknown option {error}" if type(error).__name__ == "UnsupportedError" else str(error)
        for error in sorted(errors, key=rank)
    ]


def _differences(case: Case, got: Outcome) -> Iterator[str]:
    expect = case["expect"]
    if "error" in expect:
        if got.error is None:
            yield f"expected the error {expect['error']!r}, got a manifest"
        else:
            yield from differences(expect["error"], got.error, "error", _is_random)
        return
    if got.error is not None:
        yield f"expected a manifest, got the error {got.error!r}"
        return
    mine = _filled(got.manifest)
    yield from differences(_filled(expect["manifest"]), mine, is_same=_is_random)
    yield from differences(expect.get("warnings", []), list(got.warnings), "warnings")
    for paths in case.get("same", expect.get("same", [])):
        texts = {str(_at(mine, path)) for path in paths}
        if len(texts) != 1:
            yield f"{paths} should have the same name, and have {sorted(texts)}"


def _filled(given: Any) -> Any:
    """The manifest without its unfilled parts, with matchers' kinds in small letters."""
    result = deepcopy(given)
    result.pop("status", None)
    spec = result["spec"]
    for matcher_field in MATCHER_FIELDS:
        if matcher_field in spec and "kind" in spec[matcher_field]:
            spec[matcher_field]["kind"] = spec[matcher_field]["kind"].lower()
    for template in spec.get("dataVolumeTemplates", []):
        _drop_empty(template, "metadata")
        _drop_empty(template["spec"]["storage"], "resources")
    if "template" in spec:
        _drop_empty(spec["template"], "metadata")
        _drop_empty(spec["template"]["spec"]["domain"], "resources")
    return result


def _drop_empty(parent: dict[str, Any], field: str) -> None:
    result = parent.get(field)
    if isinstance(result, dict):
        result.pop("creationTimestamp", None)
    if not result:
        parent.pop(field, None)


def _at(value: Any, path: list[Any]) -> Any:
    for key in path:
        value = value[key]
    return value


def _is_random(expected: Any, got: Any) -> bool | None:
    """Whether a name is of the form of those that virtctl makes at random."""
    if not isinstance(expected, dict) or set(expected) != {"$random"}:
        return None
    return isinstance(got, str) and bool(re.search(expected["$random"], got))
