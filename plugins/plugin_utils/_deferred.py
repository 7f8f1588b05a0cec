"""Filters whose code is imported when they are called.

To find one filter Ansible loads the files of all filters of a collection, in each task, and compiles what they import.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ansible.errors import AnsibleError, AnsibleFilterError
from jinja2.exceptions import TemplateError

_UNKNOWN = re.compile(r"unexpected keyword argument '(\w+)'")


def deferred(name: str, module: str = "") -> dict[str, Callable[..., Any]]:
    """The filter of this name, for `FilterModule.filters`: a function of a module in `filters`, by default its own.

    Unforeseen exceptions are reported as bugs in the collection, without a Python traceback.
    """
    implementation = name.lstrip("_")

    def call(*arguments: Any, **options: Any) -> Any:
        function = getattr(import_module(f"{__package__}.filters.{module or implementation}"), implementation)
        try:
            return function(*arguments, **options)
        except (AnsibleError, TemplateError):
            raise
        except RecursionError:
            raise AnsibleFilterError(f"{name}: the value is nested too deeply or contains itself") from None
        except TypeError as error:
            raise AnsibleFilterError(f"{name}: {_call_problem(error) or _bug(error)}") from None
        except Exception as error:
            raise AnsibleFilterError(f"{name}: {_bug(error)}") from None

    return {name: call}


def _call_problem(error: TypeError) -> str:
    """What is wrong with the options of a filter's call, or "" for an error inside the filter."""
    if len(traceback.extract_tb(error.__traceback__)) > 1:
        return ""
    unknown = _UNKNOWN.search(str(error))
    return f"{unknown[1]}: unknown option" if unknown else "invalid arguments; see ansible-doc -t filter"


def _bug(error: Exception) -> str:
    from ..module_utils._resolver.api.errors import bug_report

    return bug_report(error)
