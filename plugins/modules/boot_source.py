#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: boot_source
short_description: Declare boot sources of VMs
version_added: 1.0.0
description:
  - A boot source is a CDI DataSource that VMs boot from, together with the volume that has the image and the labels
    that name the default instancetype and preference. A VM that names the boot source needs nothing else.
  - The image comes from a registry, once or by a DataImportCron that polls it, from a URL, from an existing claim or
    snapshot, or from a file that is uploaded through CDI's upload proxy.
  - A volume is named after the boot source and the digest of its content. The same digest is no change; another one is
    a new volume, and the DataSource moves to it when CDI has filled it. Without O(wait) it moves in a later run.
  - All objects get the same labels, always with the kinds. O(instancetype) and O(preference) win over the environment
    variables of the image.
  - Before anything is sent, the module checks the objects by the rules of CDI's webhooks, asks the registry whether the
    image exists and has the architecture, and checks that the instancetype and the preference exist and that KubeVirt
    accepts VMs with both. It also checks who manages an existing DataSource, the StorageClass, the Secrets and the
    ConfigMaps, what CDI's release supports, and whether the upload proxy answers.
author: virtshape.instancetypes contributors (@virtshape)
options:
  name:
    description: Name of the boot source and of its DataSource. Either this or O(boot_sources) is needed.
    type: str
  namespace: &namespace
    description: Namespace of the boot source.
    type: str
  state:
    description:
      - Whether the boot source must exist as declared, or must not exist.
      - With V(labeled), the task only writes the labels for O(instancetype) and O(preference) to an existing object, of
        which O(kind) names the kind. It creates nothing, and a missing object is an error.
      - With V(absent), its volumes are deleted, too, except for those that an unfinished clone reads. Claims and
        snapshots that the module has not created stay.
      - A DataVolume, a DataImportCron or a DataSource that somebody else has made is an error, unless
        O(force_conflicts) is set.
      - With V(rendered), the task connects to nothing and returns the manifests as RV(rendered). O(image) then needs a
        digest or O(schedule), its defaults are not read, and O(upload) is an error.
    type: str
    choices: [present, labeled, absent, rendered]
    default: present
  kind: &kind
    description: Kind of the object that gets the labels with O(state=labeled). CDI writes the labels of a claim or a
      snapshot to the DataSource that refers to it, so the task warns if that has other labels.
    type: str
    choices: [DataSource, PersistentVolumeClaim, VolumeSnapshot]
    default: DataSource
  image: &image
    description: Image in a registry, for example C(quay.io/containerdisks/fedora:latest).
    type: str
  image_stream: &image_stream
    description: ImageStream of OpenShift in the namespace, whose image a node pulls. The module cannot ask it for
      labels. Without O(schedule) CDI imports it once.
    type: str
  schedule: &schedule
    description:
      - When CDI polls the registry for a new O(image) or O(image_stream), as a cron schedule of five fields or a
        descriptor such as V(@daily). Sunday is V(0). An empty schedule imports once, and CDI never polls again.
      - CDI does not allow changes to a DataImportCron, so the module replaces it, after CDI's rules and the API server
        have accepted the new one. What it has imported stays. The module does not replace a DataImportCron that others
        made with the retentionPolicy V(None), because CDI would delete its images.
    type: str
  url: &url
    description: HTTP or HTTPS URL of an image. CDI downloads it; another URL or O(checksum) is another volume.
    type: str
  checksum: &checksum
    description:
      - Checksum of the file of O(url) or O(upload), as C(ALGORITHM:HEX) with md5, sha1, sha256 or sha512.
      - For O(url), CDI 1.65 and later checks it; for O(upload), the module.
    type: str
  pvc: &pvc
    description: Existing claim with the image.
    type: dict
    suboptions: &reference
      name:
        description: Name of the object.
        type: str
        required: true
      namespace:
        description: Namespace of the object, by default that of the boot source.
        type: str
  snapshot: &snapshot
    description: Existing VolumeSnapshot with the image.
    type: dict
    suboptions: *reference
  upload: &upload
    description: File to upload through CDI's upload proxy.
    type: dict
    suboptions:
      path:
        description: Path of the file on the host that runs the module.
        type: path
        required: true
      archive:
        description: Whether the file is a tar archive that CDI unpacks into a file system, instead of a disk image.
        type: bool
        default: false
      volume:
        description: Name of the volume, by default that of the boot source and the digest of the file. A volume that
          has another file already is an error.
        type: str
      claim:
        description: Whether the volume is a PersistentVolumeClaim without a DataVolume.
        type: bool
        default: false
      create:
        description: Whether to create the volume. If not, O(upload.volume) names an existing one.
        type: bool
        default: true
      data_source:
        description: Whether the boot source has a DataSource. Without one it is only a volume, for example with an ISO.
        type: bool
        default: true
      tries:
        description:
          - Maximum number of attempts. CDI cannot resume an upload, so each attempt starts over.
          - It may take longer than CDI's token is valid (five minutes); the module then asks for another one.
        type: int
        default: 5
      ready_timeout:
        description: Maximum number of seconds to wait until CDI takes the file.
        type: int
        default: 300
  upload_proxy: &upload_proxy
    description: How to reach CDI's upload proxy.
    type: dict
    suboptions:
      url:
        description: URL of the proxy, by default what CDI's configuration has published.
        type: str
      ca_cert:
        description: Path of the CA certificate that has signed the proxy's.
        type: path
      validate_certs:
        description: Whether to check the proxy's certificate.
        type: bool
        default: true
  size: &size
    description: Size of the volume, for example V(5Gi). Required, except with O(pvc), O(snapshot) or
      O(upload.create=false).
    type: str
  storage_class: &storage_class
    description: Storage class of the volume, by default that of the cluster.
    type: str
  access_modes: &access_modes
    description: Access modes of the volume, by default what CDI's StorageProfile has.
    type: list
    elements: str
    choices: [ReadWriteOnce, ReadWriteMany, ReadWriteOncePod]
  volume_mode: &volume_mode
    description: Volume mode of the volume, by default what CDI's StorageProfile has.
    type: str
    choices: [Block, Filesystem]
  force_bind: &force_bind
    description: Whether CDI fills the volume although its storage class waits for a first consumer. A DataImportCron
      does so always.
    type: bool
    default: false
  keep: &keep
    description: Number of volumes of a boot source that stay, including the current one.
    type: int
    default: 3
  architecture: &architecture
    description: Architecture to take from an image for several, for example V(arm64).
    type: str
  pull_method: &pull_method
    description: Whether CDI's importer pulls the image, or the node. Images pulled by a node need its credentials.
    type: str
    choices: [pod, node]
  secret_ref: &secret_ref
    description:
      - Secret in the namespace with credentials for O(image) or O(url). CDI reads C(accessKeyId) and C(secretKey); for
        O(image) the module also reads a Secret of type C(kubernetes.io/dockerconfigjson).
      - With O(schedule), CDI needs the Secret in its own namespace, too. The module looks there if the user may read
        the APIService C(v1beta1.upload.cdi.kubevirt.io), which names that namespace.
    type: str
  cert_config_map: &cert_config_map
    description:
      - ConfigMap in the namespace with the CA certificates of the server, in keys that end in C(.crt) or C(.pem).
      - With O(schedule), CDI needs the ConfigMap in its own namespace, too.
    type: str
  consumers: &consumers
    description: Namespaces whose VMs boot from the boot source, as C(NAMESPACE) or C(NAMESPACE/SERVICE_ACCOUNT). The
      module checks that the service account, by default C(default), may clone it. Otherwise KubeVirt creates no disks.
    type: list
    elements: str
  query_registry: &query_registry
    description: Whether the module asks the registry about O(image). If false, O(image) needs a digest or O(schedule),
      and the defaults in the image are not read.
    type: bool
    default: true
  insecure_registry: &insecure_registry
    description: Whether the module takes any certificate of the registry, or plain HTTP. CDI has a list of its own,
      C(insecureRegistries).
    type: bool
    default: false
  instancetype: &instancetype
    description: Instancetype that VMs of this boot source get by default.
    type: dict
    suboptions: &matcher
      name:
        description: Name of the object.
        type: str
        required: true
      kind:
        description: Kind of the object, by default the cluster-wide one.
        type: str
  preference: &preference
    description: Preference that VMs of this boot source get by default.
    type: dict
    suboptions: *matcher
  boot_sources:
    description: A list of boot sources. An entry takes the same options as the task does for one boot source. An option
      that an entry leaves out has the value that the task gives, and an option with the value V(null) has none.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the boot source.
        type: str
        required: true
      state:
        description: See O(state).
        type: str
        choices: [present, labeled, absent, rendered]
      namespace: *namespace
      kind: *kind
      image: *image
      image_stream: *image_stream
      schedule: *schedule
      url: *url
      checksum: *checksum
      pvc: *pvc
      snapshot: *snapshot
      upload: *upload
      upload_proxy: *upload_proxy
      size: *size
      storage_class: *storage_class
      access_modes: *access_modes
      volume_mode: *volume_mode
      force_bind: *force_bind
      keep: *keep
      architecture: *architecture
      pull_method: *pull_method
      secret_ref: *secret_ref
      cert_config_map: *cert_config_map
      consumers: *consumers
      query_registry: *query_registry
      insecure_registry: *insecure_registry
      instancetype: *instancetype
      preference: *preference
