# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether check mode asks the server; `_cluster/entry/argument_spec.py` has the same option."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  server_dry_run:
    description:
      - Whether check mode asks the server about each object that the task would write, with a dry run that stores
        nothing. An object that a schema, a policy, a quota or a webhook of the cluster refuses fails the check.
      - A dry run needs the same rights as the write. Without them, and where a webhook of the cluster permits no dry
        runs, the check says so in a warning and rests on what the collection itself can tell.
      - What a check cannot know is a warning, too, such as a namespace or an instancetype that does not exist and that
        an earlier task of the same play may create.
    type: bool
    default: true
"""
