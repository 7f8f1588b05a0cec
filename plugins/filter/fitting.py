# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: fitting
short_description: List the instancetypes that fit, best first
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Selects the instancetypes that meet the requirements of a preference and the options of the filter.
  - Sorts by O(series) (if set), number of vCPUs, memory, number of demands on the node, overcommit and name, smallest
    first.
  - Demands on the node are GPUs and host devices, dedicated CPUs, an isolated emulator thread, NUMA, realtime, huge
    pages, launch security, a node selector and a scheduler.
  - Ignores the architecture that a preference requires, because instancetypes have no architecture.
  - Works offline.
positional: preference
options:
  _input:
    description:
      - Manifest of an instancetype of either kind, or a list of manifests. Other kinds are ignored.
    type: raw
    required: true
  preference:
    description:
      - Manifest of a preference, or its bare spec, or the name of a preference among the manifests.
      - The instancetypes meet its requirements, and their vCPUs are divisible as the preference requires.
    type: raw
  cpu:
    description: Minimum number of vCPUs.
    type: int
  memory:
    description: Minimum memory of the guest, a quantity such as V(4Gi).
    type: str
  class:
    description:
      - Value of the label C(instancetype.kubevirt.io/class), such as V(general.purpose) or V(memory.intensive).
    type: str
  labels:
    description: Labels that the instancetypes must have.
    type: dict
    default: {}
  series:
    description:
      - Series to prefer; other instancetypes come after it. The series is the part of the name before the last dot.
    type: str
    default: ""
  kubevirt_version:
    description:
      - The release of KubeVirt whose behaviour to compute, such as V(1.6) or V(v1.5.2). Default is the newest release
        that this collection knows.
    type: str
"""

EXAMPLES = r"""
- name: Which instancetypes does Windows run on, and which is the smallest with three vCPUs?
  ansible.builtin.debug:
    msg: "{{ catalog | virtshape.instancetypes.fitting(windows) | map(attribute='metadata.name') }},
          {{ (catalog | virtshape.instancetypes.fitting(windows, cpu=3) | first).metadata.name }}"
  vars:
    catalog: "{{ definition | virtshape.instancetypes.catalog_objects }}"
    definition:
      series:
        web:
          sizes:
            small: {cpu: 1, memory: 2Gi}
            large: {cpu: 4, memory: 8Gi}
            huge: {cpu: 16, memory: 64Gi}
    windows: {requirements: {cpu: {guest: 2}, memory: {guest: 4Gi}}}
"""

RETURN = r"""
_value:
  description: Manifests of the instancetypes that fit, best first. Empty if no instancetype fits.
  type: list
  elements: dict
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import FieldError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.choose.selection import Rejected, choose
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import release_option, report_bugs
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._manifest_checks import check_types

_OPTIONS: dict[str, Any] = {
    "cpu": None,
    "memory": None,
    "class": "",
    "labels": {},
    "series": "",
    "kubevirt_version": None,
}


def fitting(value: Any, preference: Any = None, **options: Any) -> list[dict[str, Any]]:
    """All instancetypes that fit, best first. For the options see _OPTIONS; `class` cannot be a parameter name."""
    unknown = options.keys() - _OPTIONS.keys()
    if unknown:
        raise AnsibleFilterError(f"fitting: {min(unknown)}: unknown option; choose {', '.join(_OPTIONS)}")
    settings = {**_OPTIONS, **options}
    if preference is not None and not isinstance(preference, (Mapping, str)):
        raise AnsibleFilterError(f"fitting: preference: expected a manifest, a spec or a name, found {preference!r}")
    if not isinstance(settings["labels"], Mapping):
        raise AnsibleFilterError(f"fitting: labels: expected an object, found {settings['labels']!r}")
    for option in ("class", "series"):
        if not isinstance(settings[option], str):
            raise AnsibleFilterError(f"fitting: {option}: expected text, found {settings[option]!r}")
    release = release_option("fitting", settings["kubevirt_version"])
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise AnsibleFilterError(f"fitting: expected manifests of instancetypes, found {value!r}")
    # None is an empty YAML document.
    entries = [dict(entry) if isinstance(entry, Mapping) else entry for entry in value if entry is not None]
    for index, entry in enumerate(entries):
        try:
            check_types(entry if isinstance(entry, dict) else {})
        except FieldError as error:
            raise AnsibleFilterError(f"fitting: [{index}]: {error}") from error
    try:
        return choose(
            entries,
            preference=dict(preference) if isinstance(preference, Mapping) else preference,
            cpu=settings["cpu"],
            memory=settings["memory"],
            class_label=settings["class"],
            labels=settings["labels"],
            series=settings["series"],
            release=release,
        )
    except Rejected as error:
        raise AnsibleFilterError(f"fitting: {error}") from error


class FilterModule:
    def filters(self) -> dict:
        return report_bugs({"fitting": fitting})
