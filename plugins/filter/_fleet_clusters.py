# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: _fleet_clusters
short_description: Internal - the reports of several clusters as one
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - For the playbook C(virtshape.instancetypes.fleet_report) only; it may change in any release.
options:
  _input:
    description:
      - The clusters that were read, each with its name as C(cluster), C(kubevirt_version), its C(report) from
        P(virtshape.instancetypes._fleet#filter), and its C(instancetypes) and C(preferences) from the modules.
    type: list
    elements: dict
    required: true
  failed:
    description:
      - The clusters that were not read, with the reason of each.
    type: dict
    default: {}
"""

RETURN = r"""
_value:
  description:
    - What P(virtshape.instancetypes._fleet#filter) returns, with added totals; each entry of a list has its C(cluster),
      and VMs that are named by text are CLUSTER/NAMESPACE/NAME.
    - C(totals) also has C(clusters), C(failed_clusters) and C(cluster_differences).
    - C(clusters), each with C(cluster), C(kubevirt_version), C(catalogs) (C(name), and C(versions), the number of
      objects of each version), C(totals), C(failed) and C(msg).
    - C(differences) between the clusters - C(kubevirt) and C(catalogs), with C(value) and C(most), the value of most
      clusters, and C(objects), with C(kind), C(difference) (C(missing), C(additional) or C(changed)), C(changes) and
      C(names). If as many clusters have each value, the first cluster counts.
  type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("_fleet_clusters")
