"""The filter resources."""

from __future__ import annotations

from .. import _pod_filters
from .._filters import manifest_list, single_manifest, vm_filter

_OPTIONS = {
    "kubevirt": single_manifest,
    "namespace": single_manifest,
    "quotas": manifest_list,
    "networks": manifest_list,
    "migrates_from": single_manifest,
}
resources = vm_filter("resources", _pod_filters.resources, **_OPTIONS)
