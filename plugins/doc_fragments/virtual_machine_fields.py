# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options for what a VM is made of; `_resolver/declare/vm/options.py` has the same options.

They stand here since Ansible sends a module to its targets with its documentation, and a doc fragment not.
"""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  labels:
    description:
      - Labels of the VM. Set labels of its VMI in O(template).
    type: dict
  annotations:
    description:
      - Annotations of the VM. Set annotations of its VMI in O(template).
    type: dict
  run_strategy:
    description:
      - Run strategy of the VM. By default a new VM gets V(Always), and an existing VM keeps its run strategy, so that
        the next run does not start a VM that someone stopped.
    type: str
    choices:
      - Always
      - RerunOnFailure
      - Manual
      - Halted
      - Once
  boot:
    description:
      - The disk that the VM boots from. It becomes the first volume, named C(boot). A VM needs nothing else to run.
      - A string is short for O(boot.data_source), such as V(fedora).
      - KubeVirt infers instancetype and preference from the labels of O(boot.data_source) or O(boot.pvc) unless the
        task sets them. If the disk lacks these labels, the error says what to add and suggests instancetypes.
      - KubeVirt cannot infer anything from O(boot.container_disk) and O(boot.url). Without O(instancetype), O(cpu) or
        O(memory), a new VM then gets 512Mi of memory and the task warns.
    type: dict
    suboptions:
      data_source:
        description:
          - Name of a DataSource in the namespace of the VM, or C(namespace/name) of a DataSource in another namespace.
            The disk is a copy of its image.
        type: str
      pvc:
        description:
          - Name of a PersistentVolumeClaim in the namespace of the VM. The VM uses the claim itself, not a copy.
        type: str
      container_disk:
        description: Image of a container disk. The disk loses all changes when the VM stops.
        type: str
      url:
        description:
          - Where an image is downloaded from, beginning with C(http://), C(https://), C(gs://), C(docker://) or
            C(oci-archive://).
        type: str
      size:
        description:
          - Size of the disk, as a quantity. By default a copy has the size of its source, and a download from
            O(boot.url) has V(30Gi).
        type: str
      storage_class:
        description: StorageClass of the disk. The default is the default StorageClass of the cluster.
        type: str
      access_modes:
        description:
          - Access modes of the disk. The default comes from the StorageProfile of the StorageClass.
        type: list
        elements: str
      volume_mode:
        description: Volume mode of the disk. The default comes from the StorageProfile of the StorageClass.
        type: str
        choices:
          - Block
          - Filesystem
  instancetype:
    description:
      - Instancetype of the VM. A string is short for O(instancetype.name), such as V(u1.small).
    type: dict
    suboptions:
      infer:
        description:
          - Whether KubeVirt infers the instancetype from the labels of a volume. The volume is that of O(boot), else
            the one with the lowest O(volumes[].boot_order), else the first one.
          - With V(required) a volume without these labels is an error. With V(auto) such a volume leaves the VM
            without an instancetype, and with 512Mi of memory unless O(memory) is given.
          - A VM with O(cpu) or O(memory) gets no instancetype from V(auto).
          - With V(none) the VM gets no instancetype.
          - Without O(instancetype), a VM with O(boot.data_source) or O(boot.pvc) has V(required), any other VM V(none).
        type: str
        choices: [auto, required, none]
      name:
        description:
          - Name of the instancetype.
        type: str
      kind:
        description:
          - Kind of the object. The default is the cluster-wide kind. As in KubeVirt, case does not matter and the
            plural is valid too.
        type: str
        choices:
          - VirtualMachineInstancetype
          - VirtualMachineClusterInstancetype
      revision_name:
        description:
          - Name of a ControllerRevision to pin the VM to, instead of the current instancetype.
        type: str
        aliases: [revisionName]
      infer_from_volume:
        description:
          - Name of the volume from whose labels KubeVirt infers the instancetype. A volume without these labels is an
            error.
        type: str
        aliases: [inferFromVolume]
  preference:
    description:
      - Preference of the VM. A string is short for O(preference.name).
    type: dict
    suboptions:
      infer:
        description:
          - Whether KubeVirt infers the preference from the labels of a volume. The volume is that of O(boot), else
            the one with the lowest O(volumes[].boot_order), else the first one.
          - With V(required) a volume without these labels is an error. With V(auto) such a volume leaves the VM
            without a preference.
          - With V(none) the VM gets no preference.
          - Without O(preference), a VM with O(boot.data_source) or O(boot.pvc) has V(required), any other VM V(none).
        type: str
        choices: [auto, required, none]
      name:
        description:
          - Name of the preference.
        type: str
      kind:
        description:
          - Kind of the object. The default is the cluster-wide kind. As in KubeVirt, case does not matter and the
            plural is valid too.
        type: str
        choices:
          - VirtualMachinePreference
          - VirtualMachineClusterPreference
      revision_name:
        description:
          - Name of a ControllerRevision to pin the VM to, instead of the current preference.
        type: str
        aliases: [revisionName]
      infer_from_volume:
        description:
          - Name of the volume from whose labels KubeVirt infers the preference. A volume without these labels is an
            error.
        type: str
        aliases: [inferFromVolume]
  cpu:
    description:
      - vCPUs of a VM without an instancetype. With an instancetype they conflict.
    type: dict
    suboptions:
      sockets:
        description: Number of sockets.
        type: int
      cores:
        description: Number of cores in each socket.
        type: int
      threads:
        description: Number of threads in each core.
        type: int
      model:
        description: CPU model; an instancetype that names one conflicts with it.
        type: str
  memory:
    description:
      - Guest memory of a VM without an instancetype, as a quantity. Mutually exclusive with O(instancetype).
      - A new VM without both gets V(512Mi). An existing VM keeps its memory.
    type: str
  termination_grace_period:
    description:
      - Number of seconds that the guest has for its shutdown.
    type: int
  volumes:
    description:
      - Volumes of the VM. The VM boots from the first volume unless a volume has O(volumes[].boot_order).
      - KubeVirt adds a disk for each; O(volumes[].bus), O(volumes[].device) and O(volumes[].boot_order) say more about
        it.
      - Each volume has exactly one source.
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - Name of the volume and of its disk. When it is not given, it is that of the claim or DataVolume,
            C(cloudinitdisk), C(sysprepdisk), or made of the name of the VM and the volume's position.
        type: str
      container_disk:
        description: Image of a container disk. The disk loses all changes when the VM stops.
        type: str
      persistent_volume_claim:
        description: Name of a PersistentVolumeClaim in the namespace of the VM.
        type: str
      data_volume:
        description: Name of a DataVolume, such as one of O(data_volume_templates).
        type: str
      empty_disk:
        description: Capacity of an empty disk that lasts as long as the VMI, as a quantity.
        type: str
      import:
        description:
          - A DataVolume that is made for the VM and filled from exactly one of the sources below.
        type: dict
        suboptions:
          name:
            description: Name of the DataVolume; the names of the VM and the volume, C(VM-VOLUME), when it is not given.
            type: str
          size:
            description:
              - Size of the disk, as a quantity. Needed but for the sources O(volumes[].import.data_source),
                O(volumes[].import.pvc) and O(volumes[].import.snapshot), whose copies are as large as they are.
            type: str
          storage_class:
            description: StorageClass of the disk. The default is the default StorageClass of the cluster.
            type: str
          access_modes:
            description:
              - Access modes of the disk. The default comes from the StorageProfile of the StorageClass.
            type: list
            elements: str
          volume_mode:
            description:
              - Volume mode of the disk. The default comes from the StorageProfile of the StorageClass.
            type: str
            choices:
              - Block
              - Filesystem
          blank:
            description: An empty disk.
            type: bool
          data_source:
            description: A copy of what a DataSource stands for.
            type: dict
            suboptions:
              name:
                description: Name of the DataSource.
                type: str
                required: true
              namespace:
                description: Its namespace; that of the VM when it is not given.
                type: str
          gcs:
            description: An image in Google Cloud Storage.
            type: dict
            suboptions:
              url:
                description: Where the image is.
                type: str
                required: true
              secret_ref:
                description: Name of a Secret with the credentials.
                type: str
          http:
            description: An image that is downloaded by HTTP.
            type: dict
            suboptions:
              url:
                description: Where the image is.
                type: str
                required: true
              secret_ref:
                description: Name of a Secret with the credentials.
                type: str
              cert_config_map:
                description: Name of a ConfigMap with the certificates to trust.
                type: str
              extra_headers:
                description: Headers to send, each as C(Name:\ value). They are never shown.
                type: list
                elements: str
              secret_extra_headers:
                description: Names of Secrets with headers to send.
                type: list
                elements: str
          imageio:
            description: A disk of oVirt.
            type: dict
            suboptions:
              url:
                description: Address of the engine's API.
                type: str
                required: true
              disk_id:
                description: ID of the disk.
                type: str
                required: true
              secret_ref:
                description: Name of a Secret with the credentials.
                type: str
              cert_config_map:
                description: Name of a ConfigMap with the certificates to trust.
                type: str
          pvc:
            description: A clone of a PersistentVolumeClaim.
            type: dict
            suboptions:
              name:
                description: Name of the claim.
                type: str
                required: true
              namespace:
                description: Namespace of the object.
                type: str
                required: true
          registry:
            description: A container disk, copied. Either O(volumes[].import.registry.url) or an image stream is needed.
            type: dict
            suboptions:
              url:
                description: Where the image is, beginning with C(docker://) or C(oci-archive://).
                type: str
              image_stream:
                description: Name of an ImageStream of OpenShift.
                type: str
              pull_method:
                description: Whether the image is pulled by the importing pod or by its node's container runtime.
                type: str
                choices:
                  - pod
                  - node
              secret_ref:
                description: Name of a Secret with the credentials.
                type: str
              cert_config_map:
                description: Name of a ConfigMap with the certificates to trust.
                type: str
          s3:
            description: An image in an S3 bucket.
            type: dict
            suboptions:
              url:
                description: Where the image is.
                type: str
                required: true
              secret_ref:
                description: Name of a Secret with the credentials.
                type: str
              cert_config_map:
                description: Name of a ConfigMap with the certificates to trust.
                type: str
          snapshot:
            description: A disk that is restored from a VolumeSnapshot.
            type: dict
            suboptions:
              name:
                description: Name of the VolumeSnapshot.
                type: str
                required: true
              namespace:
                description: Namespace of the object.
                type: str
                required: true
          vddk:
            description: A disk of VMware vSphere.
            type: dict
            suboptions:
              url:
                description: Address of the vCenter or ESXi host.
                type: str
                required: true
              uuid:
                description: UUID of the VM there.
                type: str
                required: true
              thumbprint:
                description: Thumbprint of the host's certificate.
                type: str
                required: true
              secret_ref:
                description: Name of a Secret with the credentials.
                type: str
                required: true
              backing_file:
                description: Path of the disk, as vSphere has it.
                type: str
                required: true
              init_image_url:
                description: Image with the VDDK library.
                type: str
      cloud_init:
        description:
          - Data for cloud-init, as they are. They are never shown in results, diffs or logs. See O(cloud_init) for user
            data that are made for you.
        type: dict
        suboptions:
          type:
            description: How the guest gets it.
            type: str
            choices:
              - nocloud
              - configdrive
            default: nocloud
          user_data:
            description: User data.
            type: str
          user_data_base64:
            description: User data, in base64.
            type: str
          network_data:
            description: Network data.
            type: str
          network_data_base64:
            description: Network data, in base64.
            type: str
      sysprep:
        description: Answers for Windows' Sysprep, from either of the two.
        type: dict
        suboptions:
          config_map:
            description: Name of a ConfigMap with C(autounattend.xml) or C(unattend.xml).
            type: str
          secret:
            description: Name of a Secret with the same.
            type: str
      boot_order:
        description: Position in the boot order, from 1.
        type: int
      bus:
        description: Bus of its disk; the preference chooses when it is not given.
        type: str
        choices:
          - virtio
          - scsi
          - sata
          - usb
      device:
        description: What the guest sees.
        type: str
        choices:
          - disk
          - cdrom
          - lun
  sysprep:
    description:
      - Answers for Windows' Sysprep, on a volume C(sysprepdisk) after O(volumes).
    type: dict
    suboptions:
      config_map:
        description: Name of a ConfigMap with C(autounattend.xml) or C(unattend.xml).
        type: str
      secret:
        description: Name of a Secret with the same.
        type: str
  cloud_init:
    description:
      - What cloud-init does in the guest, from a volume C(cloudinitdisk), the last one. There is none if there is
        nothing to do and no O(cloud_init.type) is given.
      - The data are never shown in results, diffs or logs. In the VM they are in clear text; use O(access_credentials)
        for what nobody may read who may read the VM.
    type: dict
    suboptions:
      type:
        description: How the guest gets it; V(nocloud) when it is not given. With V(none) there is no such volume.
        type: str
        choices:
          - nocloud
          - configdrive
          - none
      user:
        description: Name of the default user.
        type: str
      password:
        description: Password of that user, from a vault for example.
        type: str
      password_file:
        description: Path of a file, where the module runs, with that password; white space around it does not count.
        type: path
      ssh_keys:
        description: Public SSH keys that let one in as that user.
        type: list
        elements: str
      manage_ssh:
        description:
          - Whether the guest agent may write SSH keys in the guest. A credential of O(access_credentials) with the
            method V(ga) turns it on unless it is given here.
        type: bool
      quote:
        description:
          - Whether user, password and keys are quoted where YAML would else read something other than what they are.
            With V(false) they are written as they are, as C(virtctl) does.
        type: bool
        default: true
      user_data:
        description:
          - User data, in place of those that are made of user, password and keys. Excludes these.
        type: str
      user_data_base64:
        description: The same in base64.
        type: str
      network_data:
        description: Network data.
        type: str
      network_data_base64:
        description: The same in base64.
        type: str
  access_credentials:
    description:
      - SSH keys and passwords that KubeVirt brings into the guest from Secrets, which nobody needs to read for it.
    type: list
    elements: dict
    suboptions:
      type:
        description: What the Secret holds.
        type: str
        choices:
          - ssh
          - password
        default: ssh
      secret:
        description: Name of the Secret, in the namespace of the VM.
        type: str
        required: true
      method:
        description:
          - By what it gets into the guest, the guest agent (V(ga)) or cloud-init. Passwords only take V(ga).
          - V(nocloud) and V(configdrive) ask for a volume for cloud-init of that type, which is added if need be.
        type: str
        choices:
          - ga
          - nocloud
          - configdrive
        default: ga
      users:
        description:
          - Users in the guest whose keys they are. Only for SSH keys with the method V(ga), where the default is
            O(cloud_init.user).
        type: list
        elements: str
  networks:
    description:
      - Networks of the VM, and its interface in each. Without this option KubeVirt gives it one in the pod network.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the network and of the interface.
        type: str
        default: default
      multus:
        description:
          - Name of a NetworkAttachmentDefinition, or C(namespace/name). The pod network when it is not given.
        type: str
      binding:
        description:
          - How the guest is connected; V(masquerade) for the pod network and V(bridge) for others when it is not given.
        type: str
        choices:
          - masquerade
          - bridge
          - sriov
      binding_plugin:
        description: Name of a network binding plugin, in place of O(networks[].binding).
        type: str
      model:
        description: Model of the interface; the preference chooses when it is not given.
        type: str
      mac_address:
        description: MAC address in the guest.
        type: str
      boot_order:
        description: Position in the boot order, from 1, to boot from the network.
        type: int
      ports:
        description: Ports of the guest that can be reached; all of them when it is not given.
        type: list
        elements: dict
        suboptions:
          name:
            description: Name of the port.
            type: str
          port:
            description: Its number.
            type: int
            required: true
          protocol:
            description: Its protocol, V(TCP) when it is not given.
            type: str
            choices:
              - TCP
              - UDP
  efi:
    description:
      - Boot by EFI, also with no options in it. The preference chooses the firmware when this is not given.
    type: dict
    suboptions:
      secure_boot:
        description:
          - Whether with secure boot, as KubeVirt does when it is not given. It turns on what secure boot needs.
        type: bool
      persistent:
        description: Whether the firmware's variables outlive the VMI.
        type: bool
  tpm:
    description:
      - A TPM device, also with no options in it.
    type: dict
    suboptions:
      persistent:
        description: Whether what is in it outlives the VMI.
        type: bool
  node_selector:
    description:
      - Labels that a node must have for the VM. Conflicts with an instancetype that has a selector itself.
    type: dict
  tolerations:
    description:
      - Taints of nodes that the VM tolerates, as the API has them.
    type: list
    elements: dict
  eviction_strategy:
    description:
      - What happens to the VM when its node is drained; as the cluster is configured when it is not given.
    type: str
    choices:
      - None
      - LiveMigrate
      - LiveMigrateIfPossible
      - External
  data_volume_templates:
    description:
      - DataVolumes that the VM brings with it, as the API has them.
    type: list
    elements: dict
  template:
    description:
      - What has no option of its own of the VM's template, as the API has it (C(metadata) and C(spec)). Merged with the
        other options, lists are joined; giving both with different values is an error.
    type: dict
  spec:
    description:
      - What has no option of its own of the VM's spec, as the API has it. Merged likewise.
    type: dict
"""
