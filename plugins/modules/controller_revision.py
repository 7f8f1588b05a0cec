#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: controller_revision
short_description: Refresh, pin, roll back, upgrade and prune what VMs have captured of instancetypes and preferences
version_added: 1.0.0
description:
  - A VM keeps its instancetype and its preference as they were when it was created, in ControllerRevisions. This module
    gives VMs other revisions. A VM that has them already is left alone.
  - Refreshing is done by the status subresource of the VM where the user may patch it, else by spelling the kind of its
    matcher another way and back, for which patching VMs is enough. On KubeVirt up to 1.4 it is done by clearing
    C(revisionName), which has no effect on newer ones. Either way leaves the spec as it was.
  - A guest is restarted once at most. Before the restart the API server is asked whether it still accepts the VM;
    where it does not, the VM gets back the revisions that it had, and fails. A guest that has all that its VM says is
    not restarted, whatever the condition RestartRequired says; a warning names that.
  - What KubeVirt would refuse, because the VM conflicts with the other instancetype or misses a requirement of the
    other preference, is not begun, and the VM fails with KubeVirt's words.
author:
  - virtshape.instancetypes contributors (@virtshape)
options:
  state:
    description:
      - V(refreshed) captures the current generation of what drifted, and of what has lost its revision.
      - V(pinned) names O(revision) in the spec of the VM, so that it keeps it whatever happens.
      - V(unpinned) takes that name out. The VM keeps the revision that was pinned until it is refreshed.
      - V(upgraded) stores revisions of an older API version anew, as KubeVirt itself does at its next look at the VM.
      - V(pruned) deletes the revisions of instancetypes and preferences in O(namespace) that no VM, snapshot or restore
        refers to. Those of a VM that is being given a revision or is being restored at this moment stay as well.
    type: str
    choices:
      - refreshed
      - pinned
      - unpinned
      - upgraded
      - pruned
    default: refreshed
  revisions_of:
    description:
      - Whether it is about the instancetype, the preference or both.
    type: str
    choices:
      - both
      - instancetype
      - preference
    default: both
  revision:
    description:
      - The ControllerRevision to pin to, or V(previous) for the one before the newest that the VM has captured, which
        rolls it back. A VM that has that one or an older one keeps it. V(current) pins to what the VM has, so that a
        snapshot of the VM has it, too. O(state=pinned) needs this or O(revisions).
    type: str
  revisions:
    description:
      - The ControllerRevisions to pin to for each VM, by its name, a dictionary of V(instancetype) and V(preference) as
        in RV(results[].revisions). It selects the VMs where O(names) does not, and needs O(namespace).
    type: dict
  keep:
    description:
      - How many of the newest unreferenced revisions of each VM and object O(state=pruned) leaves.
    type: int
    default: 0
  restart:
    description:
      - Whether to restart a running VM that was refreshed. A guest sees the new instancetype at its next start
        only, but for sockets and memory that the cluster plugs in while it runs; V(if_required) restarts for
        everything else. A stopped VM stays stopped.
    type: str
    choices:
      - never
      - if_required
      - always
    default: never
  wait_timeout:
    description:
      - Maximum number of seconds until all VMs have captured their new revisions, and then for each VM until its guest
        has the change or runs again.
    type: int
    default: 120
  concurrency:
    description:
      - Maximum number of concurrent requests, and of VMs that restart at the same time.
    type: int
    default: 16
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.selection
  - virtshape.instancetypes.requests
  - virtshape.instancetypes.on_failure
  - virtshape.instancetypes.dry_run
  - virtshape.instancetypes.attributes
"""

EXAMPLES = r"""
- name: Bring one VM up to date, restarting it if it has to be
  virtshape.instancetypes.controller_revision:
    namespace: shop
    names: [database]
    state: refreshed
    restart: if_required

- name: Back to what it had before
  virtshape.instancetypes.controller_revision:
    namespace: shop
    names: [database]
    state: pinned
    revision: previous
    restart: if_required

- name: Back to revisions that are known by name
  virtshape.instancetypes.controller_revision:
    namespace: shop
    state: pinned
    revisions:
      database: {instancetype: database-large-v1beta1-6c1e9f2a-5b1d-4a55-8a52-3f7f0c2a9a11-1}

- name: Remove what nothing refers to any more
  virtshape.instancetypes.controller_revision:
    namespace: shop
    state: pruned
    keep: 1
