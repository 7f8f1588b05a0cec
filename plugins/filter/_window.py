# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: _window
short_description: Internal - whether a maintenance window leaves time for work
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - For roles and playbooks of this collection only; it may change in any release.
positional: deadline, time_zone
options:
  _input:
    description: The windows, or a text of them in YAML.
    type: raw
    required: true
  deadline:
    description: The time at which all work is over. None if it is empty.
    type: raw
    required: true
  time_zone:
    description: The time zone of all times, a name of the IANA database.
    type: raw
    required: true
  start:
    description: When the work began, in UTC. The deadline is the first one after it.
    type: str
  now:
    description: The present, in UTC, such as V(2026-01-31 22:00:00). Without it, only the other options are checked.
    type: str
  seconds:
    description: How long the work takes.
    type: float
    default: 0
"""

RETURN = r"""
_value:
  description: >-
    V(bad_input) is what is wrong with the options, V(refusal) why the work may not begin now. Both are empty if there
    is nothing to say.
  type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("_window")
