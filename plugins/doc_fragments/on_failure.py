# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the result of a failed task has; `_cluster/entry/ending.py` has the same option."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  results_on_failure:
    description:
      - Which entries RV(ignore:results) has when the task fails.
      - V(failed) for those that failed, each with its name and RV(ignore:results[].msg). What became of the others is
        counted in the message, and in diff mode their diffs are printed. So a failure among hundreds of objects fits on
        a screen.
      - V(all) for all of them in full, for a play that goes on after the failure and works with the results.
    type: str
    choices:
      - failed
      - all
    default: failed
"""
