"""The module boot_source: its options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..._cluster.modules.declaration import Declaration, TaskState
from ..._cluster.modules.module import Module
from ..._resolver.api.errors import FieldError
from ..._resolver.api.manifest import Manifest, Options
from ..._resolver.api.release import Release
from ..source import LABELED_KINDS, ORIGINS, rendered, represented_object
from .boot_source_state import refused
from .sources import boot_source_details, declare_sources

_REFERENCE: Final = {"name": {"type": "str", "required": True}, "namespace": {"type": "str"}}
_MATCHER: Final = {"name": {"type": "str", "required": True}, "kind": {"type": "str"}}
_UPLOAD: Final[dict[str, dict[str, Any]]] = {
    "path": {"type": "path", "required": True},
    "archive": {"type": "bool", "default": False},
    "volume": {"type": "str"},
    "claim": {"type": "bool", "default": False},
    "create": {"type": "bool", "default": True},
    "data_source": {"type": "bool", "default": True},
    "tries": {"type": "int", "default": 5},
    "ready_timeout": {"type": "int", "default": 300},
}
_PROXY: Final[dict[str, dict[str, Any]]] = {
    "url": {"type": "str"},
    "ca_cert": {"type": "path"},
    "validate_certs": {"type": "bool", "default": True},
}
_SPEC: Final[dict[str, dict[str, Any]]] = {
    "name": {"type": "str"},
    "namespace": {"type": "str"},
    "state": {"type": "str", "choices": ["present", "labeled", "absent"], "default": "present"},
    "kind": {"type": "str", "choices": list(LABELED_KINDS), "default": LABELED_KINDS[0]},
    "image": {"type": "str"},
    "image_stream": {"type": "str"},
    "schedule": {"type": "str"},
    "url": {"type": "str"},
    "checksum": {"type": "str"},
    "pvc": {"type": "dict", "options": _REFERENCE},
    "snapshot": {"type": "dict", "options": _REFERENCE},
    "upload": {"type": "dict", "options": _UPLOAD},
    "upload_proxy": {"type": "dict", "options": _PROXY},
    "size": {"type": "str"},
    "storage_class": {"type": "str"},
    "access_modes": {
        "type": "list",
        "elements": "str",
        "choices": ["ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"],
    },
    "volume_mode": {"type": "str", "choices": ["Block", "Filesystem"]},
    "force_bind": {"type": "bool", "default": False},
    "keep": {"type": "int", "default": 3},
    "architecture": {"type": "str"},
    "pull_method": {"type": "str", "choices": ["pod", "node"]},
    # The name of a Secret, not what is in it.
    "secret_ref": {"type": "str", "no_log": False},
    "cert_config_map": {"type": "str"},
    "consumers": {"type": "list", "elements": "str"},
    "query_registry": {"type": "bool", "default": True},
    "insecure_registry": {"type": "bool", "default": False},
    "instancetype": {"type": "dict", "options": _MATCHER},
    "preference": {"type": "dict", "options": _MATCHER},
}


def _created(options: Options, _manifest: Manifest, _release: Release) -> list[Manifest]:
    manifests = rendered(options)
    problems = [finding.text for manifest in manifests for finding in refused(manifest)]
    if problems:
        raise FieldError("", problems[0])
    return manifests


def module(states: Sequence[TaskState] = ()) -> Module:
    """The module. states: of capabilities."""
    return Declaration(
        plural="boot_sources",
        spec=_SPEC,
        manifest=represented_object,
        describe=boot_source_details,
        object_rules={"mutually_exclusive": [ORIGINS]},
        declare=declare_sources,
        states=states,
        created=_created,
    ).module()
