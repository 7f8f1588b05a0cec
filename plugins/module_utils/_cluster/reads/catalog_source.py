"""Fetches published bundles: verifies checksums, uses a proxy, retries, and keeps a cache."""

from __future__ import annotations

import hashlib
import os
import re
import time
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ..._yaml.documents import LARGEST, catalog_documents
from ..client.concurrency import Backoff
from ..client.errors import TaskFailed, reason_of
from ..client.files import write_file
from ..client.web import urllib3, web_pool

RELEASES: Final = "https://github.com/kubevirt/common-instancetypes/releases/download"
_CHECKSUMS: Final = "CHECKSUMS.sha256"
_BUNDLES: Final = {
    "instancetype": "common-clusterinstancetypes-bundle-{version}.yaml",
    "preference": "common-clusterpreferences-bundle-{version}.yaml",
}
_DIGEST: Final = re.compile(r"(?:sha256:)?([0-9a-fA-F]{64})")
_CONNECT_TIMEOUT: Final = 10
_READ_TIMEOUT: Final = 60
_RETRIED: Final = frozenset({408, 429, 500, 502, 503, 504})


class DownloadSettings(NamedTuple):
    """Settings for the download of bundles.

    cache: the folder for fetched files, by checksum. proxy: "" for the environment's. ca_cert: a file with trusted
    certificates, "" for the system's. seconds: the time for retries.
    """

    cache: Path
    proxy: str = ""
    ca_cert: str = ""
    seconds: float = 60


def release_files(base: str, version: str, kinds: tuple[str, ...]) -> list[str]:
    """The addresses of a release's cluster-wide bundles; the namespaced bundles contain the same objects."""
    return [f"{base.rstrip('/')}/{version}/{_BUNDLES[kind].format(version=version)}" for kind in kinds]


class SourceDocuments(NamedTuple):
    """The documents of a source.

    places: the place of each document, for messages. checksums: address → SHA-256 of each fetched file.
    """

    documents: list[Any]
    places: list[str]
    checksums: dict[str, str]


def documents_of(options: dict[str, Any]) -> SourceDocuments:
    """The documents of the source that the options of `catalog` name. Raises TaskFailed."""
    # The action renders a folder of a Git repository, and then says where its documents come from.
    if options["source"] == "url" and not options.get("_places"):
        return _fetched(options)
    if options["definitions"] is None:
        read = (
            "run the module as a task, so that the controller reads the files"
            if options["source"] != "definitions"
            else ""
        )
        raise TaskFailed(f"definitions: required; {read or 'set it to catalogs or manifests'}")
    # The action knows where the documents come from.
    return SourceDocuments(options["definitions"], options.get("_places") or [], {})


def _fetched(options: dict[str, Any]) -> SourceDocuments:
    sources = DownloadSettings(
        Path(options["cache_directory"]).expanduser(),
        options["download_proxy"] or "",
        options["download_ca_cert"] or "",
        options["download_timeout"],
    )
    if options["version"] == "auto":
        raise TaskFailed(
            "version: auto needs a catalog that lists its versions; set the release to fetch, such as v1.7.0"
        )
    if options["version"]:
        kinds = tuple(kind for kind in _BUNDLES if kind in options["kinds"])
        if options["checksum"] and len(kinds) > 1:
            raise TaskFailed("checksum: only valid for a single file; the published checksums already cover a release")
        addresses = release_files(options["url"] or RELEASES, options["version"], kinds)
    elif options["url"]:
        addresses = [options["url"]]
    else:
        raise TaskFailed("version: required; set the version of a release, or url to the address of a bundle")
    fetched = fetch(addresses, options["checksum"] or "", sources)
    found = [
        (document.content, document.place_in(address))
        for address, (text, _digest) in zip(addresses, fetched)
        for document in catalog_documents(text, address)
    ]
    if not found:
        raise TaskFailed(f"{addresses[0]} contains only empty documents; set url to the address of a bundle")
    checksums = {address: digest for address, (_text, digest) in zip(addresses, fetched)}
    return SourceDocuments([content for content, _place in found], [place for _content, place in found], checksums)


def fetch(addresses: list[str], checksum: str, sources: DownloadSettings) -> list[tuple[str, str]]:
    """(text, SHA-256) of each file.

    checksum: the SHA-256 of a single file; "" to verify with the CHECKSUMS.sha256 published beside it. Files in the
    cache are not fetched again, nor is a release's list of checksums, which never changes. Raises TaskFailed.
    """
    declared = _digest(checksum)
    listed: dict[str, dict[str, str]] = {}
    fetched = []
    for url in addresses:
        digest, (folder, _slash, name) = declared, url.rpartition("/")
        if not digest:
            if folder not in listed:
                listed[folder] = _checksums(f"{folder}/{_CHECKSUMS}", name, sources)
            if name not in listed[folder]:
                raise TaskFailed(f"{folder}/{_CHECKSUMS} does not list {name}; set checksum, or another url")
            digest = listed[folder][name]
        fetched.append((_file(url, digest, sources), digest))
    return fetched