extends_documentation_fragment:
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
- name: A boot source that keeps itself current
  virtshape.instancetypes.boot_source:
    name: fedora
    namespace: golden-images
    image: quay.io/containerdisks/fedora:latest
    schedule: "0 */12 * * *"
    size: 5Gi

- name: An image of our own, once
  virtshape.instancetypes.boot_source:
    name: rhel9-hardened
    namespace: golden-images
    image: registry.example/rhel9:9.6
    secret_ref: pull
    size: 20Gi
    instancetype: {name: u1.medium}
    preference: {name: rhel.9}
    wait: true
    wait_timeout: 1800

- name: A file from here
  virtshape.instancetypes.boot_source:
    name: win2k25
    namespace: golden-images
    upload: {path: /srv/images/win2k25.qcow2}
    upload_proxy: {url: "https://cdi-uploadproxy.example", ca_cert: /etc/pki/proxy.pem}
    size: 40Gi
    preference: {name: windows.2k25.virtio}
    wait: true
    wait_timeout: 3600
  delegate_to: localhost

- name: An installed disk
  virtshape.instancetypes.boot_source:
    namespace: golden-images
    boot_sources:
      - name: database
        pvc: {name: database-root, namespace: shop}
        instancetype: {name: u1.small}
        preference: {name: fedora}

