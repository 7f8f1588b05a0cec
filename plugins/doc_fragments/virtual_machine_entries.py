# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Written by tools/generate_docs.py from the module's own documentation; do not edit.

"""The option for a list of VMs, with the options of its entries."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  virtual_machines:
    description:
      - A list of VMs. An entry takes the same options as the task does for one VM. An option
        that an entry leaves out has the value that the task gives, and an option with the value
        V(null) has none.
    type: list
    elements: dict
    suboptions:
      accept_unknown_fields:
        description:
          - See O(accept_unknown_fields).
        type: bool
      access_credentials:
        description:
          - See O(access_credentials).
        type: list
        elements: dict
        suboptions:
          type:
            description:
              - See O(access_credentials[].type).
            type: str
            default: ssh
            choices:
              - ssh
              - password
          secret:
            description:
              - See O(access_credentials[].secret).
            type: str
            required: true
          method:
            description:
              - See O(access_credentials[].method).
            type: str
            default: ga
            choices:
              - ga
              - nocloud
              - configdrive
          users:
            description:
              - See O(access_credentials[].users).
            type: list
            elements: str
      annotations:
        description:
          - See O(annotations).
        type: dict
      boot:
        description:
          - See O(boot).
        type: dict
        suboptions:
          data_source:
            description:
              - See O(boot.data_source).
            type: str
          pvc:
            description:
              - See O(boot.pvc).
            type: str
          container_disk:
            description:
              - See O(boot.container_disk).
            type: str
          url:
            description:
              - See O(boot.url).
            type: str
          size:
            description:
              - See O(boot.size).
            type: str
          storage_class:
            description:
              - See O(boot.storage_class).
            type: str
          access_modes:
            description:
              - See O(boot.access_modes).
            type: list
            elements: str
          volume_mode:
            description:
              - See O(boot.volume_mode).
            type: str
            choices:
              - Block
              - Filesystem
      cloud_init:
        description:
          - See O(cloud_init).
        type: dict
        suboptions:
          type:
            description:
              - See O(cloud_init.type).
            type: str
            choices:
              - nocloud
              - configdrive
              - none
          user:
            description:
              - See O(cloud_init.user).
            type: str
          password:
            description:
              - See O(cloud_init.password).
            type: str
          password_file:
            description:
              - See O(cloud_init.password_file).
            type: path
          ssh_keys:
            description:
              - See O(cloud_init.ssh_keys).
            type: list
            elements: str
          manage_ssh:
            description:
              - See O(cloud_init.manage_ssh).
            type: bool
          quote:
            description:
              - See O(cloud_init.quote).
            type: bool
            default: true
          user_data:
            description:
              - See O(cloud_init.user_data).
            type: str
          user_data_base64:
            description:
              - See O(cloud_init.user_data_base64).
            type: str
          network_data:
            description:
              - See O(cloud_init.network_data).
            type: str
          network_data_base64:
            description:
              - See O(cloud_init.network_data_base64).
            type: str
      cpu:
        description:
          - See O(cpu).
        type: dict
        suboptions:
          sockets:
            description:
              - See O(cpu.sockets).
            type: int
          cores:
            description:
              - See O(cpu.cores).
            type: int
          threads:
            description:
              - See O(cpu.threads).
            type: int
          model:
            description:
              - See O(cpu.model).
            type: str
      data_volume_templates:
        description:
          - See O(data_volume_templates).
        type: list
        elements: dict
      efi:
        description:
          - See O(efi).
        type: dict
        suboptions:
          secure_boot:
            description:
              - See O(efi.secure_boot).
            type: bool
          persistent:
            description:
              - See O(efi.persistent).
            type: bool
      eviction_strategy:
        description:
          - See O(eviction_strategy).
        type: str
        choices:
          - None
          - LiveMigrate
          - LiveMigrateIfPossible
          - External
      infer_from_registry:
        description:
          - See O(infer_from_registry).
        type: bool
      insecure_registry:
        description:
          - See O(insecure_registry).
        type: bool
      instancetype:
        description:
          - See O(instancetype).
        type: dict
        suboptions:
          infer:
            description:
              - See O(instancetype.infer).
            type: str
            choices:
              - auto
              - required
              - none
          name:
            description:
              - See O(instancetype.name).
            type: str
          kind:
            description:
              - See O(instancetype.kind).
            type: str
            choices:
              - VirtualMachineInstancetype
              - VirtualMachineClusterInstancetype
          revision_name:
            description:
              - See O(instancetype.revision_name).
            type: str
            aliases:
              - revisionName
          infer_from_volume:
            description:
              - See O(instancetype.infer_from_volume).
            type: str
            aliases:
              - inferFromVolume
      labels:
        description:
          - See O(labels).
        type: dict
      memory:
        description:
          - See O(memory).
        type: str
      name:
        description:
          - Name of the VM.
        type: str
        required: true
      namespace:
        description:
          - See O(namespace).
        type: str
      networks:
        description:
          - See O(networks).
        type: list
        elements: dict
        suboptions:
          name:
            description:
              - See O(networks[].name).
            type: str
            default: default
          multus:
            description:
              - See O(networks[].multus).
            type: str
          binding:
            description:
              - See O(networks[].binding).
            type: str
            choices:
              - masquerade
              - bridge
              - sriov
          binding_plugin:
            description:
              - See O(networks[].binding_plugin).
            type: str
          model:
            description:
              - See O(networks[].model).
            type: str
          mac_address:
            description:
              - See O(networks[].mac_address).
            type: str
          boot_order:
            description:
              - See O(networks[].boot_order).
            type: int
          ports:
            description:
              - See O(networks[].ports).
            type: list
            elements: dict
            suboptions:
              name:
                description:
                  - See O(networks[].ports[].name).
                type: str
              port:
                description:
                  - See O(networks[].ports[].port).
                type: int
                required: true
              protocol:
                description:
                  - See O(networks[].ports[].protocol).
                type: str
                choices:
                  - TCP
                  - UDP
      node_selector:
        description:
          - See O(node_selector).
        type: dict
      preference:
        description:
          - See O(preference).
        type: dict
        suboptions:
          infer:
            description:
              - See O(preference.infer).
            type: str
            choices:
              - auto
              - required
              - none
          name:
            description:
              - See O(preference.name).
            type: str
          kind:
            description:
              - See O(preference.kind).
            type: str
            choices:
              - VirtualMachinePreference
              - VirtualMachineClusterPreference
          revision_name:
            description:
              - See O(preference.revision_name).
            type: str
            aliases:
              - revisionName
          infer_from_volume:
            description:
              - See O(preference.infer_from_volume).
            type: str
            aliases:
              - inferFromVolume
      run_strategy:
        description:
          - See O(run_strategy).
        type: str
        choices:
          - Always
          - RerunOnFailure
          - Manual
          - Halted
          - Once
      spec:
        description:
          - See O(spec).
        type: dict
      state:
        description:
          - See O(state).
        type: str
        choices:
          - present
          - absent
      sysprep:
        description:
          - See O(sysprep).
        type: dict
        suboptions:
          config_map:
            description:
              - See O(sysprep.config_map).
            type: str
          secret:
            description:
              - See O(sysprep.secret).
            type: str
      template:
        description:
          - See O(template).
        type: dict
      termination_grace_period:
        description:
          - See O(termination_grace_period).
        type: int
      tolerations:
        description:
          - See O(tolerations).
        type: list
        elements: dict
      tpm:
        description:
          - See O(tpm).
        type: dict
        suboptions:
          persistent:
            description:
              - See O(tpm.persistent).
            type: bool
      volumes:
        description:
          - See O(volumes).
        type: list
        elements: dict
        suboptions:
          name:
            description:
              - See O(volumes[].name).
            type: str
          container_disk:
            description:
              - See O(volumes[].container_disk).
            type: str
          persistent_volume_claim:
            description:
              - See O(volumes[].persistent_volume_claim).
            type: str
          data_volume:
            description:
              - See O(volumes[].data_volume).
            type: str
          empty_disk:
            description:
              - See O(volumes[].empty_disk).
            type: str
          import:
            description:
              - See O(volumes[].import).
            type: dict
            suboptions:
              name:
                description:
                  - See O(volumes[].import.name).
                type: str
              size:
                description:
                  - See O(volumes[].import.size).
                type: str
              storage_class:
                description:
                  - See O(volumes[].import.storage_class).
                type: str
              access_modes:
                description:
                  - See O(volumes[].import.access_modes).
                type: list
                elements: str
              volume_mode:
                description:
                  - See O(volumes[].import.volume_mode).
                type: str
                choices:
                  - Block
                  - Filesystem
              blank:
                description:
                  - See O(volumes[].import.blank).
                type: bool
              data_source:
                description:
                  - See O(volumes[].import.data_source).
                type: dict
                suboptions:
                  name:
                    description:
                      - See O(volumes[].import.data_source.name).
                    type: str
                    required: true
                  namespace:
                    description:
                      - See O(volumes[].import.data_source.namespace).
                    type: str
              gcs:
                description:
                  - See O(volumes[].import.gcs).
                type: dict
                suboptions:
                  url:
                    description:
                      - See O(volumes[].import.gcs.url).
                    type: str
                    required: true
                  secret_ref:
                    description:
                      - See O(volumes[].import.gcs.secret_ref).
                    type: str
              http:
                description:
                  - See O(volumes[].import.http).
                type: dict
                suboptions:
                  url:
                    description:
                      - See O(volumes[].import.http.url).
                    type: str
                    required: true
                  secret_ref:
                    description:
                      - See O(volumes[].import.http.secret_ref).
                    type: str
                  cert_config_map:
                    description:
                      - See O(volumes[].import.http.cert_config_map).
                    type: str
                  extra_headers:
                    description:
                      - See O(volumes[].import.http.extra_headers).
                    type: list
                    elements: str
                  secret_extra_headers:
                    description:
                      - See O(volumes[].import.http.secret_extra_headers).
                    type: list
                    elements: str
              imageio:
                description:
                  - See O(volumes[].import.imageio).
                type: dict
                suboptions:
                  url:
                    description:
                      - See O(volumes[].import.imageio.url).
                    type: str
                    required: true
                  disk_id:
                    description:
                      - See O(volumes[].import.imageio.disk_id).
                    type: str
                    required: true
                  secret_ref:
                    description:
                      - See O(volumes[].import.imageio.secret_ref).
                    type: str
                  cert_config_map:
                    description:
                      - See O(volumes[].import.imageio.cert_config_map).
                    type: str
              pvc:
                description:
                  - See O(volumes[].import.pvc).
                type: dict
                suboptions:
                  name:
                    description:
                      - See O(volumes[].import.pvc.name).
                    type: str
                    required: true
                  namespace:
                    description:
                      - See O(volumes[].import.pvc.namespace).
                    type: str
                    required: true
              registry:
                description:
                  - See O(volumes[].import.registry).
                type: dict
                suboptions:
                  url:
                    description:
                      - See O(volumes[].import.registry.url).
                    type: str
                  image_stream:
                    description:
                      - See O(volumes[].import.registry.image_stream).
                    type: str
                  pull_method:
                    description:
                      - See O(volumes[].import.registry.pull_method).
                    type: str
                    choices:
                      - pod
                      - node
                  secret_ref:
                    description:
                      - See O(volumes[].import.registry.secret_ref).
                    type: str
                  cert_config_map:
                    description:
                      - See O(volumes[].import.registry.cert_config_map).
                    type: str
              s3:
                description:
                  - See O(volumes[].import.s3).
                type: dict
                suboptions:
                  url:
                    description:
                      - See O(volumes[].import.s3.url).
                    type: str
                    required: true
                  secret_ref:
                    description:
                      - See O(volumes[].import.s3.secret_ref).
                    type: str
                  cert_config_map:
                    description:
                      - See O(volumes[].import.s3.cert_config_map).
                    type: str
              snapshot:
                description:
                  - See O(volumes[].import.snapshot).
                type: dict
                suboptions:
                  name:
                    description:
                      - See O(volumes[].import.snapshot.name).
                    type: str
                    required: true
                  namespace:
                    description:
                      - See O(volumes[].import.snapshot.namespace).
                    type: str
                    required: true
              vddk:
                description:
                  - See O(volumes[].import.vddk).
                type: dict
                suboptions:
                  url:
                    description:
                      - See O(volumes[].import.vddk.url).
                    type: str
                    required: true
                  uuid:
                    description:
                      - See O(volumes[].import.vddk.uuid).
                    type: str
                    required: true
                  thumbprint:
                    description:
                      - See O(volumes[].import.vddk.thumbprint).
                    type: str
                    required: true
                  secret_ref:
                    description:
                      - See O(volumes[].import.vddk.secret_ref).
                    type: str
                    required: true
                  backing_file:
                    description:
                      - See O(volumes[].import.vddk.backing_file).
                    type: str
                    required: true
                  init_image_url:
                    description:
                      - See O(volumes[].import.vddk.init_image_url).
                    type: str
          cloud_init:
            description:
              - See O(volumes[].cloud_init).
            type: dict
            suboptions:
              type:
                description:
                  - See O(volumes[].cloud_init.type).
                type: str
                default: nocloud
                choices:
                  - nocloud
                  - configdrive
              user_data:
                description:
                  - See O(volumes[].cloud_init.user_data).
                type: str
              user_data_base64:
                description:
                  - See O(volumes[].cloud_init.user_data_base64).
                type: str
              network_data:
                description:
                  - See O(volumes[].cloud_init.network_data).
                type: str
              network_data_base64:
                description:
                  - See O(volumes[].cloud_init.network_data_base64).
                type: str
          sysprep:
            description:
              - See O(volumes[].sysprep).
            type: dict
            suboptions:
              config_map:
                description:
                  - See O(volumes[].sysprep.config_map).
                type: str
              secret:
                description:
                  - See O(volumes[].sysprep.secret).
                type: str
          boot_order:
            description:
              - See O(volumes[].boot_order).
            type: int
          bus:
            description:
              - See O(volumes[].bus).
            type: str
            choices:
              - virtio
              - scsi
              - sata
              - usb
          device:
            description:
              - See O(volumes[].device).
            type: str
            choices:
              - disk
              - cdrom
              - lun
"""
