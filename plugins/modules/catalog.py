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
  - Declares all objects of a catalog, or a selection of them. One process handles all objects with one list request per
    kind and namespace. An object that is already as declared costs no further request.
  - Before sending anything, the module reports new, changed and removed objects, the VMs that use them with the effect
    of a refresh, and the fields that the cluster's KubeVirt would drop. Check mode then asks the server by dry runs
    (O(server_dry_run)).
  - The objects get the labels C(instancetypes.virtshape.io/catalog), C(instancetypes.virtshape.io/catalog-version) and
    C(app.kubernetes.io/managed-by=virtshape). A later run prunes only objects with these labels and the field manager
    C(virtshape). The module never changes catalogs of other names, nor prunes objects that others deployed.
author: virtshape.instancetypes contributors (@virtshape)
options:
  state:
    description: Whether the selected objects must exist as in the catalog, or must not exist.
    type: str
    choices: [present, absent]
    default: present
  source:
    description:
      - Source of the catalog. V(builtin) is the catalog of the collection, in the versions of common-instancetypes that
        releases of KubeVirt ship, v1.2.1, v1.3.1, v1.4.1, v1.5.1, v1.6.0 and v1.7.0, in the versions v1.0.0 to
        v1.0.2, v1.1.0 and v1.1.1, and in previews of v1.7.1 and v1.8.0. Only descriptions and display names differ
        from these. It needs no network.
      - V(url) is a published release, or a bundle at an address.
      - V(path) is a file or directory on the controller.
      - V(definitions) is the content of O(definitions).
    type: str
    choices: [builtin, url, path, definitions]
    default: builtin
  definitions:
    description: Catalogs in the language that the README of the role
      P(virtshape.instancetypes.common_instancetypes#role) describes, manifests of instancetypes and preferences, and
      lists of these. Only valid with O(source=definitions).
    type: list
    elements: dict
  _places:
    description: Where each of O(definitions) comes from; the action plugin sets it for messages.
    type: list
    elements: str
  path:
    description: A YAML or JSON file, or a directory of such files, on the controller, found like the files of a play.
      A directory with a C(kustomization.yaml) is rendered, with C(kustomize) or else C(kubectl) of the controller. Only
      valid with O(source=path).
    type: str
  url:
    description:
      - With O(version), the base address of releases, by default that of common-instancetypes. Without O(version), the
        address of a bundle. Only valid with O(source=url).
      - Or a folder with a C(kustomization.yaml) in a Git repository and a tag or commit, as C(kustomize) takes them,
        such as V(https://github.com/kubevirt/common-instancetypes//?ref=v1.7.0). C(kustomize) or else C(kubectl) of the
        controller renders it; both need C(git).
    type: str
  version:
    description:
      - With O(source=url) the release to fetch, such as V(v1.7.0).
      - Otherwise the version of a catalog that lists versions, such as the built-in catalog. V(auto), the default, is
        the newest version for the cluster's release of KubeVirt, without previews.
    type: str
  checksum:
    description: The SHA-256 of the file, as V(sha256:) and 64 hexadecimal digits. By default the module checks a
      download against the file C(CHECKSUMS.sha256) in the same place, and fails without it.
    type: str
  download_proxy:
    description: Proxy for downloads, such as V(http://proxy.example.com:3128). Default is the environment
      (C(https_proxy), C(no_proxy)) of the host where the module runs.
    type: str
  download_ca_cert:
    description: File with the certificates to trust for downloads. Default is the certificates of the system.
    type: path
  download_timeout:
    description: Seconds during which the module retries a failed download.
    type: int
    default: 60
  cache_directory:
    description: Folder of downloads, by checksum. The module does not download a file again that is in this folder.
    type: path
    default: ~/.cache/virtshape/catalogs
  other_kinds:
    description: What to do with manifests that are neither instancetype nor preference.
    type: str
    choices: [fail, skip]
    default: fail
  kinds:
    description: Kinds to deploy.
    type: list
    elements: str
    choices: [instancetype, preference]
    default: [instancetype, preference]
  instancetypes:
    description: Names of instancetypes. Like O(preferences), O(series), O(sizes), O(classes), O(os) and
      O(architectures) a list of names or shell patterns such as V(rt*); an empty list selects all, and a pattern
      without a match is an error.
    type: list
    elements: str
    default: []
  preferences:
    description: Names of preferences.
    type: list
    elements: str
    default: []
  series:
    description: Series of instancetypes, the part of the name before the last dot.
    type: list
    elements: str
    default: []
  sizes:
    description: Sizes of instancetypes, the part of the name after the last dot.
    type: list
    elements: str
    default: []
  classes:
    description: Classes of instancetypes, from the label C(instancetype.kubevirt.io/class).
    type: list
    elements: str
    default: []
  os:
    description: Operating systems of preferences, from the label C(instancetype.kubevirt.io/os-type).
    type: list
    elements: str
    default: []
  architectures:
    description: Architectures of preferences. A preference without an architecture is for all architectures.
    type: list
    elements: str
    default: []
  label_selectors:
    description: Label selectors that all objects must match, such as V(team in (a, b\)).
    type: list
    elements: str
    default: []
  deprecated:
    description: Whether to select deprecated and obsolete objects.
    type: str
    choices: [include, exclude, only]
    default: include
  namespaces:
    description: Existing namespaces to deploy the namespaced kinds to. Default is to deploy the cluster-wide kinds.
    type: list
    elements: str
    default: []
    aliases: [namespace]
  catalog:
    description: Name of the catalog, to tell several catalogs apart. Default is V(common) for the built-in catalog and
      for releases, else V(custom). Required to prune another catalog than these.
    type: str
  catalog_version:
    description: Version label of the objects. Default is the version of the release, or the version label in the
      catalog.
    type: str
  labels:
    description: Additional labels for all objects.
    type: dict
    default: {}
  name_prefix:
    description: Prefix for all names.
    type: str
    default: ""
  prune:
    description:
      - What to do with objects of this catalog, in the same O(namespaces) or cluster-wide, that the selection no longer
        contains. V(never) keeps them, V(unused) deletes objects that no VM or pool names, V(always) deletes all.
      - The module deletes only objects that have the label of this catalog and that the field manager C(virtshape)
        applied, never objects that C(virt-operator) manages. It deletes nothing if an object of the catalog failed or,
        with V(unused), if the user may not list VMs and pools.
    type: str
    choices: [never, unused, always]
    default: never
  wait_timeout:
    description:
      - Seconds to wait until the API server judges by limits that the task has changed. It learns of them about a
        second after they are stored. Until then the next task would be judged by the old limits.
      - The task sends dry runs of an instancetype in one of the limits' namespaces, until three answers in a row are
        those of the new limits. Of several API servers, each learns of a limit by itself.
      - Limits that concern no existing namespace, and those with the action V(audit), do not show. Without the right to
        create instancetypes in the namespace, a warning says that the task cannot tell.
    type: int
    default: 120
  lost_fields:
    description:
      - What to do if the cluster's KubeVirt does not know a field or a CPU topology of an object. The API server drops
        unknown fields silently; an unknown topology gives every VM a single vCPU.
      - Preferences for another architecture than that of the cluster's VMs are deployed without these fields, and never
        fail.
      - With V(fail) the task fails before it sends anything. With V(warn) the task deploys the objects without these
        fields, and a warning names the fields and their effect on VMs. With V(ignore) only the result has them.
    type: str
    choices: [fail, warn, ignore]
    default: fail
  limits:
    description:
      - What VMs of some namespaces may have. Each limit becomes a ValidatingAdmissionPolicy with its binding, by which
        the API server judges VMs, VMIs and the instancetypes of namespaces, whoever writes them. Needs Kubernetes 1.30
        or later and the rights to write these kinds.
      - The list is the whole of the catalog's limits. The task deletes those that the list no longer has; an empty list
        deletes all, and without the option they stay as they are. O(state=absent) with a list deletes all, too.
      - A limit permits instancetypes and preferences that the cluster has after the task. Run the task again after
        other catalogs have changed.
      - What a VM had before stays permitted. A change of it is judged by what it sets.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the limit, for messages. The policy is called C(NAME.limits.instancetypes.virtshape.io).
        type: str
        required: true
      namespaces:
        description: Namespaces in which the limit applies. Default is all.
        type: list
        elements: str
      namespace_labels:
        description: Labels of the namespaces in which the limit applies.
        type: dict
      except_namespaces:
        description: Namespaces in which the limit does not apply.
        type: list
        elements: str
      instancetypes:
        description: Names of the permitted cluster-wide instancetypes, or shell patterns. With this, O(limits[].series)
          or O(limits[].classes), the instancetypes of a namespace itself are not permitted.
        type: list
        elements: str
      series:
        description: Permitted series, the part of the name before the last dot.
        type: list
        elements: str
      classes:
        description: Permitted classes, from the label C(instancetype.kubevirt.io/class).
        type: list
        elements: str
      preferences:
        description: Names of the permitted cluster-wide preferences, or shell patterns. Those of a namespace itself are
          then not permitted.
        type: list
        elements: str
      require:
        description: What a VM must have. V(instancetype) leaves no VM with sizes of its own.
        type: list
        elements: str
        choices: [instancetype, preference]
      max_cpu:
        description: The most vCPUs of an instancetype, and of a VM without one (C(cpu) and C(resources)).
        type: int
      max_memory:
        description: The most memory of an instancetype, and of a VM without one (C(memory) and C(resources)).
        type: str
      gpus:
        description: Whether GPUs are permitted.
        type: bool
        default: true
      host_devices:
        description: Whether host devices are permitted.
        type: bool
        default: true
      action:
        description: What the API server does about a violation. V(deny) refuses the object, V(warn) sends the client a
          warning, V(audit) adds an annotation to the event in the audit log.
        type: str
        choices: [deny, warn, audit]
        default: deny
  common_instancetypes_deployment:
    description:
      - What to do about C(virt-operator), which deploys the common instancetypes, too, unless
        C(spec.configuration.commonInstancetypesDeployment) of the KubeVirt object disables this.
      - With V(keep) the task does not change the KubeVirt object, and leaves alone what C(virt-operator) manages. With
        V(fail) the task fails if C(virt-operator) deploys them.
      - With V(disable) the task sets the field, waits up to 120 seconds until C(virt-operator) has deleted its objects,
        and then deploys. VMs keep their captured copies meanwhile.
      - With V(enable) the task sets the field, and deploys nothing. C(virt-operator) replaces objects of the same
        names.
    type: str
    choices: [keep, fail, enable, disable]
    default: keep
  preflight:
    description: With V(strict) the deletion of an object that VMs use fails unless O(force) is set. With V(warn) the
      deletion causes a warning. With V(off) the task checks nothing.
    type: str
    choices: [strict, warn, 'off']
    default: strict
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.writes
  - virtshape.instancetypes.writes.existing
  - virtshape.instancetypes.writes.dry_run
  - virtshape.instancetypes.declare.concurrency
  - virtshape.instancetypes.declare.fail_fast
  - virtshape.instancetypes.declare.ownership
  - virtshape.instancetypes.attributes
notes:
  - The controller reads V(builtin) and O(path), and sends them to the module with its options.
"""

EXAMPLES = r"""
- name: Offer the common instancetypes and preferences to the whole cluster
  virtshape.instancetypes.catalog:

- name: Leave them to virt-operator
  virtshape.instancetypes.catalog:
    common_instancetypes_deployment: enable

- name: See what the version for another release of KubeVirt would change, and for which VMs
  virtshape.instancetypes.catalog:
    version: v1.4.1
  check_mode: true

- name: Upgrade, and remove what is gone and no VM uses
  virtshape.instancetypes.catalog:
    source: url
    version: v1.7.0
    prune: unused

- name: A company's own catalog in addition
  virtshape.instancetypes.catalog:
    source: path
    path: catalogs/acme.yml
    catalog: acme
    catalog_version: "2026.11"
    prune: unused

- name: Large machines and GPUs only where they are paid for
  virtshape.instancetypes.catalog:
    limits:
      - name: standard
        namespace_labels: {tier: standard}
        classes: [general.purpose, memory.intensive]
        max_cpu: 8
        max_memory: 32Gi
        require: [instancetype]
      - name: no-gpus-outside-the-lab
        except_namespaces: [lab]
        gpus: false
        host_devices: false
        action: warn
      - name: known-systems
        namespace_labels: {tier: standard}
        preferences: [rhel.*, fedora, windows.*]
        require: [preference]
        action: audit

- name: Some of the common catalog in two namespaces
  virtshape.instancetypes.catalog:
    namespaces: [shop, office]
    series: [u1, rt*]
    os: [windows]
    deprecated: exclude
    name_prefix: common.
"""

RETURN = r"""
common_instancetypes_deployment:
  description: Whether C(virt-operator) deploys the common instancetypes afterwards (C(enabled), null if the KubeVirt
    object cannot be read), and whether the task C(changed) that.
  returned: success
  type: dict
  sample: {enabled: false, changed: true}
msg:
  description: Summary on one line; on failure the failed objects with their reasons.
  returned: always
  type: str
catalog:
  description: Name of the catalog.
  returned: when the cluster was asked
  type: str
catalog_version:
  description: Version label of the objects.
  returned: when the cluster was asked
  type: str
version_reason:
  description: Why the module chose this version of the catalog, empty for a requested version.
  returned: when the cluster was asked
  type: str
kubevirt_version:
  description: Version of the cluster's KubeVirt, empty if it is unknown.
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
deprecated_objects:
  description: The deprecated and obsolete objects, with C(kind), C(namespace), C(name), C(state), C(replacement),
    C(obsolete_from), C(problems) of the replacement, and C(changes) (C(field), C(before), C(after)) of the VMI spec of
    a VM that moves to the replacement.
  returned: when the cluster was asked
  type: list
  elements: dict
counts:
  description: Numbers of selected C(instancetypes) and C(preferences), of objects C(created), C(changed), C(unchanged),
    C(kept) without a change, C(deleted), C(taken_over) and C(failed), and of objects C(gone) from the catalog that
    stay.
  returned: when the cluster was asked
  type: dict
results:
  description: One entry for each object in the order of the catalog, then for each pruned object, with C(kind),
    C(name), C(namespace), C(action), C(changed), C(failed), C(msg), C(skip_reason), C(warnings), and C(taken_over),
    C(taken_over_from) and C(owned_by_others) as in M(virtshape.instancetypes.instancetype).
  returned: when the cluster was asked
  type: list
  elements: dict
limits:
  description: One entry for each policy and binding of O(limits), with C(kind), C(name), C(action), C(changed),
    C(failed) and C(msg); empty without the option.
  returned: when the cluster was asked
  type: list
  elements: dict
catalog_changes:
  description: Changes of the deployed catalog, also in check mode.
  returned: when the cluster was asked
  type: dict
  contains:
    new:
      description: Objects that did not exist, with C(kind), C(name) and C(namespace).
      type: list
      elements: dict
      returned: always
    changed:
      description: Objects whose spec changes, with C(changes) (C(field), C(before), C(after)) and C(used_by), the VMs
        that name them.
      type: list
      elements: dict
      returned: always
    gone:
      description: Objects of the catalog that the selection no longer contains, with C(used_by), C(pruned), and
        C(keep_reason), why they stay.
      type: list
      elements: dict
      returned: always
virtual_machines:
  description: The VMs that use a changed or gone object, with C(name), C(namespace), C(uses) (objects with C(status),
    V(changed) or V(gone)), C(states) (as in M(virtshape.instancetypes.virtual_machine_info)), C(guest_before),
    C(guest_after), C(changes), C(needs) (V(nothing), V(live_update), V(restart) or V(unknown)) and C(refusal).
  returned: when the cluster was asked
  type: list
  elements: dict
lost_fields:
  description: Objects that the cluster's KubeVirt does not fully know, with C(fields), C(effects) on a VM (C(field),
    C(before), C(after)) and C(text).
  returned: when the cluster was asked
  type: list
  elements: dict
deployed_versions:
  description: Number of objects of each version of the catalog, C(before) and C(after). More than one version means an
    incomplete run, or kept objects.
  returned: when the cluster was asked
  type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._catalog_conversions import CONVERSIONS
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.catalog import module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._conversion.deprecated import deprecated_fields
from ansible_collections.virtshape.instancetypes.plugins.module_utils._governance.cluster.catalog_limits import (
    LIMITS,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._matrix.cluster.additions import catalog_notes

MODULE = module(
    extension=LIMITS,
    conversions=CONVERSIONS,
    checks=(deprecated_fields,),
    judges=(catalog_notes,),
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
