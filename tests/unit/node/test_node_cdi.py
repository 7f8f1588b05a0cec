"""The programs of CDI's pods."""

import asyncio
import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from loopback_registry import LoopbackRegistry, loopback_registry
from node_support import Api, pod

from node.api.resources import CONFIG_MAP, IMPORT_CRON, SECRET
from node.cdi import image, poller, quantity
from node.cdi.image import ImageError
from node.cdi.uploads import Uploads
from node.cdi.workers import Workers
from node.kubelet.programs import Outcome

Manifest = dict[str, Any]
DEFAULT = "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_INSTANCETYPE"


@pytest.fixture(name="registry")
def _registry() -> Iterator[LoopbackRegistry]:
    with loopback_registry() as result:
        yield result


def importer(**values: str) -> Manifest:
    env = [{"name": f"IMPORTER_{name.upper()}", "value": value} for name, value in values.items()]
    return component("importer", env=env)


def component(name: str, **container: Any) -> Manifest:
    manifest = pod(containers=[{"name": "main", "image": "cdi", **container}])
    manifest["metadata"]["labels"] = {"cdi.kubevirt.io": name}
    return manifest


def ran(manifest: Manifest, api: Api | None = None) -> Outcome:
    program = Workers((api or Api()).client, Uploads()).find(manifest)
    assert program is not None

    async def run() -> Outcome:
        assert program is not None
        return await asyncio.wait_for(program(), 20)

    return asyncio.run(run())


def test_an_imported_image_gives_its_labels(registry: LoopbackRegistry) -> None:
    registry.push("fedora", "1", {"amd64": [f"{DEFAULT}=u1.small", "PATH=/"]})
    result = ran(importer(source="registry", endpoint=f"docker://{registry.address}/fedora:1", image_size="1Gi"))
    message = json.loads(result.message)
    assert result.code == 0
    assert message["labels"] == {"instancetype.kubevirt.io/default-instancetype": "u1.small"}
    assert message["message"] == "Import Complete" and message["scratchSpaceRequired"] is False


def test_an_image_that_the_node_pulls(registry: LoopbackRegistry) -> None:
    registry.push("fedora", "1", {"amd64": [f"{DEFAULT}=u1.small"]})
    manifest = importer(source="http", endpoint="http://localhost:8100/disk.img")
    manifest["spec"]["containers"].append({"name": "server", "image": f"{registry.address}/fedora:1"})
    assert "u1.small" in ran(manifest).message


@pytest.mark.parametrize(
    ("tag", "size", "architecture", "text"),
    [
        ("2", "1Gi", "", "failed to pull image: reading manifest 2 in"),
        ("1", "1Ki", "", "Virtual image size 2048 is larger than the reported available storage 1024"),
        ("1", "1Gi", "s390x", 'doesn\'t match requested architecture: "s390x"'),
    ],
)
def test_an_import_fails(registry: LoopbackRegistry, tag: str, size: str, architecture: str, text: str) -> None:
    registry.push("fedora", "1", {"amd64": []}, size=2048)
    endpoint = f"docker://{registry.address}/fedora:{tag}"
    result = ran(
        importer(source="registry", endpoint=endpoint, image_size=size, registry_image_architecture=architecture)
    )
    assert result.code == 1 and result.message.startswith("Unable to process data: ") and text in result.message


def test_a_registry_that_is_not_there() -> None:
    result = ran(importer(source="registry", endpoint="docker://127.0.0.1:9/x:1"))
    assert result.message.endswith("dial tcp 127.0.0.1:9: connect: connection refused")


def test_a_url_is_read(registry: LoopbackRegistry) -> None:
    digest = registry.push("fedora", "1", {"amd64": []})
    url = f"http://{registry.address}/v2/fedora/manifests/1"
    assert ran(importer(source="http", endpoint=url, image_size="1Gi")).code == 0
    assert ran(importer(source="http", endpoint=url, checksum=digest)).message.count("Import Complete") == 1
    wrong = ran(importer(source="http", endpoint=url, checksum="sha256:" + "0" * 64))
    assert wrong.code == 0 and "checksum mismatch" in json.loads(wrong.message)["message"]
    missing = ran(importer(source="http", endpoint=url + "2"))
    assert missing.code == 1 and "expected status code 200, got 404" in missing.message
    assert ran(importer(source="http", endpoint=url, image_size="1")).code == 1


def test_credentials_come_from_a_secret(registry: LoopbackRegistry) -> None:
    registry.push("fedora", "1", {"amd64": []})
    registry.auth, registry.login = "basic", ("ann", "secret")
    manifest = importer(source="registry", endpoint=f"docker://{registry.address}/fedora:1")
    assert ran(manifest).code == 1
    for variable, key in (("IMPORTER_ACCESS_KEY_ID", "accessKeyId"), ("IMPORTER_SECRET_KEY", "secretKey")):
        reference = {"secretKeyRef": {"name": "login", "key": key}}
        manifest["spec"]["containers"][0]["env"].append({"name": variable, "valueFrom": reference})
    api = Api()
    data = {"accessKeyId": base64.b64encode(b"ann").decode(), "secretKey": base64.b64encode(b"secret").decode()}
    api.add(SECRET, {"metadata": {"namespace": "ns", "name": "login"}, "data": data})
    assert ran(manifest, api).code == 0


