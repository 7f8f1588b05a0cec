"""Bundles from a web server: checksums, cache, retries, proxy, and files that are not what they should be."""

import datetime
import hashlib
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from plugins.module_utils._cluster.client.errors import TaskFailed
from plugins.module_utils._cluster.reads.catalog_source import DownloadSettings, fetch, release_files
from plugins.module_utils._yaml.documents import documents

TEXT = "kind: A\n---\nkind: B\n"
DIGEST = hashlib.sha256(TEXT.encode()).hexdigest()


class Web:
    """A web server. files: path → content. failures: how many requests are answered with 503 first.
    shorter: bytes that are announced and not sent. asked: the requests' paths, whole addresses from a proxy's clients.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.failures = 0
        self.shorter = 0
        self.asked: list[str] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked.append(self.path)
                content = web.files.get("/" + self.path.partition("://")[2].partition("/")[2] or self.path)
                content = web.files.get(self.path, content)
                if web.failures:
                    web.failures -= 1
                    self.send_error(503)
                elif content is None:
                    self.send_error(404)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(content) + web.shorter))
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, *_arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def publish(self, version: str, text: str, digest: str = "") -> None:
        name = f"common-clusterinstancetypes-bundle-{version}.yaml"
        self.files[f"/{version}/{name}"] = text.encode()
        listed = digest or hashlib.sha256(text.encode()).hexdigest()
        self.files[f"/{version}/CHECKSUMS.sha256"] = f"{listed}  ./{name}\n".encode()


@pytest.fixture
def web() -> Iterator[Web]:
    item = Web()
    thread = threading.Thread(target=item.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield item
    item.server.shutdown()
    item.server.server_close()
    thread.join()


@pytest.fixture
def sources(tmp_path: Path) -> DownloadSettings:
    return DownloadSettings(tmp_path / "cache", seconds=10)


def release(web: Web, version: str = "v1") -> list[str]:
    return release_files(web.address, version, ("instancetype",))


def test_a_release_is_verified_and_fetched_once(web: Web, sources: DownloadSettings) -> None:
    web.publish("v1", TEXT)
    assert fetch(release(web), "", sources) == [(TEXT, DIGEST)]
    assert len(web.asked) == 2
    assert fetch(release(web), "", sources) == [(TEXT, DIGEST)]
    assert len(web.asked) == 2, "the second time nothing is asked of the server"


def test_a_changed_file_is_refused_and_not_kept(web: Web, sources: DownloadSettings) -> None:
    web.publish("v1", TEXT[:-4], digest=DIGEST)
    with pytest.raises(
        TaskFailed, match=(f"expected the checksum {DIGEST}, found .*truncated, so nothing was deployed")
    ):
        fetch(release(web), "", sources)
    web.publish("v1", TEXT)
    assert fetch(release(web), "", sources)[0][0] == TEXT


def test_explicit_checksum_needs_no_list(web: Web, sources: DownloadSettings) -> None:
    web.files["/own.yaml"] = TEXT.encode()
    address = f"{web.address}/own.yaml"
    assert fetch([address], f"sha256:{DIGEST.upper()}", sources) == [(TEXT, DIGEST)]
    with pytest.raises(TaskFailed, match=r"CHECKSUMS.sha256: HTTP 404"):
        fetch([address], "", sources)
    with pytest.raises(TaskFailed, match="is not a SHA-256"):
        fetch([address], "md5:abc", sources)


def test_file_missing_from_checksums_is_refused(web: Web, sources: DownloadSettings) -> None:
    web.publish("v1", TEXT)
    with pytest.raises(TaskFailed, match=r"does not list common-clusterpreferences-bundle-v1.yaml"):
        fetch(release_files(web.address, "v1", ("preference",)), "", sources)


def test_damaged_cached_file_is_downloaded_again(web: Web, sources: DownloadSettings) -> None:
    web.publish("v1", TEXT)
    fetch(release(web), "", sources)
    (sources.cache / DIGEST).write_text("kind: C\n")
    assert fetch(release(web), "", sources)[0][0] == TEXT
    assert (sources.cache / DIGEST).read_text() == TEXT


def test_busy_server_is_retried(web: Web, sources: DownloadSettings) -> None:
    web.publish("v1", TEXT)
    web.failures = 2
    assert fetch(release(web), "", sources)[0][0] == TEXT
    web.failures = 9
    with pytest.raises(TaskFailed, match="HTTP 503"):
        fetch([f"{web.address}/other.yaml"], DIGEST[::-1], sources._replace(seconds=0))


def test_a_download_that_breaks_off_is_noticed(web: Web, sources: DownloadSettings) -> None:
    web.files["/own.yaml"] = TEXT.encode()
    web.shorter = 5
    with pytest.raises(TaskFailed, match="cannot fetch"):
        fetch([f"{web.address}/own.yaml"], DIGEST, sources._replace(seconds=0))


def test_through_a_proxy(web: Web, sources: DownloadSettings) -> None:
    web.files["/own.yaml"] = TEXT.encode()
    address = "http://bundles.example.com/own.yaml"
    assert fetch([address], DIGEST, sources._replace(proxy=web.address)) == [(TEXT, DIGEST)]
    assert web.asked == [address]


def test_the_proxy_of_the_environment(web: Web, sources: DownloadSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    web.files["/own.yaml"] = TEXT.encode()
    monkeypatch.setenv("http_proxy", web.address)
    monkeypatch.setenv("no_proxy", "")
    assert fetch(["http://bundles.example.com/own.yaml"], DIGEST, sources) == [(TEXT, DIGEST)]


def certificate(folder: Path) -> Path:
    """A file with a key and a certificate for 127.0.0.1 that nobody but itself has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "bundles")])
    now = datetime.datetime.now(datetime.timezone.utc)
    addresses = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(
        now + datetime.timedelta(days=1)
    )
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    signed = builder.add_extension(addresses, critical=False).sign(key, hashes.SHA256())
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = folder / "certificate.pem"
    path.write_bytes(key.private_bytes(*form) + signed.public_bytes(serialization.Encoding.PEM))
    return path


