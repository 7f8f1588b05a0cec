"""Where what is known of a cluster's VMs outlives the event source: a file that grows by a line, or a ConfigMap."""

from __future__ import annotations

import base64
import os
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote

from ..._cluster.client.errors import TaskFailed
from ..._cluster.client.session import Session
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.write import apply
from ..transitions import KnownVM, known_of, line_of

_HEADER: Final = "# virtshape.instancetypes.virtual_machines 1"
# The file is written anew once it has so many lines more than VMs.
_SURPLUS: Final = 5000
_CONFIG_MAP: Final = KINDS["ConfigMap"]
_KEY: Final = "known"
# What a ConfigMap holds at most, and the changes of VMs that may be told again if the source is killed.
_LARGEST: Final = 1_000_000
_UNSAVED: Final = 100
_MANAGER: Final = "virtshape-events"


class Store(Protocol):
    """Keeps what is known of VMs."""

    def load(self) -> dict[str, KnownVM] | None:
        """What was saved, None if nothing ever was. Raises TaskFailed if it is unreadable, and RequestFailed."""

    def save(self, name: str, known: KnownVM | None) -> None:
        """Saves what is known of a VM now, None if it is gone. Raises TaskFailed and RequestFailed."""

    def flush(self) -> None:
        """Called at the end of each look; what was saved before outlives the machine."""


class Nowhere:
    """Keeps nothing: after a restart, all is new."""

    def load(self) -> dict[str, KnownVM] | None:
        return None

    def save(self, _name: str, _known: KnownVM | None) -> None:
        pass

    def flush(self) -> None:
        pass


class StateFile:
    """A file with a line for each change. A kill at any moment harms nothing: a line that is cut off does not count."""

    def __init__(self, folder: str, cluster: str) -> None:
        self._path = Path(folder).expanduser() / f"{quote(cluster, safe='')}.jsonl"
        self._known: dict[str, KnownVM] = {}
        self._lines = 0
        self._dirty = False

    def load(self) -> dict[str, KnownVM] | None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            text = self._path.read_text(encoding="utf-8") if self._path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise TaskFailed(f"state_folder: cannot read {self._path}: {error}") from None
        header, *lines = text.split("\n")[:-1] or [""]
        if text and header != _HEADER:
            raise TaskFailed(f"state_folder: {self._path} is no state of this event source; delete it")
        try:
            self._known = known_of(lines)
        except ValueError as error:
            raise TaskFailed(f"state_folder: {self._path}: {error}; delete the file") from None
        self._rewrite()
        return dict(self._known) if text else None

    def save(self, name: str, known: KnownVM | None) -> None:
        if known is None:
            self._known.pop(name, None)
        else:
            self._known[name] = known
        try:
            self._file.write(f"{line_of(name, known)}\n")
            self._file.flush()
        except OSError as error:
            raise TaskFailed(f"state_folder: cannot write {self._path}: {error.strerror}") from None
        self._lines, self._dirty = self._lines + 1, True

    def flush(self) -> None:
        if not self._dirty:
            return
        if self._lines > len(self._known) + _SURPLUS:
            self._file.close()
            self._rewrite()
        os.fsync(self._file.fileno())
        self._dirty = False

    def _rewrite(self) -> None:
        """Replaces the file by one without outdated lines, and leaves it open."""
        new = self._path.with_suffix(".new")
        try:
            with new.open("w", encoding="utf-8") as file:
                file.write(f"{_HEADER}\n")
                file.writelines(f"{line_of(name, known)}\n" for name, known in self._known.items())
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._path)
            self._file = self._path.open("a", encoding="utf-8")
        except OSError as error:
            raise TaskFailed(f"state_folder: cannot write {self._path}: {error.strerror}") from None
        self._lines = len(self._known)


class StateConfigMap:
    """A ConfigMap of the cluster that is watched, written after every hundred changes and at the end of a look."""

    def __init__(self, session: Session, namespace: str, name: str) -> None:
        self._session, self._namespace, self._name = session, namespace, name
        self._known: dict[str, KnownVM] = {}
        self._unsaved = 0

    def load(self) -> dict[str, KnownVM] | None:
        live = self._session.get(_CONFIG_MAP, self._namespace, self._name)
        if live is None:
            return None
        try:
            packed = (live.get("binaryData") or {})[_KEY]
            self._known = known_of(zlib.decompress(base64.b64decode(packed)).decode().splitlines())
        except (KeyError, ValueError, zlib.error):
            where = f"{self._namespace}/{self._name}"
            raise TaskFailed(f"state_config_map: {where} is no state of this event source; delete it") from None
        return dict(self._known)

    def save(self, name: str, known: KnownVM | None) -> None:
        if known is None:
            self._known.pop(name, None)
        else:
            self._known[name] = known
        self._unsaved += 1
        if self._unsaved >= _UNSAVED:
            self.flush()

    def flush(self) -> None:
        if not self._unsaved:
            return
        packed = packed_state(self._known)
        if len(packed) > _LARGEST:
            raise TaskFailed(
                f"state_config_map: the state of {len(self._known)} VMs is larger than a ConfigMap may be; use"
                " state_folder, or a source for each part of them"
            )
        manifest = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": self._name, "namespace": self._namespace},
            "binaryData": {_KEY: packed},
        }
        path = _CONFIG_MAP.path(self._namespace, self._name)
        self._session.write(apply(path, manifest, _MANAGER, force=True))
        self._unsaved = 0


def packed_state(known: Mapping[str, KnownVM]) -> str:
    """What is known, compressed, as base64."""
    lines: Iterable[str] = (line_of(name, item) for name, item in sorted(known.items()))
    return base64.b64encode(zlib.compress("\n".join(lines).encode(), 9)).decode()
