"""Filters whose code is imported when they are called.

To find one filter Ansible loads the files of all filters in each task, and compiles what they import.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from ansible.errors import AnsibleError, AnsibleFilterError
from jinja2.exceptions import TemplateError

_CODE: Final = "ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filter_functions"
# How many values are searched for secrets when a filter fails: about 10,000 VMs.
_MOST_VALUES: Final = 1_000_000
_UNKNOWN: Final = re.compile(r"unexpected keyword argument '(\w+)'")


def filters(module: str, *names: str) -> dict[str, Callable[..., Any]]:
    """Filters by name. module: the file in `_filter_functions` that has their functions."""
    return {name: _deferred(name, module) for name in names}


def _deferred(name: str, module: str) -> Callable[..., Any]:
    """The filter: a function of its name, without the underscore of an internal one.

    Unforeseen exceptions are reported as bugs in the collection, without a Python traceback.
    """

    def call(*arguments: Any, **options: Any) -> Any:
        function = getattr(import_module(f"{_CODE}.{module}"), name.lstrip("_"))
        try:
            return function(*arguments, **options)
        except (AnsibleError, TemplateError) as error:
            # Errors of other filters, in templates inside the value, are of other classes.
            if error.__class__ is not AnsibleFilterError:
                raise
            text = _without_secrets(str(error), [*arguments, options])
            raise AnsibleFilterError(f"{name}: {text}") from None
        except RecursionError:
            raise AnsibleFilterError(f"{name}: the value is nested too deeply or contains itself") from None
        except TypeError as error:
            raise AnsibleFilterError(f"{name}: {_call_problem(error, options) or _bug(error)}") from None
        except Exception as error:
            raise AnsibleFilterError(f"{name}: {_bug(error)}") from None

    return call


def _call_problem(error: TypeError, options: dict[str, Any]) -> str:
    """The error in the options of a filter's call, or "" for an error inside the filter."""
    unknown = _UNKNOWN.search(str(error))
    if unknown and unknown[1] in options:
        return f"{unknown[1]}: unknown option"
    inside = len(traceback.extract_tb(error.__traceback__)) > 1
    return "" if inside else "invalid arguments; see ansible-doc -t filter"


def _without_secrets(text: str, values: list[Any]) -> str:
    """A message without the secrets of the filter's values, which it may quote."""
    from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare import option_checks
    from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.secrets import (
        redaction,
        secret_texts,
    )

    # Templates repeat what YAML aliases share, so that a search would not end.
    if problem := option_checks.oversized(values, _MOST_VALUES):
        return f"the value {problem}"
    return str(redaction.mask_secrets(text, secret_texts.secret_texts(values)))


def _bug(error: Exception) -> str:
    from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.bug_report import bug_report

    return str(bug_report(error))