"""

RETURN = r"""
msg:
  description: How many VMs or revisions were changed; on failure which failed and why.
  returned: always
  type: str
  sample: "3 virtual machines: 1 refreshed, 2 unchanged"
results:
  description:
    - What became of each VM, as seen before and with what was done. With O(state=pruned) an entry for each deleted
      revision, with C(name) and C(namespace).
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Name of the VM.
      type: str
      returned: always
    namespace:
      description: Namespace of the object.
      type: str
      returned: always
    drifted:
      description: Whether the captured revisions differ from the current instancetype or preference.
      type: bool
      returned: always
    guest_before:
      description:
        - vCPUs, memory and devices of the guest before the change, as C(vcpus), C(sockets), C(cores), C(threads),
          C(memory), C(gpus) and C(host_devices).
      type: dict
      returned: always
      sample: {vcpus: 1, sockets: 1, cores: 1, threads: 1, memory: 4Gi}
    guest_after:
      description:
        - vCPUs, memory and devices of the guest after the change or, for a VM that the task left alone, after a
          refresh.
      type: dict
      returned: always
    changes:
      description:
        - Every field of the VMI's spec that is changed, with C(field), C(before) and C(after), also of disks and
          interfaces that the VM does not list and that a preference applies to.
      type: list
      elements: dict
      returned: always
    needs:
      description:
        - What it takes, or took, for the running guest to have the changes, V(nothing), V(live_update) or V(restart). A
          VM without a running guest needs nothing, it has them at its next start. In check mode as far as it shows -
          the cluster is asked whether a running guest can take a change.
      type: str
      returned: always
      sample: restart
    refusal:
      description: Why KubeVirt would reject the VM after a refresh, in KubeVirt's words.
      type: str
      returned: when it would
    restart_required:
      description:
        - Whether the guest needs a restart to match the VM. A guest that already matches the VM needs none, even if
          KubeVirt still asks for a restart.
      type: bool
      returned: always
    restart_reason:
      description: Why the guest needs a restart, in KubeVirt's words.
      type: str
      returned: when there is a reason
      sample: a non-live-updatable field was changed in the template spec
    guest_current:
      description:
        - Whether the running guest has all that the VM says, so that a restart changes nothing in it. What the guest
          was started with decides, not the condition RestartRequired, which KubeVirt may leave standing.
      type: bool
      returned: when the VM runs and VMIs may be read
    outstanding:
      description: The fields of the VMI's spec that the next start of the guest changes.
      type: list
      elements: str
      returned: when the VM runs and VMIs may be read
      sample: [domain.cpu.maxSockets, domain.devices.disks.root.disk.bus]
    status:
      description: Printable status of the VM.
      type: str
      returned: always
      sample: Running
    instancetype:
      description:
        - The revision of the instancetype, with C(state) (V(current), V(drifted), V(gone), V(revision_lost),
          V(not_captured) or V(unknown)), C(kind), C(name), C(revision), C(pinned), C(generation),
          C(current_generation), C(recreated) and C(changes) of its spec.
      type: dict
      returned: when the VM has one
    preference:
      description: The revision of the preference, with the same keys as for the instancetype.
      type: dict
      returned: when the VM has one
    changed:
      description: Whether the VM or revision was changed, or would be in check mode.
      type: bool
      returned: always
    failed:
      description: Whether the VM failed.
      type: bool
      returned: always
    msg:
      description: Why the VM failed, on one line.
      type: str
      returned: on failure
    restarted:
      description: Whether the VM was restarted, or would be in check mode.
      type: bool
      returned: always
    warnings:
      description: Warnings about the VM, such as a restart that KubeVirt asks for and the guest does not need.
      type: list
      elements: str
      returned: when there is any
    expanded:
      description:
        - V(instancetype) and V(preference), where the cluster has put what they stand for into the VM in place of
          them. That is what the reference policies V(expand) and V(expandAll) do with a VM that is captured anew.
      type: list
      elements: str
      returned: when it was changed
    revisions:
      description: Names of the newly captured revisions, by V(instancetype) and V(preference).
      type: dict
      returned: always
    method:
      description: How the revisions were released, by the V(status) or by the spelling of the V(kind).
      type: str
      returned: when it was done
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.controller_revision import (
    run_revision,
)


def main() -> None:
    run_revision()


if __name__ == "__main__":
    main()
