"""The filter catalog: what fits what, as data, a table, a picture or a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._governance.language import Limit, limit_from_data
from ...module_utils._governance.language import limits as parse
from ...module_utils._resolver.api.errors import CatalogError, FieldError
from ...module_utils._resolver.catalog.bundle import bundle
from ...module_utils._resolver.catalog.matrix import Matrix, as_data, compatibility_matrix, from_data, manifest_of
from .._catalog_matrix import html, markdown, svg
from .._filters import check_option, choice, list_of, text
from .._fleet_summary import capacities

_NOT_A_RESULT = "expected a result of catalog_info; pass it as the module returned it"
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
        objects = bundle(documents, version=version).objects
        matrix, checked_limits = compatibility_matrix(objects), parse(limits or [], objects)
    except (CatalogError, FieldError) as error:
        raise AnsibleFilterError(str(error)) from None
    return _render(matrix, checked_limits, form, title, checked_capacity)


def _of_result(result: Mapping[str, Any], limits: Any) -> tuple[Matrix, list[Limit]]:
    """The matrix of what catalog_info has returned, and its limits unless there are others."""
    try:
        matrix = from_data(result)
        if limits:
            return matrix, parse(limits, map(manifest_of, (*matrix.instancetypes, *matrix.preferences)))
        read = [limit_from_data(limit) for limit in result.get("limits") or []]
    except CatalogError as error:
        raise AnsibleFilterError(str(error)) from None
    except (FieldError, KeyError, TypeError) as error:
        raise AnsibleFilterError(f"{_NOT_A_RESULT} ({error!r})") from None
    if None in read:
        raise AnsibleFilterError(_NOT_A_RESULT)
    return matrix, [limit for limit in read if limit is not None]


def _render(matrix: Matrix, limits: list[Limit], form: str, title: str, capacity: list[dict[str, Any]]) -> Any:
    if form == "html":
        return html(matrix, title, limits, capacity)
    return as_data(matrix) if form == "data" else FORMS[form](matrix, title, limits)
