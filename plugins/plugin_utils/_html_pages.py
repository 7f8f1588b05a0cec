"""HTML pages without scripts, fonts or network access. The templates are in `pages`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..module_utils._resolver.api.quantity import human

TEMPLATES = Path(__file__).with_name("pages")


def render(name: str, **values: Any) -> str:
    """The page of the template `name`.html.j2. All values are escaped."""
    return _environment().get_template(f"{name}.html.j2").render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(number=_number, memory=_memory, share=_share, urgent_first=_urgent_first)
    return environment


def _number(count: int) -> str:
    return f"{count:,}"


def _memory(count: int) -> str:
    """Bytes, rounded: ``102 TiB``, ``1.5 GiB``."""
    amount = human(str(count))
    suffix = amount.lstrip("0123456789.")
    figure = float(amount[: len(amount) - len(suffix)])
    return f"{figure:,.0f} {suffix}B" if figure >= 100 else f"{figure:.3g} {suffix}B"


def _share(part: int, total: int) -> str:
    percent = 100 * part / total
    return "less than 1 %" if percent < 1 else f"{percent:.0f} %"


def _urgent_first(vms: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A table may have fewer lines than there are VMs: those of which there is something to say come first."""
    return sorted(vms, key=lambda vm: not (vm["drifted"] or vm["restart_required"] or vm["problem"]))
