"""HTML pages without scripts, fonts or network access. The templates are in `pages`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleFilterError
from jinja2 import Environment, FileSystemLoader, StrictUndefined, UndefinedError

from ..module_utils._resolver.api.quantity import human
from ._filters import checked, whole_number

TEMPLATES = Path(__file__).with_name("pages")


def render(name: str, **values: Any) -> str:
    """The page of the template `name`.html.j2. All values are escaped."""
    return _environment().get_template(f"{name}.html.j2").render(values)


def result_page(name: str, found: Mapping[str, Any], origin: str, title: str, scope: Any, rows: Any) -> str:
    """The page of a filter NAME_page that shows the result of a module or a role, and the time.

    origin: where the result comes from, for messages. Raises AnsibleFilterError.
    """
    limit = checked(f"{name}_page", "rows", rows, whole_number)
    time = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M")
    try:
        return render(name, title=title, found=found, scope=str(scope), rows=limit, time=time)
    except UndefinedError as error:
        raise AnsibleFilterError(f"{name}_page: not a result of the {origin}: {error}") from error


def checked_result(name: str, value: Any, origin: str) -> Mapping[str, Any]:
    """The value if it can be such a result. Raises AnsibleFilterError."""
    if not isinstance(value, Mapping):
        raise AnsibleFilterError(f"{name}_page: expected the result of the {origin}, found {value!r}")
    return value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(number=_number, memory=_memory, share=_share)
    return environment


def _number(count: int) -> str:
    return f"{count:,}"


def _memory(count: int) -> str:
    """Bytes, rounded: ``102 TiB``, ``1.5 GiB``."""
    amount = human(str(count))
    suffix = amount.lstrip("0123456789.")
    figure = float(amount[: len(amount) - len(suffix)])
    return f"{figure:,.0f} {suffix}B" if figure >= 100 else f"{figure:.3g} {suffix}B"


def _share(part: int, whole: int) -> str:
    percent = 100 * part / whole
    return "less than 1 %" if percent < 1 else f"{percent:.0f} %"
