"""All errors in the options of a task at once, and misspelt names in the tasks of this collection's modules."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ...module_utils._cluster.modules.shared_options import AUTH
from ...module_utils._resolver.api.all_errors import collect_errors, without_fields
from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.finding import ERROR
from ...module_utils._resolver.api.name_rules import did_you_mean
from ...module_utils._resolver.declare.option_checks import own_name, shape_problems, unknown_option
from ...module_utils._yaml import unquoted
from .findings import LocatedFinding
from .sources import LocatedDocument, mapping_items

Options = dict[str, Any]

COLLECTION: Final = "virtshape.instancetypes."
_REQUIRED: Final = "required"
_MODULES: Final = f"{__name__.partition('.plugin_utils.')[0]}.modules"


class DeclaringModule(NamedTuple):
    """A module of this collection that declares objects.

    plural: the option with the list. spec: the options of an object. manifest: options → manifest; raises FieldError.

    exclusive: groups of options that exclude each other: an object that sets one loses the others of its task.
    shorthand: options for which a text is short, and the suboptions that it sets.
    """

    plural: str
    spec: Options
    manifest: Callable[[Options], Options]
    exclusive: Sequence[tuple[str, ...]] = ()
    shorthand: Mapping[str, str] = MappingProxyType({})


class Errors(NamedTuple):
    """Errors in the options of an object.

    fields: the positions of all errors, which an error itself may not name. options: validated, without these fields;
    None if nothing can be said about them.
    """

    errors: list[FieldError]
    fields: list[str]
    options: Options | None


def errors_in(options: Options, module: DeclaringModule) -> Errors:
    """All errors in the options of an object."""
    errors = [FieldError(*yaml_problem) for yaml_problem in unquoted.problems(options)]
    rest = without_fields(options, [error.path for error in errors])
    for problem in shape_problems(rest, module.spec):
        path, _colon, message = problem.partition(": ")
        errors.append(FieldError(path, message))
    fields = [error.path for error in errors]
    touched = {first(field) for field in fields}
    rest = {
        name: value
        for name, value in without_fields(rest, fields).items()
        # A key that is no identifier is quoted in a path; of a text that is a dictionary, nothing can be removed.
        if own_name(name, module.spec) in module.spec and not (name in touched and isinstance(value, str))
    }
    result = _validated(rest, module)
    # Ansible does not say which option a message is about.
    refused = {name: _validated({name: rest[name]}, module).error_messages for name in rest if result.error_messages}
    for name, messages in refused.items():
        # A missing option may be the one that is misspelt.
        errors += [FieldError("", text) for text in messages if not (name in touched and _REQUIRED in text)]
    fields += [name for name, messages in refused.items() if messages]
    if any(refused.values()):
        result = _validated({name: value for name, value in rest.items() if not refused[name]}, module)
    if result.error_messages:
        return Errors([*errors, *(FieldError("", message) for message in result.error_messages)], fields, None)
    whole = collect_errors(module.manifest, result.validated_parameters)
    found = [error for error in whole.errors if not any(f".{field}." in f".{error.path}." for field in fields)]
    paths = [error.path for error in found]
    return Errors([*errors, *found], [*fields, *paths], whole.rest if whole.is_valid else None)


def first(path: str) -> str:
    """The option that a path begins with."""
    return path.partition(".")[0].partition("[")[0]


def _validated(options: Options, module: DeclaringModule) -> Any:
    return ArgumentSpecValidator(module.spec, mutually_exclusive=module.exclusive).validate(options)


def misspelt(source: LocatedDocument) -> Iterator[LocatedFinding]:
    """The names of modules and of their options that the tasks of a document misspell."""
    for location, key, options, _task in mapping_items(source.location, source.content, _is_task):
        name = key.removeprefix(COLLECTION)
        if name not in _module_names():
            message = f"this collection has no module {name}{did_you_mean(name, _module_names())}"
            yield LocatedFinding(message, ERROR, rule="invalid", location=location)
            continue
        spec = import_module(f"{_MODULES}.{name}").MODULE.argument_spec
        for option in options:
            if own_name(option, spec) not in spec:
                message = f"unknown option of {name}{unknown_option(option, spec, AUTH)}"
                yield LocatedFinding(message, ERROR, str(option), rule="invalid", location=location)


@cache
def _module_names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(import_module(_MODULES).__path__))


def _is_task(_location: object, key: Any, value: Any) -> bool:
    return isinstance(key, str) and key.startswith(COLLECTION) and isinstance(value, dict)
