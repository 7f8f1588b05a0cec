# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options shared by modules that write; see `_cluster/modules/shared_options.py`."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  results_on_failure:
    description:
      - Which entries RV(ignore:results) has when the task fails.
      - V(failed) for failed objects only, each with its name, and with RV(ignore:results[].msg) unless the message of
        the task has all of it. The message counts the others, and in diff mode Ansible prints their diffs.
      - V(all) for all objects, for a play that continues after the failure and uses the results.
    type: str
    choices: [failed, all]
    default: failed
"""
    DRY_RUN = r"""
options:
  server_dry_run:
    description:
      - Whether check mode sends each write as a server-side dry run, which stores nothing. An object that a schema, a
        policy, a quota or a webhook of the cluster rejects fails the check.
      - A dry run needs the same rights as the write. Without these rights, or with a webhook that does not support dry
        runs, the task warns and reports only what the collection itself checks.
      - A missing object that an earlier task of the same play may create, such as a namespace or an instancetype, is a
        warning.
    type: bool
    default: true
"""
    # Options of modules for instancetypes and preferences.
    EXISTING = r"""
options:
  existing:
    description: What to do with existing objects that this collection never declared. With V(apply) the task declares
      them like all others, with V(keep) it does not change them. The task never changes objects that C(virt-operator)
      manages.
    type: str
    choices: [apply, keep]
    default: apply
  force:
    description: With O(state=absent), whether to delete objects that VMs use. VMs with a captured copy keep running and
      can restart; other VMs can no longer start.
    type: bool
    default: false
"""
