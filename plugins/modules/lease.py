#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: lease
short_description: Take a Lease or give it back, so that one run at a time does something
version_added: 1.0.0
description:
  - A Lease is an object of the cluster that has one holder. Runs that share a budget, such as slices of a job, take it
    before they look how much is left and give it back once what they do is seen in the cluster.
  - Waits for another holder. One that was killed loses it when its O(duration) is over, as counted from the moment at
    which it is first seen, so that the clocks of machines do not matter.
author:
  - virtshape.instancetypes contributors (@virtshape)
options:
  name:
    description:
      - Name of the Lease. It is created when it does not exist, and stays when it is given back.
    type: str
    required: true
  namespace:
    description:
      - Namespace of the object.
    type: str
    required: true
  holder:
    description:
      - Unique name of this run. The holder of the Lease renews it by running the task again.
    type: str
    required: true
  state:
    description:
      - V(held) takes the Lease, V(released) gives it back. Nothing is done about that of another holder.
    type: str
    choices: [held, released]
    default: held
  duration:
    description:
      - Seconds for which it is taken, unless it is renewed or given back before.
    type: int
    default: 300
  wait_timeout:
    description:
      - Maximum number of seconds to wait for another holder.
    type: int
    default: 3600
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.requests
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
  description: Holder of the Lease after the task, empty for none.
  returned: always
  type: str
  sample: night-shift
waited:
  description: Number of seconds that the task waited for another holder.
  returned: always
  type: int
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.lease import run_lease


def main() -> None:
    run_lease()


if __name__ == "__main__":
    main()
