# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options shared by modules that declare one object or a list, as `_cluster/modules/shared_options.py` has them."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  defaults:
    description:
      - Default options for the entries of the list, as a dictionary, for example from the inventory. Options of the
        task override these defaults, and options of an entry override both.
      - Dictionaries are merged at every depth. A list or any other value replaces the default, and V(null) removes it.
        If two options are mutually exclusive, such as O(ignore:boot.url) and O(ignore:boot.pvc), the option of the
        entry replaces the option of the defaults.
    type: dict
  wait:
    description: Whether to wait until the objects are in the desired state.
    type: bool
    default: false
  wait_timeout:
    description: Maximum number of seconds to wait, for all objects of the task together. An object that is not ready by
      then fails, and the message says what it is waiting for.
    type: int
    default: 120
  preflight:
    description:
      - What to do about a problem that the task finds before it sends anything, such as a VM that conflicts with its
        instancetype, does not meet the requirements of its preference, or could never start.
      - With V(strict) the object fails and is not sent. With V(warn) the object is sent with a warning. With V(off) the
        task checks nothing.
      - A claim, DataVolume, ConfigMap, service account, network or priority class that a VM names and that does not
        exist yet is always only a warning, because something else may create it in time. The task does not look for
        Secrets, because that requires the right to read them.
    type: str
    choices: [strict, warn, 'off']
    default: strict
"""
    CONCURRENCY = r"""
options:
  concurrency:
    description: Maximum number of concurrent requests, from 1 to 256.
    type: int
    default: 16
"""
    FAIL_FAST = r"""
options:
  fail_fast:
    description: Whether to stop the task at the first object that fails. By default the task handles all other objects
      and then fails.
    type: bool
    default: false
"""
    OWNERSHIP = r"""
options:
  force_conflicts:
    description:
      - Whether to take over fields that another field manager owns. By default such a field is an error that names the
        manager.
      - A controller in C(metadata.ownerReferences), such as a VirtualMachinePool, keeps its fields whatever the task
        takes over. Change them in its template.
      - With V(true) the task also removes fields that are no longer declared here but that another manager owns too. By
        default these fields stay, with a warning.
    type: bool
    default: false
  take_over:
    description:
      - Field managers to take the declared fields over from, as a list. V(true) means the managers of tools that create
        an object once - C(kubectl) (client-side apply, create, edit, patch, replace), C(OpenAPI-Generator) (the Python
        client of modules such as C(kubernetes.core.k8s)), C(virtctl) and Terraform.
      - By default nothing is taken over. Such a manager then stays co-owner of its fields, and the first change of a
        field fails with C("OpenAPI-Generator" owns spec.instancetype.name).
      - Taking over changes no value and no generation, except that a declared run strategy replaces its other
        spelling, C(spec.running), in a VM. Fields that are not declared stay with their manager, and the results list
        them. Argo CD (C(argocd-controller)) takes its fields back, unless its repository has them as
        declared here. The task also removes the last-applied annotation of C(kubectl apply), because a later C(kubectl
        apply) would use the annotation to remove fields.
    type: raw
"""