def test_server_with_private_ca_needs_download_ca_cert(web: Web, sources: DownloadSettings, tmp_path: Path) -> None:
    own = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own)
    web.server.socket = context.wrap_socket(web.server.socket, server_side=True)
    web.files["/own.yaml"] = TEXT.encode()
    address = f"https://127.0.0.1:{web.server.server_port}/own.yaml"
    with pytest.raises(TaskFailed, match=r"(?i)certificate verify failed.*download_ca_cert"):
        fetch([address], DIGEST, sources)
    assert fetch([address], DIGEST, sources._replace(ca_cert=str(own))) == [(TEXT, DIGEST)]


def test_missing_ca_file_is_reported(sources: DownloadSettings) -> None:
    with pytest.raises(TaskFailed, match=r"download_ca_cert: cannot read the file /nowhere/ca.pem"):
        fetch(["https://127.0.0.1:9/own.yaml"], DIGEST, sources._replace(ca_cert="/nowhere/ca.pem"))


@pytest.mark.parametrize("address", ["bundle.yaml", "ftp://example.com/a", "https:///a"])
def test_invalid_url_is_refused(address: str, sources: DownloadSettings) -> None:
    with pytest.raises(TaskFailed, match="is not a web address"):
        fetch([address], DIGEST, sources)


def test_a_cut_document_names_its_place() -> None:
    found = documents(TEXT, "a.yaml")
    assert [(item.content["kind"], item.place_in("a.yaml")) for item in found] == [
        ("A", "a.yaml, line 1"),
        ("B", "a.yaml, line 3"),
    ]
    with pytest.raises(TaskFailed, match=r"a.yaml, line 2, column .*; check that the file is complete"):
        documents('kind: A\nmetadata: {name: "x', "a.yaml")


def test_checksum_lists_may_have_other_lines(web: Web, sources: DownloadSettings) -> None:
    web.files["/own.yaml"] = TEXT.encode()
    web.files["/CHECKSUMS.sha256"] = f"# of this release\n\n{DIGEST}\n{DIGEST} *dist/own.yaml\n".encode()
    assert fetch([f"{web.address}/own.yaml"], "", sources) == [(TEXT, DIGEST)]
    web.files["/v2/own.yaml"] = TEXT.encode()
    web.files["/v2/CHECKSUMS.sha256"] = b"<html>please log in</html>"
    with pytest.raises(TaskFailed, match=r"/v2/CHECKSUMS.sha256 contains no checksums; set checksum"):
        fetch([f"{web.address}/v2/own.yaml"], "", sources)


def test_a_folder_has_one_list_of_checksums(web: Web, sources: DownloadSettings) -> None:
    lines = ""
    for name in ("a.yaml", "b.yaml"):
        web.files[f"/{name}"] = TEXT.encode()
        lines += f"{DIGEST}  {name}\n"
    web.files["/CHECKSUMS.sha256"] = lines.encode()
    fetch([f"{web.address}/a.yaml", f"{web.address}/b.yaml"], "", sources)
    assert web.asked.count("/CHECKSUMS.sha256") == 1


def test_binary_file_is_refused(web: Web, sources: DownloadSettings) -> None:
    web.files["/own.yaml"] = b"\xff\xfe"
    address = f"{web.address}/own.yaml"
    with pytest.raises(TaskFailed, match=r"own.yaml is not a text file: "):
        fetch([address], hashlib.sha256(b"\xff\xfe").hexdigest(), sources)


def test_invalid_proxy_is_refused(sources: DownloadSettings) -> None:
    with pytest.raises(TaskFailed, match=r"download_proxy: 'socks9://x' cannot be used: "):
        fetch(["https://127.0.0.1:9/own.yaml"], DIGEST, sources._replace(proxy="socks9://x"))


def test_without_a_writable_cache_each_task_fetches(web: Web, sources: DownloadSettings, tmp_path: Path) -> None:
    web.files["/own.yaml"] = TEXT.encode()
    (tmp_path / "file").write_text("")
    nowhere = sources._replace(cache=tmp_path / "file" / "cache")
    for times in (1, 2):
        assert fetch([f"{web.address}/own.yaml"], DIGEST, nowhere) == [(TEXT, DIGEST)]
        assert len(web.asked) == times
