"""The upload proxy, with tokens as CDI signs them."""

import asyncio
import base64
import json
import time
from typing import Any

import pytest
from aiohttp import FormData, web
from aiohttp.test_utils import TestClient, TestServer
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from node_support import Api, in_loop, named, pod

from node.api.resources import CLAIM, POD, SECRET
from node.cdi import tokens, upload_proxy
from node.cdi.upload_proxy import UploadProxy
from node.cdi.uploads import Uploads

Manifest = dict[str, Any]
KEY = rsa.generate_private_key(65537, 2048)
PUBLIC = KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
MARK = "cdi.kubevirt.io/storage."
READY = {"pod.ready": "true"}


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(key: rsa.RSAPrivateKey = KEY, **changes: Any) -> str:
    claims = {
        "operation": "Upload",
        "namespace": "ns",
        "name": "c",
        "resource": {"resource": "persistentvolumeclaims"},
        "iss": "cdi-apiserver",
        "nbf": time.time(),
        "exp": time.time() + 300,
        **changes,
    }
    signed = f"{encoded(json.dumps({'alg': 'PS256'}).encode())}.{encoded(json.dumps(claims).encode())}"
    salted = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
    return f"{signed}.{encoded(key.sign(signed.encode(), salted, hashes.SHA256()))}"


def test_a_token_names_its_claim() -> None:
    assert tokens.read(token(), PUBLIC) == ("ns", "c")


@pytest.mark.parametrize(
    "text",
    [
        token(rsa.generate_private_key(65537, 2048)),
        token(exp=time.time() - 60),
        token(nbf=time.time() + 86400),
        token(iss="another"),
        "no.token.atall",
        "nonsense",
    ],
)
def test_malformed_token_is_refused(text: str) -> None:
    with pytest.raises(tokens.BadToken):
        tokens.read(text, PUBLIC)


@pytest.mark.parametrize("changes", [{"operation": "Clone"}, {"name": ""}, {"resource": {"resource": "pods"}}])
def test_token_for_another_purpose_is_refused(changes: Manifest) -> None:
    with pytest.raises(tokens.WrongToken):
        tokens.read(token(**changes), PUBLIC)


class Cluster:
    """A claim with its upload server, and the proxy before them."""

    def __init__(self, **annotations: str) -> None:
        self.api = Api()
        claims, pods = self.api.cache(CLAIM), self.api.cache(POD)
        self.uploads = Uploads()
        self.proxy = UploadProxy(self.api.client, claims, pods, self.uploads)
        data = {"id_rsa.pub": base64.b64encode(PUBLIC).decode()}
        self.api.add(SECRET, {"metadata": {"namespace": "cdi", "name": "cdi-api-signing-key"}, "data": data})
        self.claim = self.made("c", {"upload.target": "", "uploadPodName": "cdi-upload-c", **annotations})
        self.server = pod("cdi-upload-c")
        self.server["metadata"]["labels"] = {"service": "cdi-upload-c"}
        self.api.add(POD, self.server)

    def made(self, name: str, annotations: dict[str, str] | None = None, ref: Manifest | None = None) -> Manifest:
        marks = {MARK + key: value for key, value in (annotations or {}).items()}
        spec = {"resources": {"requests": {"storage": "1Ki"}}, "dataSourceRef": ref}
        return {"metadata": named(name, annotations=marks), "spec": spec}

    async def sent(
        self, data: Any, path: str = "/v1beta1/upload", method: str = "POST", **claims: Any
    ) -> tuple[int, str]:
        application = web.Application()
        application.add_routes(self.proxy.routes())
        headers = {"Authorization": f"Bearer {token(**claims)}"}
        async with TestClient(TestServer(application)) as client:
            response = await client.request(method, path, data=data, headers=headers)
            return response.status, await response.text()


async def uploaded(
    cluster: Cluster, data: Any, path: str = "/v1beta1/upload", method: str = "POST"
) -> tuple[int, str, bool]:
    """Status and text of an upload to a claim that is ready, and whether its server has ended."""
    cluster.api.add(CLAIM, cluster.claim)
    serving = asyncio.create_task(cluster.uploads.serve(cluster.server))
    await asyncio.sleep(0)
    status, text = await cluster.sent(data, path, method)
    await asyncio.sleep(0)
    ended = serving.done()
    serving.cancel()
    return status, text, ended