def _digest(checksum: str) -> str:
    if not checksum:
        return ""
    match = _DIGEST.fullmatch(checksum.strip())
    if match is None:
        raise TaskFailed(f"checksum: {checksum!r} is not a SHA-256; write sha256: and 64 hexadecimal digits")
    return match.group(1).lower()


def _checksums(url: str, name: str, sources: DownloadSettings) -> dict[str, str]:
    """File name → SHA-256 from a release's list, cached under its address."""
    cached = sources.cache / f"{hashlib.sha256(url.encode()).hexdigest()}.checksums"
    checksums = _parse_checksums(_read(cached) or b"")
    if name not in checksums:
        content = _download(url, sources)
        checksums = _parse_checksums(content)
        if not checksums:
            raise TaskFailed(f"{url} contains no checksums; set checksum, or another url")
        _write(cached, content)
    return checksums


def _parse_checksums(content: bytes) -> dict[str, str]:
    """Parses the lines of sha256sum: a digest, then a name, with an optional `*` or `./`."""
    checksums = {}
    for line in content.decode("utf-8", "replace").splitlines():
        digest, _space, name = line.strip().partition(" ")
        if _DIGEST.fullmatch(digest) and name.strip():
            checksums[name.strip().lstrip("*").rpartition("/")[2]] = digest.lower()
    return checksums


def _file(url: str, digest: str, sources: DownloadSettings) -> str:
    cached = sources.cache / digest
    content = _read(cached)
    if content is None or hashlib.sha256(content).hexdigest() != digest:
        content = _download(url, sources)
        actual = hashlib.sha256(content).hexdigest()
        if actual != digest:
            raise TaskFailed(
                f"{url}: expected the checksum {digest}, found {actual}; the file was changed or truncated, so"
                " nothing was deployed"
            )
        _write(cached, content)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise TaskFailed(f"{url} is not a text file: {error}") from error


def _download(url: str, sources: DownloadSettings) -> bytes:
    pool = _pool(url, sources)
    deadline, pauses = time.monotonic() + sources.seconds, Backoff()
    while True:
        try:
            # urllib3 also reports a body that is shorter than announced.
            timeout = urllib3.Timeout(connect=_CONNECT_TIMEOUT, read=_READ_TIMEOUT)
            response = pool.request(
                "GET", url, timeout=timeout, retries=urllib3.Retry(0, redirect=10), redirect=True, preload_content=False
            )
            if response.status == 200:
                return _content(response, url, deadline)
            response.close()
            problem, retryable = f"HTTP {response.status}", response.status in _RETRIED
        except urllib3.exceptions.HTTPError as error:
            problem, retryable = reason_of(error), True
            if isinstance(getattr(error, "reason", None), urllib3.exceptions.SSLError) and "verify failed" in problem:
                # A retry would fail in the same way.
                raise TaskFailed(
                    f"cannot fetch {url}: {problem}; set download_ca_cert to the CA that signed the server's"
                    " certificate"
                ) from error
        if not retryable or not pauses.pause(sources.seconds):
            raise TaskFailed(f"cannot fetch {url}: {problem}; check url, version and download_proxy")


def _content(response: Any, url: str, deadline: float) -> bytes:
    """The body of a response. Fails if it is larger than any bundle or not complete by the deadline."""
    content = b""
    with response:
        for part in response.stream(2**16):
            content += part
            if len(content) > LARGEST:
                raise TaskFailed(f"{url} is larger than {LARGEST >> 20} MiB; check that the file is a bundle")
            if time.monotonic() > deadline:
                raise TaskFailed(f"cannot fetch {url}: the download did not finish in time; raise download_timeout")
    return content


def _pool(url: str, sources: DownloadSettings) -> Any:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise TaskFailed(f"url: {url!r} is not a web address; write one that begins with https://")
    if sources.ca_cert and not os.access(sources.ca_cert, os.R_OK):
        raise TaskFailed(f"download_ca_cert: cannot read the file {sources.ca_cert}")
    proxy = sources.proxy
    if not proxy and not proxy_bypass(parts.hostname):
        proxy = getproxies().get(parts.scheme, "")
    try:
        return web_pool(sources.ca_cert or None, proxy=proxy)
    except OSError as error:
        raise TaskFailed(f"download_ca_cert: {sources.ca_cert} cannot be used: {reason_of(error)}") from error
    except urllib3.exceptions.HTTPError as error:
        raise TaskFailed(f"download_proxy: {proxy!r} cannot be used: {reason_of(error)}") from error


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _write(path: Path, content: bytes) -> None:
    """Writes a file atomically, for concurrent processes.

    A failure is ignored: the next task fetches the file again.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content)
    except OSError:
        pass
