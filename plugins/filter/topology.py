# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: topology
short_description: Compute sockets, cores and threads for a number of vCPUs
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - An instancetype sets the number of vCPUs of a guest, and a preference sets their topology. The filter returns the
    resulting topology.
  - vCPUs that are not divisible as the preference requires, and a preference that KubeVirt would reject, are errors
    with KubeVirt's message.
  - Works offline, on one value or on a list.
positional: preference
options:
  _input:
    description: A number of vCPUs, or the manifest or bare spec of an instancetype, or a list of these.
    type: raw
    required: true
  preference:
    description: Manifest of the preference, or its bare spec. Without a preference the vCPUs are sockets.
    type: dict
  kubevirt_version:
    description:
      - The release of KubeVirt whose behaviour to compute, such as V(1.6) or V(v1.5.2). Default is the newest release
        that this collection knows.
    type: str
"""

EXAMPLES = r"""
- name: Four sockets with two cores each
  ansible.builtin.debug:
    msg: "{{ 8 | virtshape.instancetypes.topology({'cpu': {'preferredCPUTopology': 'spread'}}) }}"

- name: Which sizes can be spread over three cores a socket?
  ansible.builtin.debug:
    msg: "{{ [3, 6, 12] | virtshape.instancetypes.topology(preference) | map(attribute='sockets') }}"
  vars:
    preference: {cpu: {preferredCPUTopology: spread, spreadOptions: {across: SocketsCores, ratio: 3}}}
"""

RETURN = r"""
_value:
  description: The topology, or a list if the input is a list.
  type: raw
  contains:
    sockets:
      description: Number of sockets.
      type: int
    cores:
      description: Cores of each socket.
      type: int
    threads:
      description: Threads of each core.
      type: int
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.choose.selection import Rejected, spread
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import answering, netted


def topology(value: Any, preference: Any = None, kubevirt_version: Any = None) -> Any:
    """See DOCUMENTATION."""
    if preference is not None and not isinstance(preference, Mapping):
        raise AnsibleFilterError(f"topology: preference: expected a manifest or a spec, found {preference!r}")
    version = answering("topology", kubevirt_version)

    def one(entry: Any) -> dict:
        try:
            return spread(dict(entry) if isinstance(entry, Mapping) else entry, preference, version)
        except Rejected as error:
            raise AnsibleFilterError(f"topology: {error}") from error

    if isinstance(value, Iterable) and not isinstance(value, (str, Mapping)):
        return [one(entry) for entry in value]
    return one(value)


class FilterModule:
    def filters(self) -> dict:
        return netted({"topology": topology})
