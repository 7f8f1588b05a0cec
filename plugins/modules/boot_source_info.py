#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: boot_source_info
short_description: Read boot sources, and what is wrong with them
version_added: 1.0.0
description:
  - Reads CDI's DataSources and DataImportCrons, and the DataVolumes, claims and VolumeSnapshots with labels for a
    default instancetype or preference. Reports what each refers to, what VMs get from it, whether it is ready, and
    findings.
  - Sends one list request per kind. Disks of VMs, and volumes of a boot source that is returned anyway, are left out.
author: virtshape.instancetypes contributors (@virtshape)
options:
  namespace:
    description: Namespace of the boot sources. Default is all namespaces.
    type: str
  names:
    description: Names of the boot sources. Default is all.
    type: list
    elements: str
    aliases: [name]
  with_findings:
    description: With V(true), selects boot sources with findings; with V(false), those without.
    type: bool
  query_registry:
    description: Whether to ask registries for the current digests of the images. The host that runs the module asks,
      with the Secret and the ConfigMap that the import names.
    type: bool
    default: false
  insecure_registry:
    description: Whether O(query_registry) accepts any certificate of a registry, and plain HTTP. It always does for the
      C(insecureRegistries) of CDI.
    type: bool
    default: false
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.attributes
seealso:
  - module: virtshape.instancetypes.boot_source
"""

EXAMPLES = r"""
- name: Which boot sources need attention?
  virtshape.instancetypes.boot_source_info:
    with_findings: true
    query_registry: true
  register: attention

- name: What does a VM from this image get?
  virtshape.instancetypes.boot_source_info:
    namespace: golden-images
    name: fedora
"""

RETURN = r"""
msg:
  description: Number of boot sources, and of those with findings.
  returned: always
  type: str
  sample: 12 boot sources, 3 with findings
boot_sources:
  description: The boot sources in order of namespace, name and kind.
  returned: always
  type: list
  elements: dict
  contains:
    name: {description: Name of the object., type: str, returned: always}
    namespace: {description: Namespace of the object., type: str, returned: always}
    kind:
      description: Kind of the object - V(DataSource), V(DataImportCron), V(DataVolume), V(PersistentVolumeClaim) or
        V(VolumeSnapshot).
      type: str
      returned: always
    instancetype:
      description: Default instancetype for VMs, with C(name) and C(kind). For a DataSource without that label, it is
        that of the claim or the snapshot.
      type: dict
      returned: when there is one
      sample: {name: u1.medium, kind: VirtualMachineClusterInstancetype}
    preference:
      description: Default preference for VMs, with C(name) and C(kind).
      type: dict
      returned: when there is one
      sample: {name: fedora, kind: VirtualMachineClusterPreference}
    labels: {description: Labels of the object that name these defaults., type: dict, returned: always}
    target_ref:
      description: What a DataSource names, or the DataSource of a DataImportCron, with C(kind), C(namespace) and
        C(name).
      type: dict
      returned: for these kinds, unless a DataSource names nothing
      sample: {kind: PersistentVolumeClaim, namespace: golden-images, name: fedora-2f1dbb0b8a51}
    ready:
      description: Whether the boot source is ready, or a DataImportCron up to date.
      type: bool
      returned: always
    created:
      description: Time when the content was created, or a DataImportCron imported last.
      type: str
      returned: always
      sample: "2026-08-20T12:00:00Z"
    age_days:
      description: Whole days since RV(boot_sources[].created). Null if that is unknown.
      type: int
      returned: always
    image:
      description: Image that the content comes from, empty if it does not come from a registry.
      type: str
      returned: always
      sample: quay.io/containerdisks/fedora:latest
    digest: {description: "Digest of the image that was imported, empty if it is unknown.", type: str, returned: always}
    cron:
      description: Name of the DataImportCron that manages the DataSource, empty without one.
      type: str
      returned: always
    schedule: {description: Schedule of the DataImportCron., type: str, returned: always}
    volumes:
      description: Names of the DataVolumes that were made for a DataSource and still exist.
      type: list
      elements: str
      returned: always
    findings:
      description:
        - What is wrong, each with C(finding), a word, and C(text), a line with the remedy.
        - V(no_defaults) means that VMs get no instancetype and no preference, V(incomplete_defaults) that some of the
          four labels are missing.
        - V(missing_default) means that the named instancetype or preference does not exist, V(unfit_defaults) that
          KubeVirt rejects VMs with both of them.
        - V(missing_target) means that the claim or the snapshot does not exist, V(not_ready) that CDI has not finished,
          V(not_managed) that the DataSource of a DataImportCron is not its own.
        - V(outdated) means that the registry has another digest, V(registry_unknown) that it did not answer.
      type: list
      elements: dict
      returned: always
      sample:
        - finding: no_defaults
          text: VMs get no instancetype and no preference; set the four default labels
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources.cluster.boot_source_info import (
    MODULE,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