@pytest.mark.parametrize(("path", "method"), [("upload", "POST"), ("upload-async", "PUT")])
@in_loop
async def test_data_ends_the_server(path: str, method: str) -> None:
    assert await uploaded(Cluster(**READY), b"data", f"/v1beta1/{path}", method) == (200, "", True)


@pytest.mark.parametrize(("field", "status"), [("file", 200), ("other", 400)])
@in_loop
async def test_a_form(field: str, status: int) -> None:
    form = FormData()
    form.add_field(field, b"data", filename="disk.img")
    result = await uploaded(Cluster(**READY), form, "/v1alpha1/upload-form")
    assert (result[0], result[2]) == (status, status == 200)


@in_loop
async def test_too_much_data() -> None:
    status, text, ended = await uploaded(Cluster(**READY), b"x" * 2000)
    assert status == 400 and "larger than the reported available storage" in text and not ended


@in_loop
async def test_qcow2_image_counts_with_its_virtual_size() -> None:
    header = b"QFI\xfb" + bytes(20) + (1 << 40).to_bytes(8, "big")
    status, text, _ended = await uploaded(Cluster(**READY), header)
    assert status == 400 and str(1 << 40) in text


@in_loop
async def test_an_upload_waits_until_the_server_runs() -> None:
    cluster = Cluster()
    cluster.api.add(CLAIM, cluster.claim)
    sending = asyncio.create_task(cluster.sent(b"data"))
    await asyncio.sleep(0.1)
    assert not sending.done()
    serving = asyncio.create_task(cluster.uploads.serve(cluster.server))
    await asyncio.sleep(0)
    cluster.claim["metadata"]["annotations"][MARK + "pod.ready"] = "true"
    cluster.api.add(CLAIM, cluster.claim)
    assert await sending == (200, "")
    await serving


@in_loop
async def test_a_populator_fills_another_claim() -> None:
    cluster = Cluster(**READY)
    prime = cluster.claim
    prime["metadata"] = {**prime["metadata"], "name": "prime"}
    reference = {"kind": "VolumeUploadSource", "name": "s"}
    cluster.api.add(CLAIM, cluster.made("c", {"populator.pvcPrime": "prime"}, reference))
    cluster.api.add(CLAIM, prime)
    serving = asyncio.create_task(cluster.uploads.serve(cluster.server))
    await asyncio.sleep(0)
    assert await cluster.sent(b"data") == (200, "")
    await serving


@pytest.mark.parametrize(
    ("annotations", "text"),
    [
        ({"pod.phase": "Succeeded"}, "rejecting Upload Request for PVC c that already finished uploading"),
        ({}, "context deadline exceeded"),
    ],
)
@in_loop
async def test_a_claim_that_takes_nothing(
    monkeypatch: pytest.MonkeyPatch, annotations: dict[str, str], text: str
) -> None:
    monkeypatch.setattr(upload_proxy, "_READY", 0.1)
    assert await uploaded(Cluster(**annotations), b"data") == (503, text, False)


@in_loop
async def test_missing_or_unsuitable_claim_rejects_the_upload() -> None:
    cluster = Cluster()
    missing = "rejecting Upload Request for PVC c that doesn&#x27;t exist"
    assert await cluster.sent(b"data") == (503, missing)
    cluster.api.add(CLAIM, cluster.made("c"))
    assert await cluster.sent(b"data") == (503, "PVC c is not an upload target")


@pytest.mark.parametrize(
    ("options", "status"),
    [({"iss": "another"}, 401), ({"operation": "Clone"}, 400), ({"method": "DELETE"}, 404), ({}, 409)],
)
@in_loop
async def test_unauthorized_or_invalid_uploads_are_refused(options: dict[str, str], status: int) -> None:
    cluster = Cluster(**READY)
    cluster.api.add(CLAIM, cluster.claim)
    assert (await cluster.sent(b"", **options))[0] == status
