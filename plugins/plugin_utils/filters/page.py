"""The filter _page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from ansible.errors import AnsibleFilterError
from jinja2 import UndefinedError

from .._filters import check_option, choice, positive_integer
from .._html_pages import render

_NAME = choice("fleet", "refresh", "upgrade")


def page(value: Any, name: Any, title: Any, scope: Any = "all namespaces", rows: Any = 1000) -> str:
    """See its documentation."""
    name = check_option("_page", "name", name, _NAME)
    rows = check_option("_page", "rows", rows, positive_integer)
    if not isinstance(value, Mapping):
        raise AnsibleFilterError(f"_page: expected the data of the report {name}, found {value!r}")
    time = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M")
    try:
        return render(name, report=value, title=str(title), scope=str(scope), rows=rows, time=time)
    except UndefinedError as error:
        raise AnsibleFilterError(f"_page: not the data of the report {name}: {error}") from error
