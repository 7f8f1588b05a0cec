"""The filter explain."""

from __future__ import annotations

from .. import _vm_filters as vm_filters
from .._filters import choice, vm_filter

explain = vm_filter("explain", vm_filters.explain, form=choice("data", "table"))
