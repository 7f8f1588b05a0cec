"""Stores of what is known of a cluster's VMs, which outlive the event source: a file, or a ConfigMap."""

from __future__ import annotations

import base64
import fcntl
import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

from ..._cluster.client.errors import ApiError, TaskFailed
from ..._cluster.client.session import Session
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.write import apply, create
from ..transitions import KnownVM, known_of, line_of

_HEADER: Final = "# virtshape.instancetypes.virtual_machines 1"
# The file is written anew once it has so many lines more than VMs.
_SURPLUS: Final = 5000
_CONFIG_MAP: Final = KINDS["ConfigMap"]
_KEY: Final = "known"
# The bytes that a ConfigMap holds at most, and the changes of VMs that may be told again if the source is killed.
_LARGEST: Final = 1_000_000
_UNSAVED: Final = 100
_MANAGER: Final = "virtshape-events"


class Store:
    """Keeps the known VMs; a store of this class forgets them at the end of the source."""

    def __init__(self) -> None:
        self.known: dict[str, KnownVM] = {}

    def load(self) -> bool:
        """Whether VMs were ever saved; they are known now. Raises TaskFailed if they are unreadable, RequestFailed."""
        return False

    def save(self, name: str, known: KnownVM | None) -> None:
        """Saves what is known of a VM now, None if it is gone. It is known even if saving raises TaskFailed or
        RequestFailed.
        """
        if known is None:
            self.known.pop(name, None)
        else:
            self.known[name] = known

    def flush(self) -> None:
        """Called at the end of each look; what was saved before outlives the machine."""

    def close(self) -> None:
        """Lets another source have it."""


class StateFile(Store):
    """A file with a line for each change. A kill at any moment harms nothing: a line that is cut off does not count."""

    def __init__(self, folder: str, cluster: str, host: str) -> None:
        """The file of a cluster. cluster: its name in events. host: its API server."""
        super().__init__()
        self._path = Path(folder).expanduser() / f"{quote(cluster, safe='')}.jsonl"
        self._header = f"{_HEADER} {host}"
        self._lines = 0
        self._dirty = False

    def load(self) -> bool:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._lock()
            text = self._path.read_text(encoding="utf-8") if self._path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise TaskFailed(f"state_directory: cannot use {self._path}: {error}") from None
        header, *lines = text.split("\n")[:-1] or [""]
        if text and header != self._header:
            # The VMs of another cluster would all seem to be deleted.
            of = header.removeprefix(f"{_HEADER} ") if header.startswith(_HEADER) else ""
            problem = f"is the state of {of}; give this cluster another name" if of else "is no state of this source"
            raise TaskFailed(f"state_directory: {self._path} {problem}, or delete it")
        try:
            self.known = known_of(lines)
        except ValueError as error:
            raise TaskFailed(f"state_directory: {self._path}: {error}; delete the file") from None
        self._rewrite()
        return bool(text)

    def save(self, name: str, known: KnownVM | None) -> None:
        super().save(name, known)
        try:
            self._file.write(f"{line_of(name, known)}\n")
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from None
        self._lines, self._dirty = self._lines + 1, True

    def flush(self) -> None:
        if not self._dirty:
            return
        if self._lines > len(self.known) + _SURPLUS:
            self._file.close()
            self._rewrite()
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._unwritable(error) from None
        self._dirty = False

    def close(self) -> None:
        self._locked.close()

    def _lock(self) -> None:
        """Keeps other sources off."""
        self._locked = self._path.with_suffix(".lock").open("w")
        try:
            fcntl.flock(self._locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            problem = f"state_directory: another source uses {self._path}; give each its own folder"
            raise TaskFailed(problem) from None

    def _unwritable(self, error: OSError) -> TaskFailed:
        return TaskFailed(f"state_directory: cannot write {self._path}: {error.strerror}")

    def _rewrite(self) -> None:
        """Replaces the file by one without outdated lines, and leaves it open."""
        new = self._path.with_suffix(".new")
        try:
            with new.open("w", encoding="utf-8") as file:
                file.write(f"{self._header}\n")
                file.writelines(f"{line_of(name, known)}\n" for name, known in self.known.items())
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._path)
            self._file = self._path.open("a", encoding="utf-8")
        except OSError as error:
            raise self._unwritable(error) from None
        self._lines = len(self.known)


class StateConfigMap(Store):
    """A ConfigMap of the cluster that is watched, written after every hundred changes and at the end of a look."""

    def __init__(self, session: Callable[[], Session], namespace: str, name: str) -> None:
        """The ConfigMap of that name. session: returns the current session with the cluster."""
        super().__init__()
        self._session, self._namespace, self._name = session, namespace, name
        self._unsaved = 0
        # The data of the ConfigMap as far as they are known, None without one, and their resourceVersion.
        self._data: str | None = None
        self._version = ""

    def load(self) -> bool:
        self._data, self._version = self._read()
        if self._data is None:
            return False
        try:
            self.known = known_of(zlib.decompress(base64.b64decode(self._data)).decode().splitlines())
        except (ValueError, zlib.error):
            where = f"{self._namespace}/{self._name}"
            raise TaskFailed(f"state_config_map: {where} is no state of this event source; delete it") from None
        return True

    def save(self, name: str, known: KnownVM | None) -> None:
        super().save(name, known)
        self._unsaved += 1
        if self._unsaved >= _UNSAVED:
            self.flush()

    def flush(self) -> None:
        if not self._unsaved:
            return
        packed = packed_state(self.known)
        if len(packed) > _LARGEST:
            raise TaskFailed(
                f"state_config_map: the state of {len(self.known)} VMs is larger than a ConfigMap may be; use"
                " state_directory, or a source for each part of them"
            )
        try:
            self._version = self._write(packed)
        except ApiError as error:
            if error.code != 409:
                raise
            # Somebody labelled or deleted it, or the answer to an earlier attempt was lost; else it is not ours alone.
            data, self._version = self._read()
            if data not in (None, self._data, packed):
                where = f"{self._namespace}/{self._name}"
                problem = f"state_config_map: another source uses {where}; give each its own ConfigMap"
                raise TaskFailed(problem) from None
            self._version = self._write(packed)
        self._data, self._unsaved = packed, 0

    def _read(self) -> tuple[str | None, str]:
        live = self._session().get(_CONFIG_MAP, self._namespace, self._name)
        if live is None:
            return None, ""
        data = str((live.get("binaryData") or {}).get(_KEY) or "")
        return data, str(live["metadata"].get("resourceVersion") or "")

    def _write(self, packed: str) -> str:
        """Writes it over the version that is known, or creates it. Returns the new version."""
        metadata = {"name": self._name, "namespace": self._namespace}
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "binaryData": {_KEY: packed}}
        if self._version:
            metadata["resourceVersion"] = self._version
            write = apply(_CONFIG_MAP.path(self._namespace, self._name), manifest, _MANAGER, force=True)
        else:
            write = create(_CONFIG_MAP.path(self._namespace), manifest)
        return str(self._session().write(write)["metadata"].get("resourceVersion") or "")


def packed_state(known: Mapping[str, KnownVM]) -> str:
    """The known VMs, compressed, as base64."""
    lines: Iterable[str] = (line_of(name, item) for name, item in sorted(known.items()))
    return base64.b64encode(zlib.compress("\n".join(lines).encode(), 9)).decode()
