"""The contents of claims: a file for each volume that holds something, or that a guest has used."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from node.api.informer import Informer
from node.cdi import quantity
from node.guests import images
from node.guests.domain import Drive, Unsupported
from node.guests.images import Images

Manifest = dict[str, Any]


class Store:
    """The files of volumes in a folder. claims: a cache. images: what users have mapped."""

    def __init__(self, folder: Path, claims: Informer, images: Images) -> None:
        self.images = images
        self._folder = folder
        self._claims = claims
        folder.mkdir(mode=0o700, exist_ok=True)

    def volume(self, namespace: str, claim: str) -> str:
        """The name of the volume that a claim is bound to; "" for none."""
        found = self._claims.get((namespace, claim))
        return str(found["spec"].get("volumeName") or "") if found is not None else ""

    def holds(self, namespace: str, claim: str) -> bool:
        """Whether a claim holds a disk. Raises Unsupported if it would hold what nobody has mapped."""
        volume = self.volume(namespace, claim)
        if self._unknown(volume).exists():
            raise Unsupported(f"claim {claim}: {self._unknown(volume).read_text()}")
        return bool(volume) and self._file(volume).exists()

    async def drive(self, namespace: str, claim: str) -> Drive:
        """The disk of a claim, as large as the claim is. Raises Unsupported."""
        volume = self.volume(namespace, claim)
        if not volume:
            raise Unsupported(f"claim {claim} is not bound")
        file, size = self._file(volume), self._size(namespace, claim)
        if not file.exists():
            return await images.create(file, size)
        await images.grow(file, size)
        return Drive(str(file.absolute()), "qcow2")

    async def fill(self, namespace: str, claim: str, source: Drive) -> None:
        """Gives a claim the contents of a file."""
        volume = self.volume(namespace, claim)
        self.delete(volume)
        await images.copy(Path(source.file), self._file(volume))
        await images.grow(self._file(volume), self._size(namespace, claim))

    @contextlib.contextmanager
    def incoming(self, namespace: str, claim: str) -> Iterator[Path]:
        """A file for data that comes in for a claim; `take` makes a disk of it."""
        file = self._folder / f"{self.volume(namespace, claim)}.incoming"
        try:
            yield file
        finally:
            file.unlink(missing_ok=True)

    async def take(self, namespace: str, claim: str, file: Path) -> None:
        """Gives a claim the contents of an image of any format, which may be compressed. Raises ToolFailed."""
        volume = self.volume(namespace, claim)
        self.delete(volume)
        await asyncio.to_thread(images.decompress, file)
        await images.copy(file, self._file(volume))
        await images.grow(self._file(volume), self._size(namespace, claim))

    def leave_unknown(self, namespace: str, claim: str, reason: str) -> None:
        """Remembers why nobody knows what a claim holds."""
        volume = self.volume(namespace, claim)
        if volume:
            self._unknown(volume).write_text(reason)

    async def copy(self, source: str, target: str) -> None:
        """Copies what a volume holds to a new one."""
        for file, other in ((self._file(source), self._file(target)), (self._unknown(source), self._unknown(target))):
            if file.exists() and file.suffix == ".reason":
                other.write_text(file.read_text())
            elif file.exists() and not other.exists():
                await images.copy(file, other)

    def delete(self, volume: str) -> None:
        for file in (self._file(volume), self._unknown(volume)):
            file.unlink(missing_ok=True)

    def _size(self, namespace: str, claim: str) -> int:
        found = self._claims.get((namespace, claim)) or {}
        storage = found["spec"]["resources"]["requests"]["storage"] if found else "0"
        return int(quantity.parse(str(storage)))

    def _file(self, volume: str) -> Path:
        return self._folder / f"{volume}.qcow2"

    def _unknown(self, volume: str) -> Path:
        return self._folder / f"{volume}.reason"
