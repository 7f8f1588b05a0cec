#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: controller_revision
short_description: Refresh, move, pin, roll back, upgrade and prune the captured revisions of VMs
version_added: 1.0.0
description:
  - A VM keeps copies of its instancetype and its preference in ControllerRevisions. This module gives VMs other
    revisions. It does not change a VM that already has them.
  - To refresh a VM, the module removes the reference from the VM's status. If the user may not patch the status
    subresource, the module changes the spelling of the kind in the matcher and restores it. For KubeVirt up to 1.4 the
    module clears C(revisionName). The spec stays unchanged.
  - The module restarts a guest at most once. Before the restart it checks with a dry run that the API server still
    accepts the VM; otherwise the VM gets its previous revisions back and fails. It does not restart a guest that
    already matches its VM, whatever the condition RestartRequired says, and warns about it.
  - If KubeVirt would reject the VM afterwards, because it conflicts with the other instancetype or does not meet the
    requirements of the other preference, the module does not change the VM, and the VM fails with KubeVirt's message.
author: virtshape.instancetypes contributors (@virtshape)
options:
  state:
    description:
      - V(refreshed) captures the current generation for VMs that drifted or that lost their revision.
      - V(moved) gives VMs the instancetypes and preferences of O(replace), with their current revisions and without a
        pin, and applies O(patch) to their templates.
      - V(restored) gives VMs back exactly what they had before they were moved, as O(previous) says.
      - V(pinned) names O(revision) in the spec of the VM, which then keeps this revision.
      - V(unpinned) removes that name. The VM keeps the pinned revision until the next refresh.
      - V(upgraded) converts revisions of API versions before v1beta1, which KubeVirt 1.7 and later cannot read. The VM
        refers to a new revision of the same content, and its guest does not change. The old revision is deleted unless
        another VM refers to it.
      - V(pruned) deletes the revisions of instancetypes and preferences in O(namespace) that no VM, pool, snapshot or
        restore refers to. Revisions of a VM that is being refreshed or restored stay too. Requires O(namespace),
        without O(names) and O(label_selectors).
    type: str
    choices: [refreshed, moved, restored, pinned, unpinned, upgraded, pruned]
    default: refreshed
  revisions_of:
    description: Revisions to change, of the instancetype, the preference or both. Not for O(state=restored).
    type: str
    choices: [both, instancetype, preference]
    default: both
  revision:
    description: The ControllerRevision to pin to, or V(previous) to roll back to the revision before the newest
      revision of the VM. A VM that has this or an older revision keeps it. V(current) pins to the revisions that the VM
      has, so that a snapshot of the stopped VM keeps them. O(state=pinned) requires O(revision) or O(revisions).
    type: str
  revisions:
    description: The ControllerRevisions to pin to, as a dictionary of V(instancetype) and V(preference) for each name
      of a VM, as in RV(results[].revisions). Without O(names) it also selects the VMs. Requires O(namespace).
    type: dict
  replace:
    description:
      - For O(state=moved), the names of instancetypes and preferences, each with the name of the object that VMs get
        instead. Both objects are of the same kind.
      - V(deprecated) gives VMs the replacements that their deprecated or obsolete objects name. VMs whose object names
        none stay as they are.
      - An obsolete replacement is refused, and so is a VM whose revision is lost, because it could not go back.
    type: raw
  patch:
    description: For O(state=moved), a JSON merge patch of C(spec.template) of the VMs, with C(metadata) and C(spec).
      V(null) removes a field. A patch of C(spec.volumes) is refused.
    type: dict
  previous:
    description: For O(state=restored), what VMs had before they were moved, as RV(results[].previous) by name of the
      VM. Without O(names) it also selects the VMs. Requires O(namespace).
    type: dict
  keep:
    description: Number of newest unreferenced revisions of each VM and object that O(state=pruned) keeps.
    type: int
    default: 0
  restart:
    description: Whether to restart a running VM after the refresh. KubeVirt can plug sockets and memory into a running
      guest; other changes reach the guest at its next start. V(if_required) restarts a VM only if a change needs it,
      V(always) restarts every running VM whose revisions change. A stopped VM stays stopped.
    type: str
    choices: [never, if_required, always]
    default: never
  wait_timeout:
    description: Maximum number of seconds until all VMs have captured their new revisions, then until KubeVirt has
      changed their guests, and then for the VMs that restart at the same time until they run again.
    type: int
    default: 120
  concurrency:
    description: Maximum number of concurrent requests, and of VMs that restart at the same time.
    type: int
    default: 16
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.selection
  - virtshape.instancetypes.writes
  - virtshape.instancetypes.writes.dry_run
  - virtshape.instancetypes.attributes
"""

EXAMPLES = r"""
- name: Bring one VM up to date, restarting it if it has to be
  virtshape.instancetypes.controller_revision:
    namespace: shop
    names: [database]
    state: refreshed
    restart: if_required

