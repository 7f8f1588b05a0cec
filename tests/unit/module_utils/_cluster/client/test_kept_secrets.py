"""Keys that a kubeconfig holds as text come to TLS through files, of which none is left."""

import base64
import datetime
import tempfile
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from plugins.module_utils._cluster.client.connections import Connections
from plugins.module_utils._cluster.client.settings import configure


def pair() -> tuple[bytes, bytes]:
    """A certificate, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "somebody")])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM), secret


def test_no_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    certificate, key = (base64.b64encode(part).decode() for part in pair())
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "one",
        "clusters": [
            {"name": "a", "cluster": {"server": "https://127.0.0.1:1", "certificate-authority-data": certificate}}
        ],
        "users": [{"name": "u", "user": {"client-certificate-data": certificate, "client-key-data": key}}],
        "contexts": [{"name": "one", "context": {"cluster": "a", "user": "u"}}],
    }
    written: list[str] = []
    kept = tempfile.mkstemp
    monkeypatch.setattr("tempfile.mkstemp", lambda: written.append("file") or kept())
    Connections(configure({"kubeconfig": kubeconfig}), 1)
    assert written == ["file", "file"] and not list(tmp_path.iterdir())
