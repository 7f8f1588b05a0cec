# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prints the progress of uploads, and what was changed although other objects of the task failed."""

from __future__ import annotations

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.act.boot.progress import VARIABLE
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._following import followed
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._writing import WritingAction


class ActionModule(WritingAction):
    """The module's action."""

    def execute(self, options: dict[str, Any], tmp: Any, task_vars: Any) -> dict[str, Any]:
        # Only a module on this host can write to a file of this host.
        if self._connection.transport != "local" or self._task.async_val:
            return super().execute(options, tmp, task_vars)
        with followed(self._display.display) as path:
            self._task.environment = [*(self._task.environment or []), {VARIABLE: path}]
            return super().execute(options, tmp, task_vars)
