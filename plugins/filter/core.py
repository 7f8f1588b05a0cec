# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filters of the core. The file with the name of a filter has its documentation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filter_functions._deferred import filters


class FilterModule:
    def filters(self) -> dict[str, Callable[..., Any]]:
        return {
            **filters("catalog_objects", "catalog_objects"),
            **filters("choose", "fitting"),
            **filters("drift", "drift"),
            **filters("explain", "explain"),
            **filters("files", "_catalog_files"),
            **filters("quantity", "quantity"),
            **filters("variables", "_failure", "_survey", "_unknown"),
            **filters("vm", "expand", "infer"),
        }
