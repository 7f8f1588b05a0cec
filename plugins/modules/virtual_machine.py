#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: virtual_machine
short_description: Declare virtual machines of KubeVirt
version_added: 1.0.0
description:
  - Declares VMs by their instancetype, preference and disks. Takes one VM at the top level, or many in
    O(virtual_machines).
  - O(boot), the disk that the VM boots from, is enough to declare a VM. Everything else is inferred from the disk or
    has a default.
  - Everything that C(virtctl create vm) can do is an option and results in the same manifest, except that names which
    C(virtctl) generates at random are deterministic here.
  - Before sending anything, the task checks every VM as KubeVirt will - for conflicts with its instancetype and for the
    requirements of its preference - and reports what to change in a VM that KubeVirt would reject.
  - One process handles all VMs with one list request per namespace. A VM that is already as declared costs no further
    request.
  - The task declares VMs by server-side apply with the field manager O(field_manager). Fields that
    are no longer declared are removed. Fields that others own or that the cluster filled in are left alone.
author: virtshape.instancetypes contributors (@virtshape)
options:
  names:
    description: Names of VMs to delete, with O(state=absent). Requires O(namespace).
    type: list
    elements: str
  label_selectors:
    description:
      - Label selectors that all VMs to delete match, with O(state=absent). With O(names), they select among the named
        VMs. An empty list is an error. If no VM matches, the task warns.
      - Without O(namespace), the VMs of all namespaces.
    type: list
    elements: str
  field_manager:
    description: Field manager of the declared fields. Playbooks that declare different fields of one VM need different
      field managers; otherwise each removes the fields of the others. The task warns before all volumes
      or all networks of a VM go.
    type: str
    default: virtshape
  restart:
    description:
      - Whether to restart a running VM when its guest needs a restart to get the declared state, as the condition
        C(RestartRequired) of KubeVirt says. RV(results[].needs) says in advance, in check mode too, what a change
        needs.
      - With V(never), one warning of the task names the VM that needs a restart, or says how many do.
      - V(if_required) also restarts a VM that needs a restart since an earlier run, and waits until the restarted VMs
        run again, even without O(wait), up to O(wait_timeout) from their restart. The task does not restart a VM whose
        guest gets the change without a restart, or that is stopped.
      - The option applies to all VMs of the task.
    type: str
    choices: [never, if_required]
    default: never
  preflight_quota:
    description:
      - What to do about VMs that the quotas and limit ranges of their namespaces do not let run, as
        M(virtshape.instancetypes.capacity_info) reports it for all VMs of the task together.
      - With V(strict) the task fails before it sends anything. With V(warn) it warns. With V(off), it skips the check.
      - VMs with the run strategy V(Halted) are not counted. For a VM that runs, nothing is counted again.
    type: str
    choices: [strict, warn, 'off']
    default: 'off'
  preflight_placement:
    description:
      - What to do about VMs that find no room on the nodes, as M(virtshape.instancetypes.capacity_info) reports it.
      - With V(strict) the task fails before it sends anything. With V(warn) it warns. With V(off), it skips the check.
      - This needs the rights of that module for nodes, among them to list the pods of all namespaces.
    type: str
    choices: [strict, warn, 'off']
    default: 'off'
extends_documentation_fragment:
  - virtshape.instancetypes.virtual_machine_options
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.writes
  - virtshape.instancetypes.writes.dry_run
  - virtshape.instancetypes.declare
  - virtshape.instancetypes.declare.concurrency
  - virtshape.instancetypes.declare.fail_fast
  - virtshape.instancetypes.declare.ownership
  - virtshape.instancetypes.rendered
  - virtshape.instancetypes.attributes
"""

EXAMPLES = r"""
- name: The shortest way, where the disk says what the VM needs
  virtshape.instancetypes.virtual_machine:
    name: web
    namespace: shop
    boot: {data_source: fedora}

- name: A web server of a certain size
  virtshape.instancetypes.virtual_machine:
    name: web
    namespace: shop
    instancetype: {name: u1.medium}
    preference: {name: fedora}
    volumes:
      - name: root
        container_disk: quay.io/containerdisks/fedora:latest
    wait: true

- name: Instancetype and preference as the disk says
  virtshape.instancetypes.virtual_machine:
    name: database
    namespace: shop
    instancetype: {infer_from_volume: root}
    preference: {infer_from_volume: root}
    volumes:
      - name: root
        persistent_volume_claim: database-root

