# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action of the modules whose links lead here: nothing but what all actions do."""

from __future__ import annotations

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils import _direct
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._action import ModuleAction

_direct.entry(__name__)


class ActionModule(ModuleAction):
    """The action."""
