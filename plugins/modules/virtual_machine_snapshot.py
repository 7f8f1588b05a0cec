#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: virtual_machine_snapshot
short_description: Take, restore, clone and delete snapshots of VMs
version_added: 1.0.0
description:
  - Takes snapshots of VMs, restores and deletes them, and clones VMs. A copy has the size that the VM had. KubeVirt
    keeps the revisions of a stopped VM only if it is pinned to them, so the task pins it first. The VM stays pinned.
  - The storage of the disks needs a VolumeSnapshotClass.
author: virtshape.instancetypes contributors (@virtshape)
options:
  namespace:
    description: Namespace of the VMs. Required with O(names). With O(label_selectors) alone, the default is all
      namespaces.
    type: str
  names:
    description: Names of the VMs. Requires O(namespace). O(state=restored) creates a deleted VM anew.
    type: list
    elements: str
    aliases: [name]
  label_selectors:
    description: Label selectors that the VMs must all match. With O(names), they select among the named VMs.
    type: list
    elements: str
  state:
    description:
      - V(present) takes the snapshot, unless it exists. V(absent) deletes it.
      - V(restored) gives the VM the disks and the specification of the snapshot, in every run, and deletes its present
        disks. The VM stays stopped.
      - V(cloned) makes a stopped VM O(target) of the snapshot, or without O(snapshot) of the VM as it is, with new MAC
        addresses, firmware UUID and serial number. A VM of that name stays unchanged. Needs KubeVirt 1.5.
    type: str
    choices: [present, absent, restored, cloned]
    default: present
  snapshot:
    description: Name of the snapshot, in which C({name}) stands for the name of the VM. Optional for O(state=cloned).
    type: str
  target:
    description: Name of the clone, in which C({name}) stands for the name of the VM.
    type: str
  stop:
    description: Whether O(state=restored) stops a running VM, which otherwise fails. Needs KubeVirt 1.5.
    type: bool
    default: false
  instancetype:
    description: Name of another instancetype for the restored VM or the clone, of the same kind.
    type: str
  preference:
    description: Name of another preference for the restored VM or the clone, of the same kind.
    type: str
  keep:
    description: Which older snapshots to keep once this one is ready. The task deletes what neither number keeps, but
      only what it took of this very VM, and nothing that is being restored. For O(state=present).
    type: dict
    suboptions:
      newest:
        description: Number of the newest ready snapshots to keep.
        type: int
        default: 0
      days:
        description: Number of days for which to keep snapshots.
        type: int
        default: 0
  wait:
    description: Whether to wait for the end. Needed by O(keep), O(instancetype) and O(preference).
    type: bool
    default: true
  wait_timeout:
    description: Maximum number of seconds to wait, for all VMs together. A late VM fails with KubeVirt's reason.
    type: int
    default: 300
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.writes
  - virtshape.instancetypes.writes.dry_run
  - virtshape.instancetypes.declare.concurrency
  - virtshape.instancetypes.declare.fail_fast
  - virtshape.instancetypes.attributes
attributes:
  check_mode:
    description: Reads the VMs and the snapshots, and sends each write as a server-side dry run.
    support: full
  idempotent:
    description: A second run with the same options changes nothing, except for V(restored).
    support: partial
"""

EXAMPLES = r"""
- name: Take a snapshot, and keep the last three and those of a week
  virtshape.instancetypes.virtual_machine_snapshot:
    name: web
    namespace: shop
    snapshot: "{name}-before-upgrade"
    keep: {newest: 3, days: 7}

- name: Back to a snapshot
  virtshape.instancetypes.virtual_machine_snapshot:
    name: web
    namespace: shop
    snapshot: web-before-upgrade
    state: restored
    stop: true

- name: A larger copy of it
  virtshape.instancetypes.virtual_machine_snapshot:
    name: web
    namespace: shop
    snapshot: web-before-upgrade
    state: cloned
    target: web-trial
    instancetype: u1.large
"""

RETURN = r"""
msg: {description: "Number of VMs that changed, or the failed VMs with their reasons.", type: str, returned: always}
cluster: {description: Address of the API server., type: str, returned: always}
results:
  description: One entry for each VM, in the order of O(names) or by namespace and name.
  returned: always
  type: list
  elements: dict
  contains:
    name: {description: Name of the VM., type: str, returned: always}
    namespace: {description: Namespace of the object., type: str, returned: always}
    uid: {description: UID of the VM., type: str, returned: when it existed before}
    state: {description: Desired state., type: str, returned: always}
    changed: {description: "Whether the task changed something, or would in check mode.", type: bool, returned: always}
    failed: {description: Whether the VM failed., type: bool, returned: always}
    msg: {description: "Why the VM failed, on one line.", type: str, returned: on failure}
    snapshot: {description: Name of the snapshot., type: str, returned: with O(snapshot)}
    target: {description: The VM that is restored or made., type: str, returned: with states restored and cloned}
    pinned: {description: Whether the task pinned the revisions of the VM., type: bool, returned: always}
    deleted: {description: Older snapshots that the task deleted., type: list, elements: str, returned: always}
    ready: {description: Whether the snapshot can be restored., type: bool, returned: when the snapshot exists}
    indications: {description: KubeVirt's words about the guest., type: list, elements: str, returned: with ready}
    quiesced: {description: Whether the guest had frozen its file systems., type: bool, returned: when the VM ran}
    excluded_volumes: {description: Volumes without a copy., type: list, elements: str, returned: with ready}
    revisions: {description: ControllerRevisions of the target or the pinned VM., type: dict, returned: when known}
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._snapshots.cluster.module import MODULE


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
