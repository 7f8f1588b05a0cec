"""Certificates name what they are used for, secrets are their owner's alone."""

import datetime
import socket
import ssl
import stat
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from kubernetes import config

from local_cluster import pki

NOW = datetime.datetime.now(datetime.timezone.utc)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with everything made."""
    pki.ensure(tmp_path, NOW)
    return tmp_path


def _certificate(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def _names(path: Path) -> set[str]:
    names = _certificate(path).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {str(name.value) for name in names}


def test_serving_certificates_name_the_hosts_they_serve(folder: Path) -> None:
    assert {"127.0.0.1", "localhost", "kubernetes.default.svc"} <= _names(folder / "apiserver.crt")
    assert {"127.0.0.1", "localhost", "virt-api.kubevirt.svc", "cdi-api.cdi.svc"} <= _names(folder / "services.crt")


def test_every_file_is_private_to_its_owner(folder: Path) -> None:
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert len(modes) > 10
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize(
    ("certificate", "ca"),
    [
        ("apiserver", "ca"),
        *((name, "services-ca") for name in ("services", "virt-handler", "virt-handler-client")),
        ("front-proxy-client", "front-proxy-ca"),
    ],
)
def test_each_certificate_is_signed_only_by_its_ca(folder: Path, certificate: str, ca: str) -> None:
    signed = _certificate(folder / f"{certificate}.crt")
    signed.verify_directly_issued_by(_certificate(folder / f"{ca}.crt"))
    for other in {"ca", "services-ca", "front-proxy-ca"} - {ca}:
        with pytest.raises(ValueError, match="Issuer"):
            signed.verify_directly_issued_by(_certificate(folder / f"{other}.crt"))


@pytest.mark.parametrize(
    ("host", "accepted"),
    [("virt-api.kubevirt.svc", True), ("cdi-api.cdi.svc", True), ("127.0.0.1", True), ("virt-api.other.svc", False)],
)
def test_strict_client_accepts_only_the_certified_names(folder: Path, host: str, accepted: bool) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "services.crt", folder / "services.key")
    client = ssl.create_default_context(cafile=str(folder / "services-ca.crt"))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    ours, theirs = socket.socketpair()

    def serve() -> None:
        try:
            server.wrap_socket(theirs, server_side=True).close()
        except (ssl.SSLError, ConnectionError):
            theirs.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        if accepted:
            client.wrap_socket(ours, server_hostname=host).close()
        else:
            with pytest.raises(ssl.SSLCertVerificationError, match=host):
                client.wrap_socket(ours, server_hostname=host)
    finally:
        ours.close()
        thread.join()


def test_upload_authority_has_an_rsa_key_for_cdi(folder: Path) -> None:
    assert isinstance(_certificate(folder / "services-ca.crt").public_key(), rsa.RSAPublicKey)


def test_existing_files_are_kept(folder: Path) -> None:
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    pki.ensure(folder, NOW + datetime.timedelta(days=300))
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


@pytest.mark.parametrize("name", ["services.crt", "services-ca.key", "ca.key", "service-account.key"])
def test_missing_file_is_recreated_and_tokens_stay(folder: Path, name: str) -> None:
    tokens = (folder / "tokens.csv").read_text()
    (folder / name).unlink()
    pki.ensure(folder, NOW)
    assert (folder / name).is_file()
    _certificate(folder / "services.crt").verify_directly_issued_by(_certificate(folder / "services-ca.crt"))
    assert (folder / "tokens.csv").read_text() == tokens


def test_truncated_certificate_is_recreated(folder: Path) -> None:
    (folder / "ca.crt").write_text("-----BEGIN CERT")
    pki.ensure(folder, NOW)
    _certificate(folder / "apiserver.crt").verify_directly_issued_by(_certificate(folder / "ca.crt"))


def test_certificates_are_renewed_before_they_end(folder: Path) -> None:
    later = NOW + pki.LIFETIME - pki.RENEW_BEFORE + datetime.timedelta(minutes=1)
    pki.ensure(folder, later)
    assert _certificate(folder / "apiserver.crt").not_valid_after_utc > later + pki.RENEW_BEFORE


def test_each_user_of_each_cluster_has_own_token(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    pki.ensure(other, NOW)
    tokens = {pki.token(place, user) for place in (folder, other) for user in pki.USERS}
    assert len(tokens) == 2 * len(pki.USERS)
    assert min(map(len, tokens)) >= 43  # 256 bits in base64


def test_kubeconfig_is_self_contained_and_private(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    pki.write_kubeconfig(folder, path, context="c", server="https://127.0.0.1:1", user="admin")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    loaded = config.new_client_from_config(str(path)).configuration
    assert loaded.host == "https://127.0.0.1:1"
    assert list(loaded.api_key.values()) == [f"Bearer {pki.token(folder, 'admin')}"]
    assert Path(loaded.ssl_ca_cert).read_bytes() == (folder / "ca.crt").read_bytes()


def test_kubevirt_programs_use_their_service_accounts() -> None:
    for user in ("virt-api", "virt-controller"):
        name, groups = pki.USERS[user]
        assert name.startswith("system:serviceaccount:kubevirt:")
        assert "system:masters" not in groups
