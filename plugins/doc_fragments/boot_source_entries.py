# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Written by tools/generate_docs.py from the module's own documentation; do not edit.

"""The option for a list of boot sources, with the options of its entries."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  boot_sources:
    description:
      - A list of boot sources. An entry takes the same options as the task does for one boot
        source. An option that an entry leaves out has the value that the task gives, and an
        option with the value V(null) has none.
    type: list
    elements: dict
    suboptions:
      access_mode:
        description:
          - See O(access_mode).
        type: str
        choices:
          - ReadWriteOnce
          - ReadWriteMany
          - ReadWriteOncePod
      architecture:
        description:
          - See O(architecture).
        type: str
      ask_registry:
        description:
          - See O(ask_registry).
        type: bool
        default: true
      ca_config_map:
        description:
          - See O(ca_config_map).
        type: str
      checksum:
        description:
          - See O(checksum).
        type: str
      consumers:
        description:
          - See O(consumers).
        type: list
        elements: str
      force_bind:
        description:
          - See O(force_bind).
        type: bool
        default: false
      image:
        description:
          - See O(image).
        type: str
      image_stream:
        description:
          - See O(image_stream).
        type: str
      insecure_registry:
        description:
          - See O(insecure_registry).
        type: bool
        default: false
      instancetype:
        description:
          - See O(instancetype).
        type: dict
        suboptions:
          name:
            description:
              - See O(instancetype.name).
            type: str
            required: true
          kind:
            description:
              - See O(instancetype.kind).
            type: str
      keep:
        description:
          - See O(keep).
        type: int
        default: 3
      kind:
        description:
          - See O(kind).
        type: str
        default: DataSource
        choices:
          - DataSource
          - PersistentVolumeClaim
          - VolumeSnapshot
      name:
        description:
          - Name of the boot source.
        type: str
        required: true
      namespace:
        description:
          - See O(namespace).
        type: str
      preference:
        description:
          - See O(preference).
        type: dict
        suboptions:
          name:
            description:
              - See O(preference.name).
            type: str
            required: true
          kind:
            description:
              - See O(preference.kind).
            type: str
      pull_method:
        description:
          - See O(pull_method).
        type: str
        choices:
          - pod
          - node
      pvc:
        description:
          - See O(pvc).
        type: dict
        suboptions:
          name:
            description:
              - See O(pvc.name).
            type: str
            required: true
          namespace:
            description:
              - See O(pvc.namespace).
            type: str
      schedule:
        description:
          - See O(schedule).
        type: str
      secret:
        description:
          - See O(secret).
        type: str
      size:
        description:
          - See O(size).
        type: str
      snapshot:
        description:
          - See O(snapshot).
        type: dict
        suboptions:
          name:
            description:
              - See O(snapshot.name).
            type: str
            required: true
          namespace:
            description:
              - See O(snapshot.namespace).
            type: str
      state:
        description:
          - See O(state).
        type: str
        choices:
          - present
          - labeled
          - absent
      storage_class:
        description:
          - See O(storage_class).
        type: str
      upload:
        description:
          - See O(upload).
        type: dict
        suboptions:
          path:
            description:
              - See O(upload.path).
            type: path
            required: true
          archive:
            description:
              - See O(upload.archive).
            type: bool
            default: false
          volume:
            description:
              - See O(upload.volume).
            type: str
          claim:
            description:
              - See O(upload.claim).
            type: bool
            default: false
          create:
            description:
              - See O(upload.create).
            type: bool
            default: true
          data_source:
            description:
              - See O(upload.data_source).
            type: bool
            default: true
          tries:
            description:
              - See O(upload.tries).
            type: int
            default: 5
          ready_timeout:
            description:
              - See O(upload.ready_timeout).
            type: int
            default: 300
      upload_proxy:
        description:
          - See O(upload_proxy).
        type: dict
        suboptions:
          url:
            description:
              - See O(upload_proxy.url).
            type: str
          ca_cert:
            description:
              - See O(upload_proxy.ca_cert).
            type: path
          validate_certs:
            description:
              - See O(upload_proxy.validate_certs).
            type: bool
            default: true
      url:
        description:
          - See O(url).
        type: str
      volume_mode:
        description:
          - See O(volume_mode).
        type: str
        choices:
          - Block
          - Filesystem
"""
