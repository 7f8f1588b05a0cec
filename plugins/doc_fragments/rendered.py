# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the state `rendered`, as `_git/cluster/rendered_state.py` has them."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  dest:
    description:
      - With O(ignore:state=rendered), where the module writes the manifests - into this file if its name ends in
        C(.yml) or C(.yaml), else into this folder, with a file for each object, such as
        C(shop_virtualmachine_web.yaml). The module creates missing folders.
      - A file is written as a whole, and only if its content changes. Files of objects that are no longer declared
        stay.
      - A file that has something else is not replaced - objects of other modules, in a folder another object, or no
        manifests at all.
    type: path
  kubevirt_version:
    description: With O(ignore:state=rendered), the release of KubeVirt that is to get the manifests, such as V(1.6) or
      V(v1.5.2). A field that the release does not know is an error. Default is the newest release that this collection
      knows.
    type: str
  keep_secrets:
    description:
      - With O(ignore:state=rendered), whether the files in O(ignore:dest) may contain values that may be secret, such
        as passwords, cloud-init data that an option has as text, and URLs with a user or a query. By default such a
        value is an error.
      - RV(ignore:rendered) and diffs never contain them.
    type: bool
    default: false
"""
