"""The module virtual_machine: its options, and the file of `password_file`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.declare.vm import cloud_init
from ..._resolver.declare.vm.from_template import OPTION
from ..._resolver.declare.vm.manifest import manifest, warnings
from ..._resolver.declare.vm.options import EXCLUSIVE, SPEC
from ..act.handlers.virtual_machine import VirtualMachineHandler
from ..act.kind_handler import Entry
from ..client.session import Session
from .capacity import capacity
from .completion import Templates, Workloads, complete
from .objects import ObjectModule
from .outcome import Mode, Params
from .selection import to_delete

# Of the task, not of a VM.
_SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "restart": {"type": "str", "choices": ["never", "if_required"], "default": "never"},
    "field_manager": {"type": "str", "default": "virtshape"},
    "quota": {"type": "str", "choices": ["strict", "warn", "off"], "default": "off"},
    "preflight_placement": {"type": "bool", "default": False},
}
# No default for label_selectors: the user must choose VMs.
_SELECTORS: Final[dict[str, dict[str, Any]]] = {
    "names": {"type": "list", "elements": "str"},
    "label_selectors": {"type": "list", "elements": "str"},
}


def with_password(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a VM with the content of `cloud_init.password_file` as its password.

    The resolver has no I/O. An empty path counts as none. Raises FieldError if the file cannot be read.
    """
    settings = options.get("cloud_init") or {}
    path = settings.get("password_file")
    if not path or settings.get("type") == cloud_init.NONE or options.get("state") == "absent":
        return options
    try:
        content = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        # The message may name the file but must not contain its content.
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise FieldError(cloud_init.PASSWORD_FILE, f"cannot be read: {reason}") from None
    return cloud_init.with_password(options, content)


def _manifest(options: dict[str, Any]) -> dict[str, Any]:
    return manifest(with_password(options))


def _complete(params: Params, mode: Mode, session: Session, entries: list[Entry]) -> list[Entry]:
    for option, completed in (
        (OPTION, Templates(mode, session).completed),
        ("workload", Workloads(params, session, _manifest).completed),
    ):
        entries = complete(mode, session, entries, option, completed)
    return entries


MODULE = ObjectModule(
    plural="virtual_machines",
    spec=SPEC,
    manifest=_manifest,
    handler=VirtualMachineHandler,
    settings=_SETTINGS,
    rules={"mutually_exclusive": EXCLUSIVE},
    complete=_complete,
    capacity=capacity,
    warnings=warnings,
    selectors=_SELECTORS,
    select=to_delete,
).module
