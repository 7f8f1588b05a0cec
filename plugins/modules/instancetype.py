#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: instancetype
short_description: Declare instancetypes of KubeVirt
version_added: 1.0.0
description:
  - An instancetype defines the vCPUs, memory, GPUs and host devices of a VM, which the VM cannot override.
  - Takes one object at the top level, or many in O(instancetypes). One process handles all objects with one list
    request per kind and namespace. An object that is already as declared costs no further request.
  - The task declares objects by server-side apply with the field manager C(virtshape). Fields that
    are no longer declared are removed. Fields that others own are left alone.
author: virtshape.instancetypes contributors (@virtshape)
extends_documentation_fragment:
  - virtshape.instancetypes.instancetype_options
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.writes
  - virtshape.instancetypes.writes.existing
  - virtshape.instancetypes.writes.dry_run
  - virtshape.instancetypes.declare
  - virtshape.instancetypes.declare.concurrency
  - virtshape.instancetypes.declare.fail_fast
  - virtshape.instancetypes.declare.ownership
  - virtshape.instancetypes.rendered
  - virtshape.instancetypes.attributes
"""

EXAMPLES = r"""
- name: A size for web servers, for all namespaces
  virtshape.instancetypes.instancetype:
    name: web.small
    cpu: {guest: 2}
    memory: {guest: 4Gi}
    labels: {team: web}

- name: Two sizes for one namespace in one task
  virtshape.instancetypes.instancetype:
    namespace: shop
    instancetypes:
      - name: db.medium
        cpu:
          guest: 4
          dedicated_cpu_placement: true
        memory:
          guest: 16Gi
          hugepages: {page_size: 1Gi}
      - name: db.large
        spec:
          cpu: {guest: 8}
          memory: {guest: 32Gi}

- name: Announce that a size goes, and what to use instead
  virtshape.instancetypes.instancetype:
    name: web.tiny
    cpu: {guest: 1}
    memory: {guest: 1Gi}
    deprecated:
      replacement: web.small
      obsolete_from: 2027-03-31

- name: Remove one
  virtshape.instancetypes.instancetype:
    name: web.tiny
    state: absent
"""

RETURN = r"""
msg:
  description: Number of objects that were created, changed, deleted and unchanged; on failure the failed objects with
    their reasons.
  returned: always
  type: str
  sample: "3 instancetypes: 1 created, 2 unchanged"
cluster:
  description: Address of the API server.
  returned: unless O(state=rendered)
  type: str
  sample: https://api.example.com:6443
results:
  description: One entry for each object, in the order given.
  returned: always
  type: list
  elements: dict
  contains:
    name: {description: Name of the object., type: str, returned: always}
    namespace: {description: Namespace of the object., type: str, returned: when it has one}
    uid: {description: UID of the object., type: str, returned: when it exists}
    kind: {description: Kind of the object., type: str, returned: unless its options are wrong}
    action:
      description: What the task did, or would do in check mode - V(create), V(apply), V(delete), V(none) or V(keep).
        V(keep) means that the task did not change an object that it does not manage.
      type: str
      returned: always
      sample: apply
    changed: {description: "Whether the object was changed, or would be in check mode.", type: bool, returned: always}
    failed: {description: Whether the object failed., type: bool, returned: always}
    skip_reason: {description: Why the task did not change the object., type: str, returned: when it was left alone}
    taken_over:
      description: Whether the task changes only the owner of fields. All values are already as declared, and
        C(virtshape) becomes an owner of the fields.
      type: bool
      returned: when it is so
    taken_over_from:
      description: Field managers that the declared fields were taken over from, or would be in check mode.
      returned: when there are any
      type: list
      elements: str
      sample: [OpenAPI-Generator]
    owned_by_others:
      description: Fields that other field managers own after the task, by manager, without the status. Empty in check
        mode.
      returned: together with C(taken_over_from)
      type: dict
      sample: {OpenAPI-Generator: [metadata.labels.team]}
    msg: {description: "Why the object failed, on one line.", type: str, returned: on failure}
    warnings: {description: Warnings about the object., type: list, elements: str, returned: when there are any}
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
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.instancetype import module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._conversion.deprecated import deprecated_fields
from ansible_collections.virtshape.instancetypes.plugins.module_utils._git.cluster.rendered_state import RENDERED

MODULE = module((RENDERED,), (deprecated_fields,))


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