- name: Replace an instancetype, and set the machine type
  virtshape.instancetypes.controller_revision:
    namespace: shop
    state: moved
    replace: {u1.medium: u1.large}
    patch: {spec: {domain: {machine: {type: q35}}}}
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
  description: Number of changed VMs or revisions; on failure the failed VMs with their reasons.
  returned: always
  type: str
  sample: "3 virtual machines: 1 refreshed, 2 unchanged"
cluster:
  description: Address of the API server.
  returned: unless O(state=pruned)
  type: str
  sample: https://api.example.com:6443
results:
  description: One entry for each VM, with its state before the task and the changes. With O(state=pruned) one entry for
    each deleted revision, with C(name) and C(namespace).
  returned: always
  type: list
  elements: dict
  contains:
    name: {description: Name of the VM., type: str, returned: always}
    namespace: {description: Namespace of the object., type: str, returned: always}
    uid: {description: UID of the VM., type: str, returned: when it exists}
    drifted:
      description: Whether the captured revisions differ from the current instancetype or preference.
      type: bool
      returned: always
    guest_before:
      description: vCPUs, memory and devices of the guest before the change, as C(vcpus), C(sockets), C(cores),
        C(threads), C(memory), C(gpus) and C(host_devices).
      type: dict
      returned: always
      sample: {vcpus: 1, sockets: 1, cores: 1, threads: 1, memory: 4Gi}
    guest_after:
      description: vCPUs, memory and devices of the guest after the change or, for a VM that the task left alone, after
        a refresh.
      type: dict
      returned: always
    changes:
      description: Every field of the VMI's spec that changes, with C(field), C(before) and C(after), including disks
        and interfaces that the VM does not list but a preference affects.
      type: list
      elements: dict
      returned: always
    needs:
      description: What it takes for the guest to match the VM - V(nothing), V(live_update), V(restart), or V(unknown)
        if KubeVirt cannot start the VM. Earlier changes count. A VM without a guest needs V(nothing). In check mode
        this is a prediction, because KubeVirt decides whether a running guest can take a change.
      type: str
      returned: always
      sample: restart
    spec:
      description: The merge patch of the VM's spec that moves it.
      type: dict
      returned: with O(state=moved), for a VM that moves
    previous:
      description: What the VM has before the move, for O(previous) - C(spec), a merge patch of the VM's spec, and
        C(revisions).
      type: dict
      returned: with O(state=moved), for a VM that moves
    refusal:
      description: Why KubeVirt would reject the VM after a refresh, in KubeVirt's words.
      type: str
      returned: when it would reject it
    restart_required:
      description: Whether the guest needs a restart to match the VM. A guest that already matches the VM needs none,
        even if KubeVirt still asks for a restart.
      type: bool
      returned: always
    restart_reason:
      description: Why the guest needs a restart, in KubeVirt's words if it asks for one.
      type: str
      returned: when there is a reason
      sample: a non-live-updatable field was changed in the template spec
    guest_current:
      description: Whether the running guest matches the VM, so that a restart would change nothing. The module compares
        the VM with the VMI that the guest was started with, because KubeVirt may keep the condition RestartRequired.
      type: bool
      returned: when the VM runs and VMIs may be read
    outstanding:
      description: The fields of the VMI's spec that the next start of the guest changes.
      type: list
      elements: str
      returned: when the VM runs and VMIs may be read
      sample: [domain.cpu.maxSockets, domain.devices.disks.root.disk.bus]
    status: {description: Printable status of the VM., type: str, returned: always, sample: Running}
    instancetype:
      description: The revision of the instancetype, with C(state) (V(current), V(drifted), V(gone), V(revision_lost),
        V(not_captured) or V(unknown)), C(kind), C(name), C(revision), C(pinned), C(generation), C(current_generation),
        C(recreated) and C(changes) of its spec.
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
    failed: {description: Whether the VM failed., type: bool, returned: always}
    msg: {description: "Why the VM failed, on one line.", type: str, returned: on failure}
    restarted: {description: "Whether the VM was restarted, or would be in check mode.", type: bool, returned: always}
    warnings:
      description: Warnings about the VM, such as a restart that KubeVirt asks for and the guest does not need.
      type: list
      elements: str
      returned: when there is any
    expanded:
      description: V(instancetype) and V(preference), if the cluster replaced them by their values, as the reference
        policies V(expand) and V(expandAll) do after a new capture.
      type: list
      elements: str
      returned: when it was changed
    revisions:
      description: Names of the newly captured revisions, by V(instancetype) and V(preference).
      type: dict
      returned: always
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.controller_revision import module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._conversion.cluster.additions import upgraded

MODULE = module(upgraded=upgraded)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