def test_unreadable_certificates_fail_the_import() -> None:
    manifest = importer(source="registry", endpoint="docker://127.0.0.1:9/x:1", cert_dir="/certs")
    manifest["spec"]["containers"][0]["volumeMounts"] = [{"name": "c", "mountPath": "/certs"}]
    manifest["spec"]["volumes"] = [{"name": "c", "configMap": {"name": "ca"}}]
    api = Api()
    api.add(CONFIG_MAP, {"metadata": {"namespace": "ns", "name": "ca"}, "data": {"ca.crt": "nonsense"}})
    assert "certificates for the registry cannot be read" in ran(manifest, api).message


def test_poller_records_the_digest(registry: LoopbackRegistry) -> None:
    digest = registry.push("fedora", "1", {"amd64": [], "arm64": []})
    url = f"docker://{registry.address}/fedora:1"
    api = Api()
    api.add(IMPORT_CRON, {"metadata": {"namespace": "cdi", "name": "cron"}})
    command = [poller.COMMAND, "-ns", "cdi", "-cron", "cron", "-url", url]
    assert ran(pod(containers=[{"name": "p", "image": "cdi", "command": command}]), api).code == 0
    annotations = api.objects[IMPORT_CRON.path("cdi", "cron")]["metadata"]["annotations"]
    assert annotations["cdi.kubevirt.io/storage.import.sourceDesiredDigest"] == digest
    assert "cdi.kubevirt.io/storage.import.lastCronTime" in annotations
    command[-1] += "2"
    result = ran(pod(containers=[{"name": "p", "image": "cdi", "command": command}]), api)
    assert result.code == 1 and result.message.startswith("Failed to get image digest: ")


def test_pod_reports_the_digest_of_its_image(registry: LoopbackRegistry) -> None:
    digest = registry.push("fedora", "1", {"amd64": []})
    container: Manifest = {"name": "i", "image": f"{registry.address}/fedora:1", "command": ["/shared/server", "-h"]}
    assert ran(pod(containers=[container])).image_id == f"{registry.address}/fedora:1@{digest}"
    container["image"] = f"{registry.address}/fedora:2"
    assert ran(pod(containers=[container])).reason == "ErrImagePull"


def test_blank_and_other_sources_succeed() -> None:
    for source in ("none", "s3", "vddk"):
        assert ran(importer(source=source)).code == 0
    assert ran(component("cdi-populator-prep")).code == 0
    detection = [{"name": "m", "image": "cdi", "command": ["/usr/bin/cdi-image-size-detection"]}]
    assert ran(pod(containers=detection)).message == "0"
    assert Workers(Api().client, Uploads()).find(pod()) is None


def test_a_clone_ends_both_pods() -> None:
    async def run() -> list[Outcome]:
        workers = Workers(Api().client, Uploads())
        target = component("cdi-upload-server")
        target["metadata"]["labels"]["service"] = "cdi-upload-c"
        url = {"name": "UPLOAD_URL", "value": "https://cdi-upload-c.ns.svc:8443/v1beta1/upload"}
        programs = [workers.find(component("cdi-clone-source", env=[url])), workers.find(target)]
        assert programs[0] is not None and programs[1] is not None
        return list(await asyncio.wait_for(asyncio.gather(*(program() for program in programs if program)), 10))

    source, target = asyncio.run(run())
    assert source.code == target.code == 0
    assert json.loads(target.message)["message"] == "Clone Complete"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fedora", ("registry-1.docker.io", "library/fedora", "latest")),
        ("docker://quay.io/a/b:1", ("quay.io", "a/b", "1")),
        ("localhost:5000/b@sha256:0", ("localhost:5000", "b", "sha256:0")),
    ],
)
def test_image_names_are_parsed(name: str, expected: tuple[str, str, str]) -> None:
    assert tuple(image.reference(name)) == expected


def test_invalid_image_name_is_refused() -> None:
    with pytest.raises(ImageError):
        image.reference("docker://quay.io/A B")


def test_labels_of_an_environment() -> None:
    result = image.labels(["A_B_KUBEVIRT_IO_C_D=1", "KUBEVIRT_IO_X=2", "OTHER=3", "_KUBEVIRT_IO_Y=4", "KUBEVIRT_IO_Z"])
    assert result == {"a.b.kubevirt.io/c-d": "1", "kubevirt.io/x": "2", "kubevirt.io/y": "4"}


@pytest.mark.parametrize(
    ("text", "value"), [("1Gi", 1 << 30), ("5G", 5 * 10**9), ("1.5Ki", 1536), ("500m", 1), ("1e3", 1000), ("7", 7)]
)
def test_quantities(text: str, value: int) -> None:
    assert quantity.parse(text) == value


@pytest.mark.parametrize("text", ["", "much", "1Xi"])
def test_texts_that_are_no_quantities(text: str) -> None:
    with pytest.raises(ValueError, match="no quantity"):
        quantity.parse(text)
