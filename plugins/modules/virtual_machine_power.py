#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: virtual_machine_power
short_description: Start, stop, restart, pause, migrate and reboot VMs
version_added: 1.0.0
description:
  - Starts, stops, restarts, pauses, unpauses, migrates or soft-reboots one VM or many. With O(wait) the task waits for
    all VMs with one watch per namespace.
  - The task leaves a VM alone that already has the state, so a second run changes nothing. V(restarted), V(migrated)
    and V(soft_rebooted) are actions, which every run performs. If a restart or migration is already under way, the task
    waits for it instead of requesting another.
  - A request that KubeVirt rejects, such as the start of a VM whose run strategy does not permit it, fails the VM with
    KubeVirt's message. The task still handles all other VMs.
  - When the answer to a request is lost, the task reads the VM and sends the request again only if it had no effect.
author: virtshape.instancetypes contributors (@virtshape)
options:
  namespace:
    description: Namespace of the VMs. Required with O(names). With O(label_selectors) alone, the default is all
      namespaces.
    type: str
  names:
    description: Names of the VMs. Requires O(namespace). A name that does not exist is an error.
    type: list
    elements: str
    aliases: [name]
  label_selectors:
    description: Label selectors that the VMs must all match. With O(names), they select among the named VMs.
    type: list
    elements: str
  virtual_machines:
    description: A list of VMs, each with its own state, instead of O(names) and O(label_selectors). The options of the
      task are the defaults of the entries.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the VM.
        type: str
        required: true
      namespace:
        description: Namespace of the object.
        type: str
      state:
        description: See O(state).
        type: str
        choices: [started, stopped, restarted, paused, unpaused, migrated, soft_rebooted]
      paused:
        description: See O(paused).
        type: bool
      force:
        description: See O(force).
        type: bool
      grace_period:
        description: See O(grace_period).
        type: int
  state:
    description:
      - Desired state of the VMs.
      - V(started) and V(stopped) change the run strategies V(Halted), V(Always) and V(Once), as KubeVirt does; with the
        others they create a state change request in the VM's status. The task waits for a VM that KubeVirt starts by
        itself.
      - V(restarted) gives a running VM a new VMI. V(paused) and V(unpaused) are for running VMs. With O(wait) the task
        first waits for a VM that is starting.
      - V(migrated) moves a running VM to another node. V(soft_rebooted) asks the guest to reboot. The task does not
        wait for the reboot, because the cluster does not report it.
      - Required, unless every entry of O(virtual_machines) has its own.
    type: str
    choices: [started, stopped, restarted, paused, unpaused, migrated, soft_rebooted]
  paused:
    description:
      - Whether to start VMs paused. A running VM stays unchanged.
      - For O(state=started).
    type: bool
  force:
    description:
      - Whether to kill the guest after O(grace_period) instead of waiting for its shutdown. Data may be lost.
      - For O(state=stopped) and O(state=restarted).
    type: bool
  grace_period:
    description: With O(force), the number of seconds for the guest to shut down. The default is V(0), which is the only
      value that KubeVirt accepts for a restart.
    type: int
  wait:
    description:
      - Whether to wait until the VMs have the state. If a VM cannot reach the state, the wait ends immediately with the
        reason.
      - KubeVirt rejects the start of a VM that is still stopping, and the pause of a VM that is still starting. Set
        V(true) if another task for these VMs follows.
    type: bool
    default: false
  wait_timeout:
    description: Maximum number of seconds to wait, for all VMs together. A VM that is late fails with its conditions
      and newest events.
    type: int
    default: 120
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.writes
  - virtshape.instancetypes.declare.concurrency
  - virtshape.instancetypes.declare.fail_fast
  - virtshape.instancetypes.attributes
attributes:
  check_mode:
    description: Reads the VMs and sends each request as a server-side dry run, so that a rejection shows.
    support: full
  idempotent:
    description: A second run with the same options changes nothing, except for actions.
    support: partial
    details:
      - V(restarted), V(migrated) and V(soft_rebooted) act in every run.
seealso:
  - module: virtshape.instancetypes.virtual_machine
  - module: virtshape.instancetypes.virtual_machine_info
"""

EXAMPLES = r"""
- name: Start a VM
  virtshape.instancetypes.virtual_machine_power:
    name: web
    namespace: shop
    state: started

- name: Stop all VMs with a label, those that do not end by themselves after 30 seconds too
  virtshape.instancetypes.virtual_machine_power:
    namespace: shop
    label_selectors: [tier=batch]
    state: stopped
    force: true
    grace_period: 30

- name: Restart one, pause another
  virtshape.instancetypes.virtual_machine_power:
    namespace: shop
    virtual_machines:
      - name: web
        state: restarted
      - name: database
        state: paused
    wait: true

- name: Would KubeVirt restart it?
  virtshape.instancetypes.virtual_machine_power:
    name: web
    namespace: shop
    state: restarted
  check_mode: true
"""

RETURN = r"""
msg:
  description: Number of VMs that changed, or the failed VMs with their reasons.
  returned: always
  type: str
  sample: "3 virtual machines: 1 changed, 2 unchanged"
cluster:
  description: Address of the API server.
  returned: always
  type: str
  sample: https://api.example.com:6443
results:
  description: One entry for each VM, in the order of O(names) or by namespace and name.
  returned: always
  type: list
  elements: dict
  contains:
    name: {description: Name of the VM., type: str, returned: always}
    namespace: {description: Namespace of the object., type: str, returned: always}
    uid: {description: UID of the VM., type: str, returned: when it exists}
    state: {description: Desired state of the VM., type: str, returned: always, sample: started}
    verb:
      description: The request that was sent, or would be in check mode. Empty if none is needed.
      type: str
      returned: always
      sample: start
    changed: {description: "Whether the task sent a request, or would in check mode.", type: bool, returned: always}
    failed: {description: Whether the VM failed., type: bool, returned: always}
    msg: {description: "Why the VM failed, on one line.", type: str, returned: on failure}
    status:
      description: Printable status of the VM at the end of the task.
      type: str
      returned: when it exists
      sample: Running
    status_before:
      description: Printable status of the VM at the start of the task.
      type: str
      returned: when it exists
      sample: Stopped
    run_strategy: {description: Run strategy of the VM., type: str, returned: when it exists, sample: Always}
    vmi:
      description: VMI of the VM at the end of the task.
      type: dict
      returned: when there is one
      contains:
        uid: {description: "UID of the VMI, which changes with every restart.", type: str, returned: always}
        phase: {description: Phase of the VMI., type: str, returned: always, sample: Running}
        node: {description: "Node of the VMI, empty before the VMI is scheduled.", type: str, returned: always}
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.virtual_machine_power import (
    MODULE,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
