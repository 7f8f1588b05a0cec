"""A registry on loopback, for demos and tests that need no other network.

    registry.py start NAME:TAG VARIABLE...    prints {"image": "127.0.0.1:PORT/NAME:TAG", "folder": FOLDER, "pid": PID}
    registry.py push FOLDER NAME:TAG VARIABLE...
    registry.py stop PID

An image is for amd64, has no layers, and has the environment variables NAME=VALUE. A pull reads nothing but files.
"""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"


def main(command: str, *arguments: str) -> None:
    if command == "start":
        server = subprocess.Popen(
            [sys.executable, __file__, "serve", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )
        assert server.stdout
        image, folder = server.stdout.readline().split()
        print(json.dumps({"image": image, "folder": folder, "pid": server.pid}))
    elif command == "push":
        push(Path(arguments[0]), *arguments[1:])
    elif command == "stop":
        os.kill(int(arguments[0]), signal.SIGTERM)
    else:
        serve(*arguments)


def serve(image: str, *environment: str) -> None:
    """Serves until SIGTERM; the first line on standard output is the whole name of the image, and the folder."""
    signal.signal(signal.SIGTERM, lambda *_signal: sys.exit())
    with tempfile.TemporaryDirectory() as root:
        push(Path(root), image, *environment)
        handler = functools.partial(Handler, directory=root)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            print(f"127.0.0.1:{server.server_address[1]}/{image}", root, flush=True)
            server.serve_forever()


def push(root: Path, image: str, *environment: str) -> None:
    """Writes the documents of an image to where a pull looks for them."""
    name, _colon, tag = image.partition(":")
    folder = root / "v2" / name
    content = {"architecture": "amd64", "os": "linux", "config": {"Env": list(environment)}}
    config = _write(folder / "blobs", {**content, "rootfs": {"type": "layers", "diff_ids": []}})
    descriptor = {"mediaType": _CONFIG, **config}
    manifest = {"schemaVersion": 2, "mediaType": _MANIFEST, "config": descriptor, "layers": []}
    digest = _write(folder / "manifests", manifest)["digest"]
    (folder / "manifests" / tag).unlink(missing_ok=True)
    (folder / "manifests" / tag).symlink_to(digest)


def _write(folder: Path, document: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(document).encode()
    digest = f"sha256:{hashlib.sha256(text).hexdigest()}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / digest).write_bytes(text)
    return {"digest": digest, "size": len(text)}


class Handler(http.server.SimpleHTTPRequestHandler):
    """Answers with a file, as what a registry says that it is."""

    def guess_type(self, path: Any) -> str:
        return _MANIFEST if "/manifests/" in str(path) else "application/octet-stream"

    def log_message(self, *_arguments: Any) -> None:
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
