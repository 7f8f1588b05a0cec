"""The registry of the distribution project on loopback, where Debian's package `docker-registry` is installed."""

import contextlib
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from container_image import documents

PROGRAM = shutil.which("docker-registry")
_TIMEOUT = 30
_BYTES = "application/octet-stream"
# The hash of the password `secret`, made by htpasswd -B.
_PASSWORD = "$2b$04$19TmrMUBnvtyu5o5OZ2lQuTHb36ExjURGKDWATq.uMprOG7b388GS"


class DockerRegistry:
    """address: HOST:PORT. login: user and password; None serves everybody."""

    def __init__(self, address: str, login: tuple[str, str] | None) -> None:
        self.address = address
        self._opener = urllib.request.build_opener()
        if login:
            passwords = urllib.request.HTTPPasswordMgrWithDefaultRealm()
            passwords.add_password(None, f"http://{address}/", *login)
            self._opener.add_handler(urllib.request.HTTPBasicAuthHandler(passwords))

    def push(self, name: str, tag: str, environment: dict[str, list[str]]) -> str:
        """Pushes an image for each architecture; returns the digest of the whole."""
        *_parts, whole = made = list(documents(environment))
        for document in made:
            if document.folder == "blobs":
                begun = self._sent("POST", f"/v2/{name}/blobs/uploads/", "", b"")
                place = begun["Location"].removeprefix(f"http://{self.address}")
                joint = "&" if "?" in place else "?"
                self._sent("PUT", f"{place}{joint}digest={document.digest}", _BYTES, document.text)
            else:
                self._sent("PUT", f"/v2/{name}/manifests/{document.digest}", document.media_type, document.text)
        self._sent("PUT", f"/v2/{name}/manifests/{tag}", whole.media_type, whole.text)
        return whole.digest

    def _sent(self, method: str, path: str, media_type: str, data: bytes) -> dict[str, str]:
        request = urllib.request.Request(
            f"http://{self.address}{path}", data, {"Content-Type": media_type}, method=method
        )
        with self._opener.open(request) as answer:
            return dict(answer.headers)


@contextlib.contextmanager
def docker_registry(folder: Path, private: bool = False) -> Iterator[DockerRegistry]:
    """A registry that lives as long. private: only ``me`` with the password ``secret`` may read and write."""
    assert PROGRAM
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{chosen.getsockname()[1]}"
    settings = {
        "version": 0.1,
        "log": {"level": "error"},
        "storage": {"filesystem": {"rootdirectory": str(folder / "content")}},
        "http": {"addr": address},
    }
    if private:
        (folder / "passwords").write_text(f"me:{_PASSWORD}\n")
        settings["auth"] = {"htpasswd": {"realm": "test", "path": str(folder / "passwords")}}
    # JSON is YAML, too.
    (folder / "config.yml").write_text(json.dumps(settings))
    with (folder / "log").open("wb") as log:
        command = [PROGRAM, "serve", str(folder / "config.yml")]
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            _await(address, server, folder / "log")
            yield DockerRegistry(address, ("me", "secret") if private else None)
        finally:
            server.terminate()
            server.wait()


def _await(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _TIMEOUT
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"http://{address}/v2/").close()
        except urllib.error.HTTPError:
            return
        except OSError:
            assert server.poll() is None, log.read_text()
            time.sleep(0.05)
        else:
            return
    raise AssertionError(log.read_text())
