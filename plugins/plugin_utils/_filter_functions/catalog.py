"""The filter catalog: what fits what, as data, a table, a picture or a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._catalog_conversions import CONVERSIONS
from ...module_utils._matrix.matrix import Matrix, as_data, compatibility_matrix, from_data
from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.catalog.bundle import bundle
from ...module_utils._resolver.catalog.errors import CatalogError
from ...module_utils._resolver.catalog.facts import manifest_of
from .._reports.catalog_matrix import ShownLimit, html, markdown, svg
from .._reports.fleet_summary import capacities
from ._limits import limit_columns
from ._shared import check_option, choice, list_of, text

_NOT_A_RESULT = "expected a result of catalog_info; pass it as the module returned it"
# Capabilities add columns for limits. They take the limits of a user, the limits of catalog_info, and the catalog.
_LIMITS: tuple[Callable[[Any, Any, list[Manifest]], Sequence[ShownLimit]], ...] = (limit_columns,)
FORMS = {"markdown": markdown, "html": html, "svg": svg}


def catalog(
    value: Any,
    form: Any = "data",
    title: Any = "Instancetypes and preferences",
    version: Any = "",
    capacity: Any = (),
    limits: Any = None,
) -> Any:
    """See its documentation."""
    check_option("form", form, choice("data", *FORMS))
    check_option("title", title, text)
    check_option("version", version, text)
    checked_capacity = capacities(check_option("capacity", capacity, list_of("what a module returned")))
    if isinstance(value, Mapping) and "matrix" in value:
        return _render(*_of_result(value, limits), form, title, checked_capacity)
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise AnsibleFilterError(f"expected catalogs or manifests, found {value!r}")
    try:
        documents = [dict(document) if isinstance(document, Mapping) else document for document in value]
        objects = bundle(documents, version=version, conversions=CONVERSIONS).objects
        matrix = compatibility_matrix(objects)
        columns = _columns(limits, None, objects)
    except (CatalogError, FieldError) as error:
        raise AnsibleFilterError(str(error)) from None
    return _render(matrix, columns, form, title, checked_capacity)


def _of_result(result: Mapping[str, Any], limits: Any) -> tuple[Matrix, list[ShownLimit]]:
    """The matrix of what catalog_info has returned, and its limits unless there are others."""
    try:
        matrix = from_data(result)
        objects = [manifest_of(facts) for facts in (*matrix.instancetypes, *matrix.preferences)]
        return matrix, _columns(limits, result.get("limits"), objects)
    except CatalogError as error:
        raise AnsibleFilterError(str(error)) from None
    except (FieldError, KeyError, TypeError) as error:
        raise AnsibleFilterError(f"{_NOT_A_RESULT} ({error!r})") from None


def _columns(written: Any, returned: Any, objects: list[Manifest]) -> list[ShownLimit]:
    """Raises CatalogError; TypeError for a result that no module returned."""
    return [column for columns in _LIMITS for column in columns(written, returned, objects)]


def _render(matrix: Matrix, limits: list[ShownLimit], form: str, title: str, capacity: list[dict[str, Any]]) -> Any:
    if form == "html":
        return html(matrix, title, limits, capacity)
    return as_data(matrix) if form == "data" else FORMS[form](matrix, title, limits)
