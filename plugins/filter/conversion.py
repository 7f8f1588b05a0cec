# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that converts manifests. The file with the name of a filter has its documentation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filter_functions._deferred import filters


class FilterModule:
    def filters(self) -> dict[str, Callable[..., Any]]:
        return filters("conversion", "modernize")
