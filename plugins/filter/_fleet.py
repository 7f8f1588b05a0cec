# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: _fleet
short_description: Internal - the figures of a fleet of VMs
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - For the playbook C(virtshape.instancetypes.fleet_report) only; it may change in any release.
  - Summarizes the results of the modules that read VMs and catalogs - VMs by instancetype, their promised resources,
    drift with its age and the effect of a refresh, unused objects and orphaned revisions.
options:
  _input:
    description:
      - C(virtual_machines) from the result of M(virtshape.instancetypes.virtual_machine_info).
    type: list
    elements: dict
    required: true
  revisions:
    description:
      - C(virtual_machines) from the result of M(virtshape.instancetypes.virtual_machine_info) with C(include=refresh),
        for the effect of a refresh.
    type: list
    elements: dict
    default: []
  unreferenced:
    description:
      - C(unreferenced) from the result of the same module.
    type: list
    elements: dict
    default: []
  instancetypes:
    description:
      - C(instancetypes) from the result of M(virtshape.instancetypes.catalog_info).
    type: list
    elements: dict
    default: []
  preferences:
    description:
      - C(preferences) from the result of M(virtshape.instancetypes.catalog_info).
    type: list
    elements: dict
    default: []
  capacity:
    description:
      - C(instancetypes) from the result of M(virtshape.instancetypes.capacity_info), for the instancetypes that fit
        the nodes of the cluster.
    type: list
    elements: dict
    default: []
  team_label:
    description:
      - Key of the label that names the team of a VM.
    type: str
    default: team
  now:
    description:
      - Time of the report, to compute ages, such as V(2026-03-01T08:00:00Z). Default is the current time.
    type: str
"""

RETURN = r"""
_value:
  description:
    - A dictionary with the keys below. Sizes are those at the next start with the captured revisions; memory is in
      bytes.
    - C(totals), with C(virtual_machines), C(running), C(vcpus), C(memory_bytes), C(vcpus_running),
      C(memory_bytes_running), C(drifted), C(unknown) (VMs with unknown drift), C(problems) (VMs with unknown
      resources), C(refused), C(restart_required), C(lost_in_snapshot), C(unused), C(deprecated), C(deprecated_in_use)
      (VMs), C(orphaned_revisions) and C(kept_revisions).
    - C(teams) and C(namespaces), each with the name as C(team) or C(namespace), C(virtual_machines), C(states) (their
      number by status), C(drifted), C(refused), C(restart_required), C(vcpus) and C(memory_bytes). VMs without a team
      come last, with an empty C(team). A namespace has C(teams), the names.
    - C(instancetypes) and C(preferences), each with C(kind), C(namespace), C(name), C(deprecated), C(virtual_machines),
      C(running), C(drifted), C(vcpus) and C(memory_bytes); VMs without an instancetype or preference come last, with an
      empty name.
    - C(drift), with C(by_age) (C(age), C(virtual_machines)), C(by_change) (C(changes), C(needs) and the
      C(virtual_machines) with this change) and C(refused).
    - C(restart_required), and C(lost_in_snapshot) (VMs whose captured revisions a snapshot does not keep), the VMs as
      NAMESPACE/NAME.
    - C(unused) and C(deprecated), instancetypes and preferences with C(kind), C(namespace), C(name), C(catalog),
      C(catalog_version), C(deprecated) and C(used_by).
    - C(deprecated_in_use), for each namespace and object C(namespace), C(kind), C(name), C(object_state),
      C(replacement), C(obsolete_from) and the C(virtual_machines) as NAMESPACE/NAME.
    - C(orphaned_revisions), which are of no VM that there is, and C(kept_revisions), which are of one, both as in
      O(unreferenced).
    - C(capacity), as O(capacity).
    - C(virtual_machines), the data of each VM.
  type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("_fleet")
