"""Keys, certificates and tokens of a cluster, and kubeconfigs with these.

    ca.crt ca.key                   signs the API server's serving certificate; clients trust it
    apiserver.crt apiserver.key     the API server's serving certificate
    services-ca.crt .key            KubeVirt's and CDI's own CA: signs the next three, and those of CDI's uploads
    services.crt services.key       the serving certificate of virt-api, virt-controller, cdi and the upload proxy
    virt-handler.crt .key           that of virt-handler, which the node simulates
    virt-handler-client.crt .key    virt-api's client certificate for virt-handler
    front-proxy-ca.crt .key         the aggregation layer's own CA
    front-proxy-client.crt .key     the API server's client certificate for aggregated APIs
    service-account.key             signs service-account tokens
    tokens.csv                      static bearer tokens (see `USERS`)

They last as long as the state directory, so that a kubeconfig stays valid across restarts. All are recreated if one is
missing or expires soon.
"""

from __future__ import annotations

import base64
import csv
import datetime
import io
import ipaddress
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from local_cluster.paths import write_secret

LIFETIME = datetime.timedelta(days=365)
RENEW_BEFORE = datetime.timedelta(days=30)
FRONT_PROXY_CLIENT = "front-proxy-client"
"""The API server's common name for aggregated APIs."""

APISERVER_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "127.0.0.1",
    "10.0.0.1",  # the first address of the service range: the Service `kubernetes`
)
SERVICE_NAMES = ("virt-api.kubevirt.svc", "cdi-api.cdi.svc", "localhost", "127.0.0.1")
HANDLER_NAMES = ("localhost", "127.0.0.1")


def _account(name: str) -> tuple[str, tuple[str, ...]]:
    groups = ("system:serviceaccounts", "system:serviceaccounts:kubevirt", "system:authenticated")
    return f"system:serviceaccount:kubevirt:{name}", groups


USERS = {
    "admin": ("kubernetes-admin", ("system:masters",)),
    "controller-manager": ("system:kube-controller-manager", ("system:masters",)),
    "virt-api": _account("kubevirt-apiserver"),
    "virt-controller": _account("kubevirt-controller"),
    # One process has the rights of CDI's two accounts.
    "cdi": ("system:serviceaccount:cdi:cdi-sa", ("system:masters",)),
    "node": ("system:node:local", ("system:masters",)),
}
"""Who has a static token: user name and groups. system:masters may do everything and passes flow control; the
names differ so that an audit log, an event or a webhook can tell who it was. virt-api and virt-controller have only the
rights that virt-operator gives them."""


_Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


class _Signer(NamedTuple):
    key: _Key
    certificate: x509.Certificate


def ensure(folder: Path, now: datetime.datetime | None = None) -> None:
    """Create the missing files in `folder`; all files if a certificate is unreadable or expires within `RENEW_BEFORE`.

    `now` has a time zone.
    """
    now = now or datetime.datetime.now(datetime.timezone.utc)
    if not _is_complete(folder, now):
        _make_certificates(folder, now)
    if set(USERS) != set(_read_tokens(folder)):
        write_secret(folder / "tokens.csv", _tokens_csv())


def token(folder: Path, user: str) -> str:
    """The bearer token of one of `USERS`. Raises KeyError before `ensure` has run."""
    return _read_tokens(folder)[user]


def write_kubeconfig(folder: Path, path: Path, *, context: str, server: str, user: str) -> None:
    """Write a kubeconfig with a single context, and with the user's token and the CA, so that copies work anywhere."""
    authority = base64.b64encode((folder / "ca.crt").read_bytes()).decode()
    text = yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": context, "cluster": {"server": server, "certificate-authority-data": authority}}],
            "users": [{"name": user, "user": {"token": token(folder, user)}}],
            "contexts": [{"name": context, "context": {"cluster": context, "user": user}}],
            "current-context": context,
        },
        sort_keys=False,
    )
    write_secret(path, text)


def _read_tokens(folder: Path) -> dict[str, str]:
    try:
        text = (folder / "tokens.csv").read_text()
    except OSError:
        return {}
    return {row[2]: row[0] for row in csv.reader(io.StringIO(text)) if len(row) == 4}


def _tokens_csv() -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for uid, (user, groups) in USERS.items():
        writer.writerow([secrets.token_urlsafe(32), user, uid, ",".join(groups)])
    return text.getvalue()


_CERTIFICATES = (
    "ca",
    "apiserver",
    "services-ca",
    "services",
    "virt-handler",
    "virt-handler-client",
    "front-proxy-ca",
    "front-proxy-client",
)


def _is_complete(folder: Path, now: datetime.datetime) -> bool:
    if not (folder / "service-account.key").is_file():
        return False
    for name in _CERTIFICATES:
        try:
            certificate = x509.load_pem_x509_certificate((folder / f"{name}.crt").read_bytes())
        except (OSError, ValueError):
            return False
        if not (folder / f"{name}.key").is_file() or certificate.not_valid_after_utc - now < RENEW_BEFORE:
            return False
    return True


def _make_certificates(folder: Path, now: datetime.datetime) -> None:
    ca = _make(folder, "ca", "virtshape local cluster CA", now)
    _make(folder, "apiserver", "kube-apiserver", now, signer=ca, names=APISERVER_NAMES)
    # CDI signs the certificates of uploads with it, for which it wants an RSA key.
    services = _make(folder, "services-ca", "kubevirt.io", now, key=rsa.generate_private_key(65537, 2048))
    _make(folder, "services", "virt-api.kubevirt.svc", now, signer=services, names=SERVICE_NAMES)
    # virt-api and virt-handler know each other by these names.
    _make(folder, "virt-handler", "kubevirt.io:system:node:virt-handler", now, signer=services, names=HANDLER_NAMES)
    _make(folder, "virt-handler-client", "kubevirt.io:system:client:virt-handler", now, signer=services)
    front_proxy_ca = _make(folder, "front-proxy-ca", "virtshape local cluster front proxy CA", now)
    _make(folder, "front-proxy-client", FRONT_PROXY_CLIENT, now, signer=front_proxy_ca)
    _write_key(folder / "service-account.key", ec.generate_private_key(ec.SECP256R1()))


def _make(
    folder: Path,
    file: str,
    common_name: str,
    now: datetime.datetime,
    signer: _Signer | None = None,
    names: Sequence[str] = (),
    key: _Key | None = None,
) -> _Signer:
    """Create FILE.key and FILE.crt: without `signer` a CA; with `names` a serving certificate, else a client
    certificate.
    """
    key = key or ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    is_ca = signer is None
    issuer_key = key if signer is None else signer.key
    usage = ExtendedKeyUsageOID.SERVER_AUTH if names else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if signer is None else signer.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(_key_usage(is_ca), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    if not is_ca:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([_general_name(n) for n in names]), critical=False)
    certificate = builder.sign(issuer_key, hashes.SHA256())
    _write_key(folder / f"{file}.key", key)
    write_secret(folder / f"{file}.crt", certificate.public_bytes(serialization.Encoding.PEM))
    return _Signer(key, certificate)


def _key_usage(is_ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=is_ca,
        crl_sign=is_ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _write_key(path: Path, key: _Key) -> None:
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    write_secret(path, text)
