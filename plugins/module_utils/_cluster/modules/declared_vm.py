"""The manifest of the VM that the options of the module virtual_machine declare."""

from __future__ import annotations

from pathlib import Path

from ..._resolver.api.errors import FieldError
from ..._resolver.api.manifest import Manifest, Options
from ..._resolver.declare.vm import cloud_init
from ..._resolver.declare.vm.manifest import manifest


def with_password(options: Options) -> Options:
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


def vm_from_options(options: Options) -> Manifest:
    """The VM that options declare. Raises FieldError."""
    return manifest(with_password(options))
