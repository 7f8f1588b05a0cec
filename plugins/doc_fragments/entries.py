# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the modules share that take one object or a list of them; `_cluster/entry/objects.py` has the same options."""

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
"""
