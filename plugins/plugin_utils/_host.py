"""VMs as inventory hosts: names and variables."""

from __future__ import annotations

import re
import string
from typing import Any, Final

HOST_FIELDS: Final = ("name", "namespace", "uid")

# Without a prefix, variables such as `name` would clash with Ansible's own.
_PREFIX: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class HostError(ValueError):
    """An unusable option; one line names it and the reason."""


def check_options(pattern: str, prefix: str) -> None:
    """Raises HostError for an invalid pattern (see host_names) or prefix (see host_variables)."""
    known = " and ".join(f"{{{field}}}" for field in HOST_FIELDS)
    try:
        fields = [part for part in string.Formatter().parse(pattern) if part[1] is not None]
    except ValueError as error:
        raise HostError(f"host_format: {pattern!r}: {error}; write fields as {known}") from None
    for _text, field, spec, conversion in fields:
        if field not in HOST_FIELDS or spec or conversion:
            raise HostError(f"host_format: {pattern!r}: unknown field {{{field}}}; choose from {known}")
    if not any(field in ("name", "uid") for _text, field, _spec, _conversion in fields):
        raise HostError(f"host_format: {pattern!r} gives all virtual machines the same host name; add {{name}}")
    if not _PREFIX.fullmatch(prefix):
        raise HostError(
            f"hostvars_prefix: {prefix!r} cannot begin the name of a variable; use letters, digits and underscores"
        )


def host_names(vms: list[dict[str, Any]], pattern: str) -> list[str]:
    """The host names of the VMs, in order.

    vms: with the fields in HOST_FIELDS. pattern: text with these fields in braces, such as ``{name}.{namespace}``.
    Raises HostError if two VMs would be the same host.
    """
    owners: dict[str, str] = {}
    for vm in vms:
        name = pattern.format(**{field: vm[field] for field in HOST_FIELDS})
        label = f"{vm['namespace']}/{vm['name']}"
        if owners.setdefault(name, label) != label:
            raise HostError(
                f"host_format: {pattern!r} gives {owners[name]} and {label} the same host name, {name};"
                " add {namespace}"
            )
    return list(owners)


def host_variables(told: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The variables of a VM, with a prefix: a letter, then letters, digits and underscores."""
    return {f"{prefix}{name}": value for name, value in told.items()}
