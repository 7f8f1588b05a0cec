"""The filter catalog_objects: the manifests of a catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._resolver.api.matcher import MATCHER_FIELDS
from ...module_utils._resolver.catalog.definitions import adapt, expand_catalog
from ...module_utils._resolver.catalog.errors import CatalogError
from ...module_utils._resolver.catalog.selection import select
from ...module_utils._resolver.declare.option_checks import oversized
from ._shared import check_option, choice, of_type, text

KINDS = {matcher_field.name: matcher_field for matcher_field in MATCHER_FIELDS}
FORMS = ("manifests", "entries")


def catalog_objects(
    value: Any,
    kind: Any = None,
    series: Any = (),
    sizes: Any = (),
    names: Any = (),
    name_prefix: Any = "",
    labels: Any = None,
    namespace: Any = "",
    form: Any = "manifests",
    version: Any = "",
) -> list[Any]:
    """See its documentation."""
    check_option("kind", kind, choice(None, *KINDS))
    check_option("form", form, choice(*FORMS))
    patterns = {"series": series, "sizes": sizes, "names": names}
    for option, entries in patterns.items():
        if not isinstance(entries, (list, tuple)) or not all(isinstance(entry, str) for entry in entries):
            raise AnsibleFilterError(f"{option}: expected a list of names, found {entries!r}")
    for option, entry in (("name_prefix", name_prefix), ("namespace", namespace), ("version", version)):
        check_option(option, entry, text)
    check_option("labels", labels, of_type((Mapping, type(None)), "an object"))
    try:
        objects = select(expand_catalog(*_sources(value), version=version), matcher_field=KINDS.get(kind), **patterns)
        objects = adapt(objects, namespace=namespace, labels=dict(labels or {}), name_prefix=name_prefix)
    except CatalogError as error:
        raise AnsibleFilterError(str(error)) from None
    return (
        [{**manifest["metadata"], "spec": manifest["spec"]} for manifest in objects] if form == "entries" else objects
    )


def _sources(value: Any) -> list[Any]:
    too_much = oversized(value)
    if too_much:
        raise AnsibleFilterError(f"the catalog {too_much}; simplify the catalog")
    if isinstance(value, Mapping):
        return [dict(value)]
    if isinstance(value, Iterable) and not isinstance(value, str):
        # An empty YAML document is None.
        return [dict(source) if isinstance(source, Mapping) else source for source in value if source is not None]
    raise AnsibleFilterError(
        "expected catalogs or manifests, found "
        + ("text; read YAML with from_yaml or from_yaml_all" if isinstance(value, str) else repr(value))
    )
