# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether objects of KubeVirt may have fields that the collection does not know."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  accept_unknown_fields:
    description:
      - Whether to send fields that this collection does not know. By default an unknown field fails the task before
        anything is sent, and the message suggests the closest known field.
      - Use this option for fields of a KubeVirt release that is newer than the collection. If KubeVirt does not know
        the field either, it rejects the object.
    type: bool
"""