- name: A disk of its own, copied and larger, and a user who can log in
  virtshape.instancetypes.virtual_machine:
    name: build
    namespace: shop
    instancetype: {name: u1.large}
    preference: {name: rhel.9}
    volumes:
      - name: root
        import:
          data_source:
            name: rhel9
            namespace: golden-images
          size: 60Gi
          storage_class: fast
      - name: scratch
        import:
          blank: true
          size: 200Gi
    cloud_init:
      user: cloud-user
      password: "{{ vaulted_password }}"
      ssh_keys:
        - "{{ lookup('ansible.builtin.file', '~/.ssh/id_ed25519.pub') }}"
    access_credentials:
      - secret: team-keys

- name: A larger size, immediately
  virtshape.instancetypes.virtual_machine:
    name: web
    namespace: shop
    instancetype: {name: u1.large}
    preference: {name: fedora}
    volumes:
      - name: root
        container_disk: quay.io/containerdisks/fedora:latest
    restart: if_required

- name: A VM of a template in the cluster
  virtshape.instancetypes.virtual_machine:
    name: report
    namespace: shop
    from_template:
      name: rhel9
      namespace: golden-images
      parameters: {INSTANCETYPE: u1.large}

- name: Three alike in one task
  virtshape.instancetypes.virtual_machine:
    namespace: shop
    instancetype: {name: u1.small}
    preference: {name: fedora}
    volumes:
      - name: root
        container_disk: quay.io/containerdisks/fedora:latest
    virtual_machines:
      - name: worker-1
      - name: worker-2
      - name: worker-3
        run_strategy: Halted

- name: Manifests for Git, without a connection
  virtshape.instancetypes.virtual_machine:
    state: rendered
    namespace: shop
    instancetype: {name: u1.small}
    preference: {name: fedora}
    volumes:
      - name: root
        container_disk: quay.io/containerdisks/fedora:latest
    virtual_machines:
      - name: worker-1
      - name: worker-2
    dest: "{{ playbook_dir }}/manifests"

- name: Delete the VMs of a branch
  virtshape.instancetypes.virtual_machine:
    state: absent
    namespace: shop
    label_selectors: [branch=feature-7]

- name: Find the VMs of an old instancetype
  virtshape.instancetypes.virtual_machine_info:
    namespace: shop
    instancetype: u1.small
  register: old

- name: Delete what was found
  virtshape.instancetypes.virtual_machine:
    state: absent
    virtual_machines: "{{ old.virtual_machines }}"
"""

RETURN = r"""
msg:
  description: Number of objects that were created, changed, deleted and unchanged; on failure the failed objects with
    their reasons.
  returned: always
  type: str
  sample: "3 virtual machines: 1 created, 2 unchanged"
cluster:
  description: Address of the API server.
  returned: unless O(state=rendered)
  type: str
  sample: https://api.example.com:6443
