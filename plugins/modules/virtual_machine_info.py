#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: virtual_machine_info
short_description: Read VMs with their captured revisions, drift, resources and expansion, and export them
version_added: 1.0.0
description:
  - Returns for each VM its state and conditions, its instancetype and preference with the captured revisions and their
    drift, the resources of guest and pod at the next start, and the resources, disks and interfaces of the running
    guest.
  - Sends one list request each for VMs, VMIs, revisions, instancetypes and preferences.
  - A VM keeps copies of its instancetype and preference in ControllerRevisions. When an instancetype or preference
    changes later, the VM drifts from it. O(include=refresh) shows the effect of a refresh on the guest.
  - With O(export), also returns manifests that give the VMs the same guests on another cluster or in another namespace.
  - The expansion of a VM replaces its instancetype and preference by their values. KubeVirt expands on request
    (C(expand-spec)), and this collection without a cluster. O(include=expansion) shows both, with every field that
    differs. Usually nothing differs. A difference means that this collection computes something else than the cluster's
    KubeVirt, which also affects its checks, filters and drift. Neither expansion checks the requirements of the
    preference.
author: virtshape.instancetypes contributors (@virtshape)
options:
  instancetype:
    description: Selects VMs that name this instancetype.
    type: str
  preference:
    description: Selects VMs that name this preference.
    type: str
  drifted:
    description: Selects VMs that have drifted or, with V(false), VMs that have not drifted.
    type: bool
  restart_required:
    description: Selects VMs whose guest needs a restart to match the VM or, with V(false), the other VMs.
    type: bool
  include:
    description: What to return of each VM beyond its state and its revisions - V(resources) of guest and pod at the
      next start, the effect of a V(refresh), the content of its V(captured) revisions, the V(expansion) by the cluster
      and by this collection, with a request for each VM, and the V(diagnosis) of why it does not run.
    type: list
    elements: str
    choices: [resources, refresh, expansion, captured, diagnosis]
    default: [resources]
  export:
    description:
      - Returns RV(manifests) that give the VMs the same guests on another cluster or in another namespace, whatever
        their instancetypes and preferences contain there, and also if they do not exist there. V({}) exports the VMs as
        they are.
      - Each VM comes with the ControllerRevisions that it uses. It names them in C(spec.instancetype.revisionName) and
        C(spec.preference.revisionName).
      - Leaves out what the cluster adds - status, owner references, UIDs, managed fields and finalizers.
      - Revisions that KubeVirt before 1.0 wrote are converted, because KubeVirt 1.7 and later do not read them.
      - The task fails if a VM cannot be exported, or if one of O(names) does not exist.
    type: dict
    suboptions:
      target_namespace:
        description: Namespace of the manifests. Default is the namespace of the VM.
        type: str
      run_strategy:
        description: Run strategy of the exported VMs, such as V(Halted) until their volumes are there. Default is the
          run strategy of the VM.
        type: str
        choices: [Always, Halted, Manual, Once, RerunOnFailure]
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.selection
  - virtshape.instancetypes.declare.concurrency
  - virtshape.instancetypes.attributes
notes:
  - KubeVirt answers with 500 if a VM cannot be expanded. The module does not retry this answer.
  - Values that may be secret, such as cloud-init data, are hidden, except in RV(manifests).
  - Apply RV(manifests) in their order, because KubeVirt up to 1.5 rejects a VM whose revisions do not exist. They do
    not include volumes, Secrets and ConfigMaps.
  - Exported revisions have no owner. Once no VM refers to them, delete them with
    M(virtshape.instancetypes.controller_revision) and C(state=pruned).
seealso:
  - module: virtshape.instancetypes.controller_revision
  - plugin: virtshape.instancetypes.expand
    plugin_type: filter
"""

EXAMPLES = r"""
- name: All VMs of a namespace
  virtshape.instancetypes.virtual_machine_info:
    namespace: shop
  register: found

- name: What their guests have
  ansible.builtin.debug:
    msg: "{{ item.name }} has {{ item.vmi.guest.vcpus }} vCPUs and {{ item.vmi.guest.memory }}"
  loop: "{{ found.virtual_machines | selectattr('vmi', 'defined') }}"
  loop_control:
    label: "{{ item.name }}"