- name: A claim that exists already, for VMs that boot from it
  virtshape.instancetypes.boot_source:
    name: database-root
    namespace: shop
    state: labeled
    kind: PersistentVolumeClaim
    instancetype: {name: u1.small}
    preference: {name: fedora}
"""

RETURN = r"""
msg:
  description: Number of boot sources that were created, changed, deleted and unchanged; on failure the failed ones with
    their reasons.
  returned: always
  type: str
  sample: "2 boot sources: 1 created, 1 unchanged"
cluster:
  description: Address of the API server.
  returned: unless O(state=rendered)
  type: str
  sample: https://api.example.com:6443
results:
  description: One entry for each boot source, in the order given.
  returned: always
  type: list
  elements: dict
  contains:
    name: {description: Name of the boot source., type: str, returned: always}
    namespace: {description: Namespace of the boot source., type: str, returned: always}
    uid: {description: UID of the object., type: str, returned: when it exists}
    kind:
      description: C(DataSource), which is what VMs name; with O(state=labeled) the kind of the object.
      type: str
      returned: always
    action:
      description: What the task did to the boot source, or would do in check mode - V(create), V(apply), V(delete) or
        V(none).
      type: str
      returned: always
      sample: create
    changed:
      description: Whether an object of the boot source was changed, or would be in check mode.
      type: bool
      returned: always
    failed: {description: Whether the boot source failed., type: bool, returned: always}
    skip_reason:
      description: Why the task did not change the boot source.
      type: str
      returned: when another entry of the task is invalid
    taken_over:
      description: Whether the task changes only the owner of fields. All values are already as declared, and
        C(virtshape) becomes an owner of the fields.
      type: bool
      returned: when it is so
    source:
      description: What the DataSource refers to.
      type: dict
      returned: when the DataSource exists
      sample: {pvc: {name: fedora-2f1dbb0b8a51, namespace: golden}}
    labels: {description: Labels of the object., type: dict, returned: when it exists}
    ready:
      description: Whether CDI reports the boot source as ready.
      type: bool
      returned: when the DataSource exists
    msg: {description: "Why the boot source failed, on one line.", type: str, returned: on failure}
    warnings: {description: Warnings about the boot source., type: list, elements: str, returned: when there are any}
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
  returned: when O(name) is given
  type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources.cluster.boot_source import module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._git.cluster.rendered_state import RENDERED

MODULE = module((RENDERED,))


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
