# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The attributes of every module of the collection."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description:
      - Reports what would change and sends no change to the cluster. What does not exist, and may be created by an
        earlier task of the play, is a warning.
    support: full
  diff_mode:
    description: Shows each object before and after.
    support: full
  idempotent:
    description: A second run with the same options changes nothing.
    support: full
  action_group:
    description: C(module_defaults) can set options of all modules of the group.
    support: full
    membership:
      - virtshape.instancetypes.all
  platform:
    description: Where the module can run. The module reaches the cluster over the network.
    support: full
    platforms: posix
"""