results:
  description: One entry for each object, in the order given, with the keys of
    RV(virtshape.instancetypes.instancetype#module:results), and these.
  returned: always
  type: list
  elements: dict
  contains:
    taken_over:
      description: Whether the task changes only the owner of fields. All values are already as declared, and
        O(field_manager) becomes an owner of the fields.
      type: bool
      returned: when it is so
    retained:
      description: Objects that remain when the VM is deleted - claims that the VM does not own - with C(kind) and
        C(name).
      type: list
      elements: dict
      returned: when there is any
      sample:
        - kind: PersistentVolumeClaim
          name: database-root
    needs:
      description: What the change needs to reach the running guest - V(nothing), V(live_update), V(restart) or
        V(unknown). A VM without a guest needs V(nothing). A guest that waits for a node counts, because KubeVirt asks
        for its restart.
      type: str
      returned: when the VM existed and is changed
      sample: restart
    restart_reason:
      description: Why the guest needs a restart, in KubeVirt's words if it asks for one.
      type: str
      returned: when RV(results[].needs) is V(restart)
      sample: a non-live-updatable field was changed in the template spec
    guest_before:
      description: vCPUs, memory and devices of the guest before the change.
      type: dict
      returned: when the VM existed and its spec is changed
      sample: {vcpus: 1, sockets: 1, cores: 1, threads: 1, memory: 2Gi}
    guest_after:
      description: vCPUs, memory and devices of the guest after the change, and after the restart if the change needs
        one.
      type: dict
      returned: when the VM existed and its spec is changed
      sample: {vcpus: 2, sockets: 2, cores: 1, threads: 1, memory: 4Gi}
    changes:
      description: All fields of the VMI's spec that change when the VM is expanded with its instancetype and
        preference, each with C(field), C(before) and C(after). Changes that wait for a restart since an earlier run are
        included. Values that may be secret are hidden.
      type: list
      elements: dict
      returned: when the VM existed and is changed
      sample:
        - field: domain.memory.guest
          before: 2Gi
          after: 4Gi
    restart_required:
      description: Whether the guest needs a restart to match the VM. In check mode, and without O(wait) and O(restart),
        the collection predicts the value for a changed VM. Otherwise the value is that of KubeVirt, unless the guest
        already matches the VM. False for a VM that is, or would be, restarted or stopped.
      type: bool
      returned: when it exists
    restarted:
      description: Whether the VM was restarted, or would be in check mode.
      type: bool
      returned: when it exists
    grown_disks:
      description: The claims that grew, or would grow in check mode, with C(name), C(before) and C(after).
      type: list
      elements: dict
      returned: when disks grow
    will_run:
      description: Whether quotas and nodes let the VM run, with C(evaluated), C(fits) and C(problem), the missing
        resources or why there is no answer. A task that fails because of them returns an entry for each VM, too.
      type: dict
      returned: with O(preflight_quota) or O(preflight_placement), for VMs that are to run
      sample: {evaluated: true, fits: false, problem: ResourceQuota team lacks 2.25Gi of requests.memory}
    choice:
      description: What was chosen for O(workload) - C(boot), C(preference) and C(instancetype) as options of this
        module, C(reasons) with one line each, C(others) with the names of the DataSources (C(boot)) and instancetypes
        (C(instancetype)) that would also do, and C(rejected) with why other instancetypes of the class and size would
        not. If the VM keeps what was chosen earlier, C(reasons) and up to ten C(others) are those of then, and
        C(rejected) is missing. The filter P(virtshape.instancetypes.explain#filter) shows them too.
      type: dict
      returned: with O(workload)
      sample:
        boot: {data_source: golden-images/fedora}
        preference: {name: fedora, kind: VirtualMachineClusterPreference}
        instancetype: {name: u1.small, kind: VirtualMachineClusterInstancetype}
        reasons: ["instancetype u1.small: is the default instancetype of the DataSource golden-images/fedora"]
        others: {boot: [], instancetype: []}
        rejected: {}
    sizes:
      description: Whether the VM is V(named) or V(expanded).
      type: str
      returned: with O(sizes)
    from_template:
      description: The template of the VM, with C(name), C(namespace), C(parameters), the values of all parameters by
        name, and C(message), what the template says to users of its VMs.
      type: dict
      returned: with O(from_template), if the template exists
      sample:
        name: rhel9
        namespace: golden-images
        parameters: {NAME: report, INSTANCETYPE: u1.medium}
        message: Log in to report as cloud-user.
    status: {description: Printable status of the VM., type: str, returned: when it exists, sample: Running}
    run_strategy: {description: Run strategy of the VM., type: str, returned: when it exists}
    instancetype_revision:
      description: Name of the ControllerRevision with the VM's copy of the instancetype.
      type: str
      returned: once it is captured
    preference_revision:
      description: Name of the ControllerRevision with the VM's copy of the preference.
      type: str
      returned: once it is captured
rendered:
  description: The manifests that the task would send for new objects, in the order given, without managed fields.
    Values that may be secret are hidden.
  returned: with O(state=rendered)
  type: list
  elements: dict
files:
  description: Paths of the files with the manifests, changed or not.
  returned: with O(state=rendered) and O(dest)
  type: list
  elements: str
result:
  description: The only entry of RV(results).
  returned: when O(name) is set
  type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources.cluster.vm_boot_sources import (
    BootSources,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.cluster.vm_capacity import Capacity
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.virtual_machine import module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._git.cluster.rendered_state import RENDERED
from ansible_collections.virtshape.instancetypes.plugins.module_utils._governance.cluster.vm_extension import Governance
from ansible_collections.virtshape.instancetypes.plugins.module_utils._sizes.cluster.vm_sizes import Sizes
from ansible_collections.virtshape.instancetypes.plugins.module_utils._templates.cluster.vm_templates import Templates
from ansible_collections.virtshape.instancetypes.plugins.module_utils._vm_options import VM_OPTIONS

MODULE = module(
    VM_OPTIONS,
    (
        Templates,
        BootSources,
        Sizes,
        Capacity,
        Governance,
    ),
    (RENDERED,),
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
