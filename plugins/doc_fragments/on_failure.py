# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the result of a failed task has; `_cluster/entry/outcome.py` has the same option."""

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
    choices:
      - failed
      - all
    default: failed
"""
