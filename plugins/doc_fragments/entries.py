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
      - Options that the entries of the list have unless they say otherwise, as a dictionary, for example one from the
        inventory. Options of the top level count before them, and those of an entry before both.
      - Dictionaries are merged, at every depth; a list or any other value replaces the one below it, and V(null) drops
        it. Of options that exclude each other, such as O(ignore:boot.url) and O(ignore:boot.pvc), the one that an entry
        gives replaces those of its defaults.
    type: dict
  accept_unknown_fields:
    description:
      - Whether fields that this collection does not know are sent. Otherwise they are an error before anything is sent,
        which names the field that was probably meant.
      - It is for fields of a KubeVirt newer than those that this collection knows. A KubeVirt that does not know them,
        either, refuses the object.
    type: bool
"""
