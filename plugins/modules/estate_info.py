#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: estate_info
short_description: Read the machines of vSphere, OpenStack, Proxmox or KubeVirt
version_added: 1.0.0
description:
  - Reads the machines of a platform, from its exports or from its API, into one list that is the same for all of them.
    The filter P(virtshape.instancetypes.estate#filter) proposes instancetypes for it.
  - Templates, placeholders, containers and vSphere's own agents are no machines. A machine whose CPUs or memory cannot
    be read is left out, with a remark that names row and column.
  - What the source does not tell is absent.
author: virtshape.instancetypes contributors (@virtshape)
options:
  source:
    description:
      - A file, a folder or an address.
      - RVTools - the spreadsheet, the folder of its CSV files, or a folder with several exports.
      - OpenStack - a folder with what C(openstack server list --long -f json), C(flavor list --long -f json),
        C(image list --long -f json) and C(volume list --long -f json) print, one file for each, or V(cloud:NAME) for a
        cloud of C(clouds.yaml).
      - Proxmox - a folder with files of C(/etc/pve) or with the JSON of C(pvesh get), or V(https://HOST:8006).
      - vSphere - V(https://VCENTER).
      - KubeVirt - files with manifests or with tasks of C(kubevirt_vm) or C(k8s) of any collection, or V(cluster) for
        the VMs of the cluster that the options of authentication name.
    type: str
    required: true
  kind:
    description: The platform. With V(auto), the files or the address tell it.
    type: str
    choices: [auto, rvtools, vsphere, openstack, proxmox, kubevirt]
    default: auto
  attributes:
    description: Further columns of the sheet vInfo, such as those of custom attributes, to take as C(tags).
    type: list
    elements: str
    default: []
  objects:
    description: Manifests of instancetypes and preferences that VMs in files name, besides those in the files.
    type: list
    elements: dict
    default: []
  namespace:
    description: With the source V(cluster), the namespace of the VMs. Default is all namespaces.
    type: str
  existing:
    description:
      - Whether to return the VMs of the cluster that the options of authentication name too, so that the filter
        P(virtshape.instancetypes.estate#filter) gives no name that a VM has, and each machine the name that its VM has.
      - Also returns the names of namespaces and storage classes, so that rules of the estate which name others are
        errors.
      - Without the right to list one of these, a warning says so.
    type: bool
    default: false
  source_username:
    description: User of vSphere, or user of Proxmox such as V(root@pam), with V(!NAME) of a token after it.
    type: str
  source_password:
    description: Password of the user, or the secret of the token.
    type: str
  source_ca_cert:
    description: File with the certificate authority of vSphere or Proxmox.
    type: path
  source_validate_certs:
    description: Whether to check the certificate of vSphere or Proxmox.
    type: bool
    default: true
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.attributes
requirements:
  - python-calamine for spreadsheets
  - pyvmomi for vSphere
  - openstacksdk for OpenStack
  - proxmoxer and requests for Proxmox
seealso:
  - plugin: virtshape.instancetypes.estate
    plugin_type: filter
    description: The proposal for these machines.
"""

EXAMPLES = r"""
- name: Read VMs that are declared with CPU and memory of their own
  virtshape.instancetypes.estate_info:
    source: "{{ playbook_dir }}/manifests"
  register: found

- name: Show what could not be read
  ansible.builtin.debug:
    msg: "{{ found.remarks }}"

- name: Read a vCenter
  virtshape.instancetypes.estate_info:
    source: https://vcenter.example.com
    source_username: reader@vsphere.local
    source_password: "{{ vaulted_password }}"
  register: found

- name: Read the VMs of the cluster
  virtshape.instancetypes.estate_info:
    source: cluster
    namespace: shop
  register: found
"""

RETURN = r"""
kind:
  description: The platform.
  type: str
  returned: always
  sample: rvtools
machines:
  description:
    - The machines in the order of the source. Keys that the source does not tell are absent; amounts are bytes.
    - C(id) (for KubeVirt NAMESPACE/NAME; the name if the source has no ID), C(source) (the UUID of the vCenter, whose
      IDs are its own), C(name), C(folder), C(power) (V(on), V(off), V(suspended)), C(vcpus), C(cores_per_socket),
      C(memory), C(firmware) (V(bios), V(efi)), C(secure_boot), C(tpm), C(uuid), C(hugepages), C(fault_tolerance),
      C(tags), and for VMs of KubeVirt the names C(instancetype) and C(preference).
    - C(guest) has what the source says of the system - C(id), C(text), C(distro), C(version).
    - C(reserved) has C(cpu), whether all CPUs are reserved or pinned, and C(memory). C(hot_add) has C(cpu) and
      C(memory), whether they can be added. C(passthrough) lists devices of the host, C(not_brought) what else no VM
      gets.
    - C(disks) have C(id) (of an OpenStack volume), C(name), C(size), C(storage), C(path), C(thin), C(mode),
      C(controller), C(shared), C(raw); C(nics) have C(network), C(mac), C(model), C(connected).
  type: list
  elements: dict
  returned: always
  sample: [{id: vm-1, name: web, vcpus: 2, memory: 8589934592, firmware: efi, guest: {text: Ubuntu Linux (64-bit)}}]
remarks:
  description: What could not be read, with its place, one line each. The first thousand.
  type: list
  elements: str
  returned: always
  sample: ["vInfo row 7, column CPUs: 'four' is not a whole number; the machine 'web' is left out"]
existing:
  description: VMs of the cluster with C(name), C(namespace), C(instancetype), and C(id), C(source_name), C(assignment)
    from the annotations that the filter P(virtshape.instancetypes.estate#filter) proposes. Without the right to list
    them, null.
  type: list
  elements: dict
  returned: if O(existing=true)
  sample: [{name: web, namespace: shop, id: vm-1, source_name: Web, instancetype: u1.large}]
namespaces:
  description: Names of the namespaces of the cluster. Without the right to list them, null.
  type: list
  elements: str
  returned: if O(existing=true)
  sample: [default, shop]
storage_classes:
  description: Names of the storage classes of the cluster. Without the right to list them, null.
  type: list
  elements: str
  returned: if O(existing=true)
  sample: [fast]
left_out:
  description: Number of entries that are no machines by reason - C(templates), C(placeholders), C(containers),
    C(agents of vSphere), C(deleted), C(unreadable).
  type: dict
  returned: always
  sample: {templates: 3}
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._estate.cluster.estate_info import MODULE


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
