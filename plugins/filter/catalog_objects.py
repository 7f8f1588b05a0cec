# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: catalog_objects
short_description: List the instancetypes and preferences of a catalog
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Converts catalogs (tables of instancetypes and families of preferences) to manifests, and selects among these.
  - Works offline. A mistake in a catalog fails with a message that names the entry and the field.
notes:
  - The README of the role P(virtshape.instancetypes.common_instancetypes#role) describes the language of catalogs.
  - O(series), O(sizes) and O(names) are lists of names or shell patterns such as V(u*). An empty list selects
    everything; a pattern without a match is an error.
options:
  _input:
    description:
      - A catalog, or the manifest of an instancetype or preference, or a list of these.
      - The filter uses name, labels, annotations and spec of manifests, such as the manifests of a published bundle.
    type: raw
    required: true
  version:
    description: Version of a catalog that lists versions, such as the built-in catalog. Default is the newest version.
    type: str
    default: ""
  kind:
    description: Selects only instancetypes or only preferences. Default is both.
    type: str
    choices:
      - instancetype
      - preference
  series:
    description:
      - Selects the instancetypes of these series. The series is the part of the name before the last dot.
      - Does not affect preferences.
    type: list
    elements: str
    default: []
  sizes:
    description:
      - Selects the instancetypes of these sizes. The size is the part of the name after the last dot.
      - Does not affect preferences.
    type: list
    elements: str
    default: []
  names:
    description: Selects the objects with these names.
    type: list
    elements: str
    default: []
  name_prefix:
    description: Prefix for all names.
    type: str
    default: ""
  labels:
    description: Additional labels for all objects. The labels of an object override these labels.
    type: dict
    default: {}
  namespace:
    description:
      - Namespace of the objects, which then have the namespaced kinds. Without it they have the cluster-wide kinds.
    type: str
    default: ""
  form:
    description:
      - V(manifests) of the API, or V(entries) for the lists of M(virtshape.instancetypes.instancetype) and
        M(virtshape.instancetypes.preference).
    type: str
    choices:
      - manifests
      - entries
    default: manifests
"""

EXAMPLES = r"""
- name: Declare two series of instancetypes of our own
  virtshape.instancetypes.instancetype:
    instancetypes: "{{ catalog | virtshape.instancetypes.catalog_objects(form='entries') }}"
  vars:
    catalog:
      series:
        web:
          sizes:
            small: {cpu: 1, memory: 2Gi}
            large: {cpu: 4, memory: 8Gi}
        db:
          spec:
            cpu: {dedicatedCPUPlacement: true}
          sizes:
            large: {cpu: 8, memory: 64Gi, hugepages: 1Gi}

- name: Tell which sizes a bundle has for databases
  ansible.builtin.debug:
    msg: >-
      {{ lookup('ansible.builtin.file', 'bundle.yaml') | from_yaml_all
         | virtshape.instancetypes.catalog_objects(series=['m1'])
         | map(attribute='metadata.name') }}
"""

RETURN = r"""
_value:
  description:
    - A manifest for each object, or an entry with C(name), C(namespace), C(labels), C(annotations) and C(spec).
  type: list
  elements: dict
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import CatalogError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.limits import oversized
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.matcher import ROLES
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.catalog.objects import (
    adapt,
    expand_catalog,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.catalog.selection import select
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import report_bugs

KINDS = {role.matcher: role for role in ROLES}
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
) -> list:
    """See DOCUMENTATION."""
    _check("kind", kind, (None, *KINDS))
    _check("form", form, FORMS)
    patterns = {"series": series, "sizes": sizes, "names": names}
    for option, entries in patterns.items():
        if not isinstance(entries, (list, tuple)) or not all(isinstance(entry, str) for entry in entries):
            raise AnsibleFilterError(f"catalog_objects: {option}: expected a list of names, found {entries!r}")
    for option, text in (("name_prefix", name_prefix), ("namespace", namespace), ("version", version)):
        if not isinstance(text, str):
            raise AnsibleFilterError(f"catalog_objects: {option}: expected text, found {text!r}")
    if not isinstance(labels, (Mapping, type(None))):
        raise AnsibleFilterError(f"catalog_objects: labels: expected an object, found {labels!r}")
    try:
        objects = select(expand_catalog(*_sources(value), version=version), role=KINDS.get(kind), **patterns)
        objects = adapt(objects, namespace=namespace, labels=dict(labels or {}), name_prefix=name_prefix)
    except CatalogError as error:
        raise AnsibleFilterError(f"catalog_objects: {error}") from error
    return (
        [{**manifest["metadata"], "spec": manifest["spec"]} for manifest in objects] if form == "entries" else objects
    )


def _check(option: str, value: Any, choices: tuple) -> None:
    if value not in choices:
        options = " or ".join(choice for choice in choices if choice)
        raise AnsibleFilterError(f"catalog_objects: {option}: {value!r} is not a valid value; choose {options}")


def _sources(value: Any) -> list:
    too_much = oversized(value)
    if too_much:
        raise AnsibleFilterError(f"catalog_objects: the catalog {too_much}; simplify the catalog")
    if isinstance(value, Mapping):
        return [dict(value)]
    if isinstance(value, Iterable) and not isinstance(value, str):
        # An empty YAML document is None.
        return [dict(source) if isinstance(source, Mapping) else source for source in value if source is not None]
    raise AnsibleFilterError(
        "catalog_objects: expected catalogs or manifests, found "
        + ("text; read YAML with from_yaml or from_yaml_all" if isinstance(value, str) else repr(value))
    )


class FilterModule:
    def filters(self) -> dict:
        return report_bugs({"catalog_objects": catalog_objects})
