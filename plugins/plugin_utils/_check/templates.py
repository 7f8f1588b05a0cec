"""Adds templates to the check: the objects of an OpenShift Template with the default values of its parameters.

virt-template's engine is made after OpenShift's (github.com/openshift/library-go, pkg/template).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._templates.parameters import generate
from ...module_utils._templates.substitution import references, substitute
from .check_extension import CheckExtension
from .findings import LocatedFinding
from .sources import SourceManifest

# The same names of objects in each check.
_SEED: Final = "check"
_HAS_NO_VALUE: Final = "of the Template has no value, so the object is not checked"
_WITHOUT_VALUE: Final = f"the parameter {{}} {_HAS_NO_VALUE}"


def _objects_in(source: SourceManifest) -> list[SourceManifest] | None:
    location, manifest, problem = source[:3]
    if problem or not is_template(manifest):
        return None
    return [
        SourceManifest(
            location.below("objects", index),
            item,
            _WITHOUT_VALUE.format(parameter) if parameter else "",
        )
        for index, item, parameter in template_objects(manifest)
        if isinstance(item.get("kind"), str) and "apiVersion" in item
    ]


def _merged(findings: list[LocatedFinding]) -> list[LocatedFinding]:
    """The findings with one note for each file and parameter without a value."""
    alike: dict[Any, list[LocatedFinding]] = {}
    for finding in findings:
        key = (finding.location.file, finding.text) if finding.text.endswith(_HAS_NO_VALUE) else finding
        alike.setdefault(key, []).append(finding)
    result = []
    for first, *others in alike.values():
        more = f"; nor {len(others)} other{'s' * (len(others) > 1)} of the file" if others else ""
        result.append(replace(first, text=f"{first.text}{more}"))
    return result


def is_template(manifest: Manifest) -> bool:
    """Whether the manifest is an OpenShift Template."""
    return manifest["kind"] == "Template" and str(manifest["apiVersion"]).startswith(("template.openshift.io/", "v1"))


def template_objects(template: Manifest) -> Iterator[tuple[int, Manifest, str]]:
    """The index of each object, the object, and the parameter that it uses but that has no value, "" if none."""
    values = {str(parameter.get("name")): _default(parameter) for parameter in _listed(template, "parameters")}
    for index, item in enumerate(_listed(template, "objects")):
        # A reference to what is no parameter stays as it is.
        used = {name: values.get(name, f"${{{name}}}") for name in references(item)}
        known = {name: value for name, value in used.items() if value is not None}
        if missing := [name for name in used if name not in known]:
            yield index, item, missing[0]
            continue
        try:
            substituted = substitute(item, known)
        except FieldError:
            # The value is no JSON for the place.
            yield index, item, " or ".join(known)
        else:
            yield index, substituted, ""


def _listed(manifest: Manifest, key: str) -> list[Manifest]:
    value = manifest.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _default(parameter: Manifest) -> str | None:
    """The value of a parameter that the user does not set, for a generated one a possible value; None if required."""
    if parameter.get("value") not in (None, ""):
        return str(parameter["value"])
    if parameter.get("generate") == "expression":
        with suppress(FieldError):
            return generate(str(parameter.get("from") or ""), _SEED)
    return None if parameter.get("required") else ""


TEMPLATES: Final = CheckExtension(objects_in=_objects_in, merged=_merged)
