# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether check mode asks the server; `_cluster/entry/options.py` has the same option."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
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
