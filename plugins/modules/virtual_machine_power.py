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
  - Takes one VM or many to a state, through KubeVirt's own start, stop, restart, pause, unpause, migrate and soft
    reboot. With O(wait) the task waits for all VMs with one watch for each namespace.
  - A VM that has the state already is left alone, so that a second run changes nothing; V(restarted), V(migrated) and
    V(soft_rebooted) are actions, which every run takes. A restart or migration that is under way is waited for, not
    asked for again.
  - What KubeVirt refuses, such as the start of a VM whose run strategy does not permit it, is an error with its words.
    No VM stops the others from being handled.
  - A verb is never sent twice. Where its answer is lost, a look at the VM tells whether it had its effect.
author:
  - virtshape.instancetypes contributors (@virtshape)
options:
  namespace:
    description:
      - Namespace of the VMs. With O(label_selectors) alone it may be left out, for all namespaces.
    type: str
  names:
    description:
      - Names of the VMs, for which O(namespace) is needed. A name that does not exist is an error.
    type: list
    elements: str
    aliases: [name]
  label_selectors:
    description:
      - Label selectors of the VMs, which must match all of them. With O(names), those of the names that match.
    type: list
    elements: str
  virtual_machines:
    description:
      - VMs with a state each, in place of O(names) and O(label_selectors). What an entry does not say is taken from the
        options of the same name.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the VM.
        type: str
        required: true
      namespace:
        description: Its namespace.
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
      - The state that the VMs shall have.
      - V(started) and V(stopped) change the run strategies V(Halted), V(Always) and V(Once), as KubeVirt does; with the
        others they leave a request at the VM. A VM that KubeVirt starts by itself is waited for.
      - V(restarted) gives a running VM a new VMI. V(paused) and V(unpaused) are for running VMs; one that is starting
        is waited for.
      - V(migrated) moves a running VM to another node. V(soft_rebooted) asks its guest to reboot; it is not waited for,
        since nothing in the cluster shows it.
      - Needed, unless every entry of O(virtual_machines) has its own.
    type: str
    choices: [started, stopped, restarted, paused, unpaused, migrated, soft_rebooted]
  paused:
    description:
      - Whether VMs that have to be started are started paused. One that runs already stays as it is.
      - For O(state=started).
    type: bool
  force:
    description:
      - Whether not to wait for the guest to end by itself, but to kill it after O(grace_period). Data may be lost.
      - For O(state=stopped) and O(state=restarted).
    type: bool
  grace_period:
    description:
      - Seconds that the guest has to end by itself, with O(force). V(0) if it is not given. For a restart KubeVirt
        takes no other.
    type: int
  wait:
    description:
      - Whether to wait until the VMs have the state. It ends at once, with the reason, where that will not come about.
      - KubeVirt refuses to start a VM that is still stopping, and to pause a VM that is still starting. Set V(true) for
        a task that another such task follows.
    type: bool
    default: false
  wait_timeout:
    description:
      - Seconds to wait at most, for all VMs together. A VM that is late fails with its conditions and newest events.
    type: int
    default: 120
  concurrency:
    description:
      - Number of requests that may be under way at the same time, 1 to 256.
    type: int
    default: 16
  fail_fast:
    description:
      - Whether nothing more is sent after the first VM that fails. Otherwise all others are still handled, and the task
        fails at its end.
    type: bool
    default: false
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.requests
  - virtshape.instancetypes.on_failure
  - virtshape.instancetypes.attributes
attributes:
  check_mode:
    description: Looks at the VMs and has KubeVirt rehearse what would be sent (a dry run), so that a refusal shows.
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
    label_selectors:
      - tier=batch
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

- name: Would KubeVirt restart it?
  virtshape.instancetypes.virtual_machine_power:
    name: web
    namespace: shop
    state: restarted
  check_mode: true
"""

RETURN = r"""
msg:
  description: How many VMs changed, or which failed and why.
  returned: always
  type: str
  sample: "3 virtual machines: 1 changed, 2 unchanged"
results:
  description: What became of each VM, in the order in which they were named, else by namespace and name.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Name of the VM.
      type: str
      returned: always
    namespace:
      description: Its namespace.
      type: str
      returned: always
    state:
      description: The state that it shall have.
      type: str
      returned: always
      sample: started
    verb:
      description: What was sent or, in check mode, would be; empty where nothing is needed.
      type: str
      returned: always
      sample: start
    changed:
      description: Whether it was sent.
      type: bool
      returned: always
    failed:
      description: Whether the VM failed.
      type: bool
      returned: always
    msg:
      description: Why, on one line.
      type: str
      returned: on failure
    status:
      description: What the cluster says of the VM at the end.
      type: str
      returned: when it exists
      sample: Running
    status_before:
      description: What the cluster said of it at the beginning.
      type: str
      returned: when it exists
      sample: Stopped
    run_strategy:
      description: Its run strategy at the end.
      type: str
      returned: when it exists
      sample: Always
    instance:
      description: Its VMI at the end.
      type: dict
      returned: when there is one
      contains:
        uid:
          description: Tells one VMI from the next, since both have the VM's name.
          type: str
          returned: always
        phase:
          description: The VMI's phase.
          type: str
          returned: always
          sample: Running
        node:
          description: The node that it runs on, empty before it does.
          type: str
          returned: always
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.virtual_machine_power import (
    run_power,
)


def main() -> None:
    run_power()


if __name__ == "__main__":
    main()
