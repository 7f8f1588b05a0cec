"""Manifests that are stored instead of sent: forbidden contents, and the names of their files."""

from __future__ import annotations

from typing import Any, Final

from .._resolver.api import name_rules as names
from .._resolver.api import release_schema, schema
from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import Manifest, Options
from .._resolver.api.name_rules import quoted
from .._resolver.api.release import Release
from .._resolver.api.tree import Place, path_of, scan
from .._resolver.secrets.secret_texts import SECRET, is_value, secret_texts

_PASSWORDS: Final = (("cloud_init", "password"), ("cloud_init", "password_file"))


def secret_option(options: Options) -> str:
    """The path of the first option whose value may be secret, or is in the file that it names; "" for none."""
    for place, part in scan(options):
        field = str(place[1]) if place else ""
        if isinstance(part, str) and secret_texts(part, _name_above(place)):
            return path_of(place)
        for key, entry in part.items() if isinstance(part, dict) else ():
            if entry and (key in SECRET or (field, key) in _PASSWORDS or is_value(part, field, key)):
                return path_of((place, key))
    return ""


def _name_above(place: Place) -> str:
    """The name of the option that has a value, or the list with the value."""
    while place and isinstance(place[1], int):
        place = place[0]
    return str(place[1]) if place else ""


def check_release(manifest: Manifest, release: Release) -> None:
    """Raises FieldError for a field that this collection knows and the release does not."""
    for field in release_schema.unknown(schema.type_of(manifest), manifest, release):
        if field.name in schema.TYPES[field.type_name]:
            raise FieldError(
                field.path,
                f"KubeVirt {release.minor_version} does not know the field; remove it, or set kubevirt_version to a"
                " release that does",
            )


def file_name(manifest: Manifest) -> str:
    """The name of the file with a manifest alone; no two objects of a cluster have the same.

    Raises FieldError for a namespace or a name that no object can have.
    """
    metadata: dict[str, Any] = manifest["metadata"]
    for field, check in (("namespace", names.label), ("name", names.subdomain)):
        value = metadata.get(field)
        if value and (reason := check(value)):
            raise FieldError(field, f"{quoted(value)} {reason}")
    parts = (metadata.get("namespace"), manifest["kind"].lower(), metadata["name"])
    # No name in Kubernetes has an underscore.
    return "_".join(filter(None, parts)) + ".yaml"
