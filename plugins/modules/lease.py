#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: lease
short_description: Internal - acquire or release a Lease, to run tasks one at a time
version_added: 1.0.0
description:
  - For the role C(virtshape.instancetypes.revision_refresh) only; it may change in any release.
  - A Lease is an object of the cluster with one holder. Runs that share a limit, such as the VMs that may be down,
    acquire the Lease before they count, and release it when their changes are visible in the cluster.
  - Waits for another holder. A Lease that its holder does not renew expires after O(duration), counted from the first
    time that this task reads it, so that clocks need not agree.
author: virtshape.instancetypes contributors (@virtshape)
options:
  name:
    description: Name of the Lease. The task creates the Lease if it does not exist; a released Lease stays.
    type: str
    required: true
  namespace:
    description: Namespace of the object.
    type: str
    required: true
  holder:
    description: Unique name of this run. The holder of the Lease renews it by running the task again.
    type: str
    required: true
  state:
    description: V(held) acquires the Lease, V(released) releases it. The task never releases the Lease of another
      holder.
    type: str
    choices: [held, released]
    default: held
  duration:
    description: Seconds after which the Lease expires unless the holder renews or releases it.
    type: int
    default: 300
  wait_timeout:
    description: Maximum number of seconds to wait for another holder.
    type: int
    default: 3600
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.attributes
attributes:
  diff_mode:
    support: none
seealso:
  - name: revision_refresh
    description: The role that shares its budget between runs.
    link: https://github.com/virtshape/instancetypes/blob/main/roles/revision_refresh/README.md
"""

EXAMPLES = r"""
- name: One at a time
  virtshape.instancetypes.lease:
    name: maintenance
    namespace: shop
    holder: night-shift

- name: The next one, please
  virtshape.instancetypes.lease:
    name: maintenance
    namespace: shop
    holder: night-shift
    state: released
"""

RETURN = r"""
holder:
  description: Holder of the Lease after the task, empty without a holder.
  returned: always
  type: str
  sample: night-shift
waited:
  description: Number of seconds that the task waited for another holder.
  returned: always
  type: int
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.lease import MODULE


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
