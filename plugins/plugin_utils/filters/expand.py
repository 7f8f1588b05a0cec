"""The filter expand."""

from __future__ import annotations

from .. import _vm_filters as vm_filters
from .._filters import vm_filter

expand = vm_filter("expand", vm_filters.expand)