- name: What have the VMs captured?
  virtshape.instancetypes.virtual_machine_info:
    namespace: shop
    include: [captured]
  register: captured

- name: VMs of an instancetype that have captured an older generation of it
  virtshape.instancetypes.virtual_machine_info:
    namespace: shop
    instancetype: database
    drifted: true
  register: outdated

- name: What would a refresh change?
  virtshape.instancetypes.virtual_machine_info:
    namespace: shop
    drifted: true
    include: [refresh]
  register: drifted

- name: Say so
  ansible.builtin.debug:
    msg: "{{ item.name }}: {{ item.guest_before.memory }} now, {{ item.guest_after.memory }} after a refresh"
  loop: "{{ drifted.virtual_machines }}"
  loop_control:
    label: "{{ item.name }}"

- name: Export the VMs of a namespace, stopped until their volumes are there
  virtshape.instancetypes.virtual_machine_info:
    namespace: shop
    export: {run_strategy: Halted}
  register: shop

# Cloud-init data may contain passwords: only the owner may read the file, and no diff shows it.
- name: Write them for kubectl apply
  ansible.builtin.copy:
    content: "{{ shop.manifests | map('to_nice_yaml', sort_keys=false) | join('---\n') }}"
    dest: "{{ playbook_dir }}/shop.yml"
    mode: "0600"
  diff: false

- name: Does this collection know how this cluster expands VMs?
  virtshape.instancetypes.virtual_machine_info:
    include: [expansion]
  register: all_vms
  failed_when: all_vms.virtual_machines | rejectattr('expansion.equal') | length > 0

- name: Why do VMs not run?
  virtshape.instancetypes.virtual_machine_info:
    namespace: shop
    include: [diagnosis]
  register: diagnosed

- name: Say so, with the remedy as a task
  ansible.builtin.debug:
    msg: "{{ item.name }}: {{ item.diagnosis.problem }}; {{ item.diagnosis.remedy }}"
  loop: "{{ diagnosed.virtual_machines | selectattr('diagnosis.state', 'eq', 'broken') }}"
  loop_control:
    label: "{{ item.diagnosis.task | default({}) | to_nice_yaml }}"

- name: Which VMs wait for a restart, in all namespaces?
  virtshape.instancetypes.virtual_machine_info:
    restart_required: true
  register: waiting

- name: Which VMs would a snapshot restore with another size?
  ansible.builtin.debug:
    msg: "{{ found.virtual_machines | selectattr('drifted') | selectattr('revisions_lost_by', 'contains', 'snapshot')
      | map(attribute='name') }}"

- name: Memory that the pods of the VMs ask for, with KubeVirt's overhead
  ansible.builtin.debug:
    msg: "{{ known | map(attribute='resources.pod.memory_bytes') | sum | int | human_readable }}"
  vars:
    known: "{{ found.virtual_machines | selectattr('resources', 'defined') }}"
"""

RETURN = r"""
kubevirt_version:
  description: Version of the cluster's KubeVirt, empty if it is unknown.
  returned: always
  type: str
table:
  description: The same as lines of text, as C(kubectl get virtualmachines) shows VMs, which C(-v) prints.
  returned: always
  type: list
  elements: str
  sample:
    - NAMESPACE  NAME  AGE  STATUS   READY  INSTANCETYPE  PREFERENCE  DRIFTED  RESTART
    - shop       web   3d   Running  True   u1.small      fedora      yes      -
