#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: catalog
short_description: Deploy, upgrade and prune catalogs of instancetypes and preferences
version_added: 1.0.0
description:
  - Declares all objects of a catalog, or a selection of them. One process handles all objects with one list request
    per kind and namespace. An object that is already as declared costs no further request.
  - Before sending anything, the module reports new, changed and removed objects, the VMs that use them with the effect
    of a refresh, and the fields that the cluster's KubeVirt would drop. Check mode stops there.
  - The objects get the labels C(instancetypes.virtshape.io/catalog), C(instancetypes.virtshape.io/catalog-version) and
    C(app.kubernetes.io/managed-by=virtshape). By these, and by the field manager C(virtshape), a later run knows what
    it may prune. Catalogs of other names, and objects that others deployed, are never touched.
author:
  - virtshape.instancetypes contributors (@virtshape)
options:
  state:
    description:
      - Whether the selected objects must exist as in the catalog, or must not exist.
    type: str
    choices: [present, absent]
    default: present
  source:
    description:
      - Where the catalog comes from. V(builtin) is the one that comes with the collection, in the versions of
        common-instancetypes that releases of KubeVirt ship, v1.2.1, v1.3.1, v1.4.1, v1.5.1, v1.6.0 and v1.7.0. They
        are equal to these but for descriptions and display names, and need no network.
      - V(url) is a published release, or a bundle at an address.
      - V(path) is a file or directory on the controller.
      - V(definitions) are given in O(definitions).
    type: str
    choices: [builtin, url, path, definitions]
    default: builtin
  definitions:
    description:
      - Catalogs in the language that the README of the role P(virtshape.instancetypes.common_instancetypes#role)
        describes, manifests of instancetypes and preferences, and lists of them.
    type: list
    elements: dict
  path:
    description:
      - A YAML or JSON file, or a directory of such files, on the controller; looked for like the files of a play. A
        kustomize tree is to be rendered first.
    type: str
  url:
    description:
      - With O(version), the address below which releases are published; the one of common-instancetypes when it is not
        given. Without it, the address of a bundle.
    type: str
  version:
    description:
      - With O(source=url) the release to fetch, such as V(v1.7.0).
      - Otherwise the version of a catalog that lists its versions, as the built-in one does. V(auto), the default, is
        the newest that is for the cluster's release of KubeVirt, the one that this release ships; for releases
        older than 1.4 it is the oldest.
    type: str
  checksum:
    description:
      - The SHA-256 that the file must have, V(sha256:) and 64 hexadecimal digits. When it is not given, a fetched
        file is checked against the file C(CHECKSUMS.sha256) published beside it, without which it is refused.
    type: str
  download_proxy:
    description:
      - Proxy for fetching, such as V(http://proxy.example.com:3128). By default that of the environment
        (C(https_proxy), C(no_proxy)) on the host where the module runs.
    type: str
  download_ca_cert:
    description:
      - File with the certificates to trust when fetching; those of the system when it is not given.
    type: path
  download_timeout:
    description:
      - Seconds during which a download is tried again.
    type: int
    default: 60
  cache_dir:
    description:
      - Where fetched files are kept, by checksum. A file that is there is not fetched again.
    type: path
    default: ~/.cache/virtshape/catalogs
  other_kinds:
    description:
      - What to do with manifests that are neither instancetype nor preference.
    type: str
    choices: [fail, skip]
    default: fail
  kinds:
    description:
      - Deploy only these of the two.
    type: list
    elements: str
    choices: [instancetype, preference]
    default: [instancetype, preference]
  instancetypes:
    description:
      - Names of instancetypes. Like O(preferences), O(series), O(sizes), O(classes), O(os) and O(architectures) a
        list of names or shell patterns such as V(rt*); an empty list is for all, and a pattern that fits nothing is
        an error.
    type: list
    elements: str
    default: []
  preferences:
    description:
      - Names of preferences.
    type: list
    elements: str
    default: []
  series:
    description:
      - Series of instancetypes, what comes before the last dot of their names.
    type: list
    elements: str
    default: []
  sizes:
    description:
      - Sizes of instancetypes, what comes after the last dot of their names.
    type: list
    elements: str
    default: []
  classes:
    description:
      - Classes of instancetypes, as the label C(instancetype.kubevirt.io/class) has them.
    type: list
    elements: str
    default: []
  os:
    description:
      - Operating systems of preferences, as the label C(instancetype.kubevirt.io/os-type) has them.
    type: list
    elements: str
    default: []
  architectures:
    description:
      - Architectures of preferences. A preference without architecture is for all of them.
    type: list
    elements: str
    default: []
  label_selectors:
    description:
      - Label selectors that all objects must match, such as V(team in (a, b\)).
    type: list
    elements: str
    default: []
  deprecated:
    description:
      - Whether to take objects that their catalog labels with C(instancetype.kubevirt.io/deprecated=true).
    type: str
    choices: [include, exclude, only]
    default: include
  namespaces:
    description:
      - Namespaces to deploy to, with the namespaced kinds. They must exist. Without any, the objects are cluster-wide.
    type: list
    elements: str
    default: []
    aliases: [namespace]
  catalog:
    description:
      - Name of the catalog, by which several live side by side. V(common) by default for the built-in catalog and for
        releases, else V(custom). Needed where something of another catalog than these is to be pruned.
    type: str
  catalog_version:
    description:
      - Version to record. By default that of the release, or the one that the objects are labelled with.
    type: str
  labels:
    description:
      - Labels for all objects besides their own.
    type: dict
    default: {}
  name_prefix:
    description:
      - Text to put in front of all names.
    type: str
    default: ""
  existing:
    description:
      - What to do with existing objects that this collection never declared. With V(apply) the task declares them like
        all others, with V(keep) it leaves them as they are. The task always leaves objects alone that C(virt-operator)
        manages.
    type: str
    choices: [apply, keep]
    default: apply
  prune:
    description:
      - What to do with objects of this catalog, in the same O(namespaces) or cluster-wide, that are selected no more.
        V(never) keeps them, V(unused) deletes those that no VM names, V(always) deletes all.
      - Only objects are deleted that have the label of this catalog and that the field manager C(virtshape) applied,
        never those that C(virt-operator) manages. Nothing is deleted when a wanted object failed, or when it is not
        known whether VMs use it.
    type: str
    choices: [never, unused, always]
    default: never
  force:
    description:
      - With O(state=absent), whether to delete objects that VMs use.
    type: bool
    default: false
  on_lost_fields:
    description:
      - What to do when the cluster's KubeVirt does not know fields of an object, or a CPU topology. An API server
        drops such fields without a word; a topology that is not known gives every VM a single vCPU.
      - Preferences for another architecture than that of the cluster's VMs are deployed without these fields, and
        never fail.
      - With V(fail) nothing is sent. With V(warn) the objects are deployed without these fields and a warning says
        which and what that does to a VM. With V(ignore) only the result says it.
    type: str
    choices: [fail, warn, ignore]
    default: fail
  concurrency:
    description:
      - Maximum number of concurrent requests, from 1 to 256.
    type: int
    default: 16
  preflight:
    description:
      - With V(strict) the deletion of an object that VMs use fails unless O(force) is set, with V(warn) it is a
        warning, with V(off) nothing is checked.
    type: str
    choices: [strict, warn, 'off']
    default: strict
  fail_fast:
    description:
      - Whether to stop the task at the first object that fails. By default the task handles all other objects and then
        fails.
    type: bool
    default: false
  force_conflicts:
    description:
      - Whether to take over fields that another field manager owns. By default such a field is an error that names the
        manager.
    type: bool
    default: false
  take_over:
    description:
      - Field managers whose share of the catalog's fields is taken over, as a list, or V(true) for those of tools that
        make an object and do not look after it. See M(virtshape.instancetypes.instancetype).
    type: raw
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.requests
  - virtshape.instancetypes.on_failure
  - virtshape.instancetypes.dry_run
  - virtshape.instancetypes.attributes
notes:
  - V(builtin) and O(path) are read on the controller, and sent to the module with its options.
"""

EXAMPLES = r"""
- name: Offer the common instancetypes and preferences to the whole cluster
  virtshape.instancetypes.catalog:

- name: See what the version for another release of KubeVirt would change, and for which VMs
  virtshape.instancetypes.catalog:
    version: v1.4.1
  check_mode: true

- name: See what the next release would change, and for which VMs
  virtshape.instancetypes.catalog:
    source: url
    version: v1.7.0
  check_mode: true
  register: upgrade

- name: Upgrade, and remove what is gone and no VM uses
  virtshape.instancetypes.catalog:
    source: url
    version: v1.7.0
    prune: unused

- name: A company's own catalog beside it
  virtshape.instancetypes.catalog:
    source: path
    path: catalogs/acme.yml
    catalog: acme
    catalog_version: "2026.11"
    prune: unused

- name: Some of the common catalog in two namespaces
  virtshape.instancetypes.catalog:
    namespaces: [shop, office]
    series: [u1, rt*]
    os: [windows]
    deprecated: exclude
    name_prefix: common.
"""

RETURN = r"""
msg:
  description: What became of the catalog, on one line; on failure which objects failed and why.
  returned: always
  type: str
catalog:
  description: Name of the catalog.
  returned: when the cluster was asked
  type: str
catalog_version:
  description: The version that the objects are labelled with.
  returned: when the cluster was asked
  type: str
version_reason:
  description: Why the module chose this version of the catalog, empty for a requested version.
  returned: when the cluster was asked
  type: str
checksums:
  description: The SHA-256 of each fetched file, by address.
  returned: when the cluster was asked
  type: dict
notes:
  description: Notes about reading the catalog, such as objects that were converted from an older API version.
  returned: when the cluster was asked
  type: list
  elements: str
counts:
  description:
    - Numbers of C(instancetypes) and C(preferences) that were selected, of objects C(created), C(changed),
      C(unchanged), C(kept) as they were, C(deleted), C(taken_over) and
      C(failed), and of those C(gone) from the catalog that stay.
  returned: when the cluster was asked
  type: dict
results:
  description:
    - What became of each object, in the order of the catalog, then of those that were pruned, with C(kind), C(name),
      C(namespace), C(action), C(changed), C(failed), C(msg), C(left) (why it was left alone) and C(warnings).
  returned: when the cluster was asked
  type: list
  elements: dict
upgrade:
  description: What the run changes of what was deployed; in check mode what it would change.
  returned: when the cluster was asked
  type: dict
  contains:
    new:
      description: Objects that did not exist, with C(kind), C(name) and C(namespace).
      type: list
      elements: dict
      returned: always
    changed:
      description:
        - Objects whose spec changes, with C(changes) (C(field), C(before), C(after)) and C(used_by), the VMs that
          name them.
      type: list
      elements: dict
      returned: always
    gone:
      description:
        - Objects of the catalog that are wanted no more, with C(used_by), C(pruned), and C(kept), why they stay.
      type: list
      elements: dict
      returned: always
virtual_machines:
  description:
    - The VMs that use what changes or is gone, with C(name), C(namespace), C(uses) (objects with C(what), V(changed)
      or V(gone)), C(states) (as M(virtshape.instancetypes.controller_revision_info) has them), C(guest_before),
      C(guest_after), C(changes), C(needs) (V(nothing), V(live_update) or V(restart)) and C(refusal).
  returned: when the cluster was asked
  type: list
  elements: dict
lost_fields:
  description:
    - Objects that the cluster's KubeVirt does not fully know, with C(fields), C(effects) on a VM (C(field), C(before),
      C(after)) and C(text).
  returned: when the cluster was asked
  type: list
  elements: dict
deployed_versions:
  description:
    - How many objects of the catalog have each version, C(before) and C(after). More than one version means that a
      run did not come through, or that objects were kept.
  returned: when the cluster was asked
  type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.catalog import (
    run_catalog,
)


def main() -> None:
    run_catalog()


if __name__ == "__main__":
    main()