virtual_machines:
  description: The VMs in order of namespace and name. Names that do not exist are left out.
  returned: always
  type: list
  elements: dict
  contains:
    name: {description: Name of the VM., type: str, returned: always}
    namespace: {description: Namespace of the object., type: str, returned: always}
    uid: {description: UID of the VM., type: str, returned: always}
    labels: {description: Labels of the object., type: dict, returned: always}
    run_strategy: {description: Run strategy of the VM., type: str, returned: always}
    status: {description: Printable status of the VM., type: str, returned: always, sample: Running}
    ready: {description: Whether the VM is ready., type: bool, returned: always}
    conditions:
      description: Conditions of the VM, with C(type), C(status), C(reason) and C(message).
      type: list
      elements: dict
      returned: always
    restart_required:
      description: Whether the guest needs a restart to match the VM. A guest that already matches the VM needs none,
        even if KubeVirt still asks for a restart.
      type: bool
      returned: always
    restart_reason:
      description: Why the guest needs a restart, in KubeVirt's words if it asks for one.
      type: str
      returned: when there is a reason
    drifted:
      description: Whether the captured revisions differ from the current instancetype or preference.
      type: bool
      returned: always
    revisions_lost_by:
      description:
        - What does not keep the captured revisions of the VM, because only its status names them - V(backup), and for a
          VM without a VMI V(snapshot), which includes clones. A restored VM captures the current instancetype and
          preference, so it has another size if the VM has drifted by then.
        - To keep the revisions, pin the VM with M(virtshape.instancetypes.controller_revision), C(state=pinned) and
          C(revision=current).
      type: list
      elements: str
      returned: always
      sample: [backup, snapshot]
    instancetype:
      description: Instancetype of the VM and its captured revision.
      type: dict
      returned: when it has one
      contains:
        name: {description: Name of the instancetype., type: str, returned: always}
        kind:
          description: Kind of the instancetype, also if the VM does not set the kind.
          type: str
          returned: always
          sample: VirtualMachineClusterInstancetype
        revision:
          description: Name of the ControllerRevision, empty before the capture.
          type: str
          returned: always
        pinned: {description: Whether the VM pins the revision by name., type: bool, returned: always}
        expanded:
          description: The VM has the values, and a record in the place of a revision, as the option C(sizes) of
            M(virtshape.instancetypes.virtual_machine) says.
          type: bool
          returned: when it is so
        state:
          description: V(current), V(drifted), V(gone), V(revision_lost), V(not_captured) or V(unknown).
          type: str
          returned: always
        generation: {description: The captured generation., type: int, returned: always}
        current_generation: {description: The current generation of the instancetype., type: int, returned: always}
        recreated:
          description: Whether the instancetype was deleted and created again with the same name.
          type: bool
          returned: always
        changes:
          description: Fields of the instancetype's spec that differ, with C(field), C(before) and C(after).
          type: list
          elements: dict
          returned: always
        captured_at:
          description: Time of the capture, empty before the capture.
          type: str
          returned: always
          sample: "2026-03-01T08:00:00Z"
        changed_at:
          description: Time of the last change of the instancetype, including its labels. Empty if unknown.
          type: str
          returned: always
        problem:
          description: Why the state is V(unknown), such as a missing right with the rule to grant. Otherwise empty.
          type: str
          returned: always
        object_state:
          description: State of the instancetype itself, V(active), V(deprecated) or V(obsolete). Empty if it cannot be
            read.
          type: str
          returned: always
        replacement:
          description: Name of the object to use instead, empty if none is named.
          type: str
          returned: always
        obsolete_from:
          description: Day on which a deprecated object is to become obsolete, empty if none is named.
          type: str
          returned: always
        captured:
          description: Content of the captured revision, C(data) of the ControllerRevision.
          type: dict
          returned: with O(include=captured), when there is a revision and it can be read
          contains:
            api_version:
              description: API version of the captured object. Empty for a revision of KubeVirt 0.56, which contains the
                spec alone.
              type: str
              returned: always
              sample: instancetype.kubevirt.io/v1beta1
            spec:
              description: Spec of the captured object, converted to v1beta1.
              type: dict
              returned: always
              sample: {cpu: {guest: 1}, memory: {guest: 2Gi}}
    preference:
      description: Preference of the VM and its captured revision, with the same keys as
        RV(virtual_machines[].instancetype).
      type: dict
      returned: when it has one
    resources:
      description: Resources of the VM at its next start with its captured revisions, as the filter
        P(virtshape.instancetypes.resources#filter) returns them.
      type: dict
      returned: with O(include=resources), when its instancetype and preference are known
      contains:
        guest:
          description: Resources of the guest - C(vcpus), C(sockets), C(cores), C(threads), C(memory), C(memory_bytes)
            and more.
          type: dict
          returned: always
        pod:
          description: Requests of the pod for the cluster's KubeVirt - C(cpu), C(memory), C(memory_bytes) and more.
            Limits because of a ResourceQuota of the namespace and the devices of networks are not included.
          type: dict
          returned: always
    guest_before:
      description: vCPUs, memory and devices of the guest before the change, as C(vcpus), C(sockets), C(cores),
        C(threads), C(memory), C(gpus) and C(host_devices).
      type: dict
      returned: with O(include=refresh)
      sample: {vcpus: 1, sockets: 1, cores: 1, threads: 1, memory: 4Gi}
    guest_after:
      description: vCPUs, memory and devices of the guest after a refresh; empty if KubeVirt cannot start the VM.
      type: dict
      returned: with O(include=refresh)
    changes:
      description: Every field of the VMI's spec that a refresh changes, with C(field), C(before) and C(after).
      type: list
      elements: dict
      returned: with O(include=refresh)
    needs:
      description: What it takes for the guest to match the VM after a refresh - V(nothing), V(live_update), V(restart),
        or V(unknown) if KubeVirt cannot start the VM. Earlier changes count. A VM without a guest needs V(nothing).
      type: str
      returned: with O(include=refresh)
    refusal:
      description: Why KubeVirt would reject the VM after a refresh, in KubeVirt's words.
      type: str
      returned: with O(include=refresh), when it would reject it
    guest_current:
      description: Whether the running guest matches the VM, so that a restart would change nothing. The module compares
        the VM with the VMI that the guest was started with, because KubeVirt may keep the condition RestartRequired.
      type: bool
      returned: with O(include=refresh), when the VM runs and VMIs may be read
    outstanding:
      description: The fields of the VMI's spec that the next start of the guest changes.
      type: list
      elements: str
      returned: with O(include=refresh), when the VM runs and VMIs may be read
      sample: [domain.cpu.maxSockets, domain.devices.disks.root.disk.bus]
    problem:
      description: Why the resources are unknown, in KubeVirt's words.
      type: str
      returned: when the resources are unknown
    vmi:
      description: VMI of the VM.
      type: dict
      returned: when there is one
      contains:
        uid: {description: "UID of the VMI, which changes with every restart.", type: str, returned: always}
        phase: {description: Phase of the VMI., type: str, returned: always, sample: Running}
        node: {description: "Node of the VMI, empty before the VMI is scheduled.", type: str, returned: always}
        guest:
          description: Resources of the running guest - C(vcpus), C(sockets), C(cores), C(threads), C(memory), C(gpus)
            and C(host_devices).
          type: dict
          returned: always
        guest_os:
          description: Operating system as the guest agent reports it, with C(id), C(name), C(version) and more. Empty
            without a report.
          type: dict
          returned: always
        ssh:
          description: Address of the guest's SSH server on the machine of the local cluster, with C(host) and C(port).
          type: dict
          returned: when QEMU runs the guest in a local cluster and the VM has an interface
          sample: {host: 127.0.0.1, port: 40022}
        simulated_because:
          description: Why QEMU does not run the guest.
          type: str
          returned: in a local cluster with C(local_cluster_guests=qemu), when the guest is simulated
        disks:
          description: Disks of the running guest.
          type: list
          elements: dict
          returned: always
          contains:
            name: {description: Name of the disk and of its volume., type: str, returned: always}
            device: {description: "V(disk), V(cdrom) or V(lun).", type: str, returned: always}
            bus: {description: Bus of the disk., type: str, returned: always, sample: virtio}
            source:
              description: Field of the volume with its source. Empty for an empty CD-ROM drive.
              type: str
              returned: always
              sample: dataVolume
            claim: {description: "PersistentVolumeClaim of the disk, or empty.", type: str, returned: always}
            hotpluggable:
              description: Whether the running guest can lose the volume.
              type: bool
              returned: always
            target:
              description: Name of the disk for libvirt. Empty while the guest does not have the volume.
              type: str
              returned: always
              sample: vda
            size: {description: "Capacity of the claim, or empty.", type: str, returned: always, sample: 30Gi}
            boot_order: {description: Position in the boot order., type: int, returned: when the VM sets one}
        claims:
          description: Names of the PersistentVolumeClaims that the VMI uses, also for the state of TPM and EFI.
          type: list
          elements: str
          returned: always
        interfaces:
          description: Interfaces of the running guest, then those that only the guest agent reports.
          type: list
          elements: dict
          returned: always
          contains:
            name: {description: Name of the interface and of its network., type: str, returned: always}
            model:
              description: Model of the interface. Empty for a device of the host and for an interface that only the
                guest agent reports.
              type: str
              returned: always
              sample: virtio
            binding:
              description: How the guest is connected, or the name of the binding plugin.
              type: str
              returned: always
              sample: masquerade
            network:
              description: NetworkAttachmentDefinition of the network. Empty for the pod network.
              type: str
              returned: always
            guest_name: {description: "Name in the guest, if it is known.", type: str, returned: always, sample: eth0}
            mac: {description: MAC address., type: str, returned: always}
            addresses: {description: IP addresses., type: list, elements: str, returned: always}
    diagnosis:
      description: The chain from the declaration of the VM to its guest, and its first broken link.
      type: dict
      returned: with O(include=diagnosis)
      contains:
        state:
          description: V(running) or V(stopped) as declared, V(pending) on its way there, or V(broken).
          type: str
          returned: always
        link: {description: Name of the first broken link., type: str, returned: when broken, sample: scheduling}
        problem: {description: What is wrong., type: str, returned: when broken}
        evidence:
          description: What shows it, with C(kind), C(namespace) and C(name) of the object, C(source), which is
            V(condition), V(event), V(status) or V(field), its C(reason), C(message) and C(time).
          type: list
          elements: dict
          returned: when broken
        remedy: {description: What to do., type: str, returned: when broken}
        task:
          description: The remedy as a task of a play. Words in capitals are for the user to replace.
          type: dict
          returned: when broken, unless there is none to paste
        otherwise: {description: What happens without the remedy., type: str, returned: when broken}
        waits_for: {description: What the VM waits for., type: str, returned: when pending}
        passed: {description: Names of the links that hold., type: list, elements: str, returned: always}
        unchecked:
          description: Names of the links that hold as far as is known, because the user may not list what shows it.
          type: list
          elements: str
          returned: always
    expansion:
      description: The VM's spec as the cluster and this collection expand it.
      type: dict
      returned: with O(include=expansion)
      contains:
        equal:
          description: Whether both expansions are equal, or fail for the same reason.
          type: bool
          returned: always
        server:
          description: Spec of the VM expanded by the cluster, in canonical form.
          type: dict
          returned: when the cluster can expand it
        server_error:
          description: Error message of the cluster if it cannot expand the VM.
          type: str
          returned: when it cannot
          sample: 'Internal error occurred: virtualmachineinstancetypes.instancetype.kubevirt.io "nope" not found'
        resolver:
          description: Spec of the VM expanded by this collection, in canonical form.
          type: dict
          returned: when the collection can expand it
        resolver_error:
          description: KubeVirt's error message if this collection cannot expand the VM.
          type: str
          returned: when it cannot
        differences:
          description: Fields of the spec that differ, in order of their paths.
          type: list
          elements: dict
          returned: always
          contains:
            field:
              description: Path of the field in the spec.
              type: str
              returned: always
              sample: template.spec.domain.cpu.sockets
            server: {description: "Value of the cluster, null if not set.", type: raw, returned: always}
            resolver: {description: "Value of this collection, null if not set.", type: raw, returned: always}
    export:
      description: What the VM adds to RV(manifests), or why it cannot be exported.
      type: dict
      returned: with O(export)
      contains:
        revisions:
          description: Names of the exported revisions by C(instancetype) and C(preference).
          type: dict
          returned: when the VM can be exported
        problem:
          description: Why the VM cannot be exported, such as a deleted revision.
          type: str
          returned: when it cannot
manifests:
  description: The revisions, then the VMs, to be applied in this order. Empty if a VM cannot be exported.
  returned: with O(export)
  type: list
  elements: dict
unmatched:
  description: Which option selects no VM, or which of the names do not exist. Empty if all select something. The task
    warns of it.
  returned: always
  type: str
  sample: "namespace: shopp does not exist; did you mean shop?"
unreferenced:
  description: Revisions that no VM refers to, in namespaces with VMs, with C(namespace), C(name), C(virtual_machine),
    the name of their VM or empty, and C(captured_at). Only for namespaces of which the task selects all VMs.
  returned: with O(include=refresh)
  type: list
  elements: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.cluster.additions import (
    RESOURCES,
    node_reasons,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.virtual_machine_info import (
    module,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._diagnosis.cluster.additions import diagnosis
from ansible_collections.virtshape.instancetypes.plugins.module_utils._git.cluster.additions import EXPORT

MODULE = module(
    RESOURCES,
    diagnosis(node_reasons),
    EXPORT,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
