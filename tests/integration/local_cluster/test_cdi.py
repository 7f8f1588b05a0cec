"""CDI with the simulated worker pods of the local cluster: DataVolumes, DataSources, DataImportCrons and uploads."""

import hashlib
import http.server
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import urllib3
from docker_registry import DockerRegistry
from loopback_registry import LoopbackRegistry

from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api import write
from plugins.module_utils._resolver.api.kinds import KINDS

Manifest = dict[str, Any]
Made = Callable[..., Manifest]
AnyRegistry = LoopbackRegistry | DockerRegistry

pytestmark = pytest.mark.needs("cdi_here")
FURTHER = pytest.mark.nightly("more of the simulated worker pods; test_module_boot_source uses them each day")

VOLUME, SOURCE, CRON, CLAIM = (
    KINDS[kind] for kind in ("DataVolume", "DataSource", "DataImportCron", "PersistentVolumeClaim")
)
DEFAULT = "instancetype.kubevirt.io/default-"
ENVIRONMENT = ["INSTANCETYPE_KUBEVIRT_IO_DEFAULT_INSTANCETYPE=u1.medium", "MY_KUBEVIRT_IO_OWNER=image"]
STORAGE = {"resources": {"requests": {"storage": "1Gi"}}}
TIMEOUT = 180
MARK = "instancetypes.virtshape.io/simulated-disk-sha256"
READY = "cdi.kubevirt.io/storage.pod.ready"


@pytest.fixture
def make(session: Session, namespace: str) -> Made:
    """make(kind, name, spec, **metadata): creates an object."""

    def made(kind: str, name: str, spec: Manifest, **metadata: Any) -> Manifest:
        place = KINDS[kind]
        body = {"apiVersion": place.api_version, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}
        return session.request("POST", place.path(namespace), retry=True, body=body)

    return made


@pytest.fixture
def wait_until(session: Session, namespace: str) -> Made:
    """wait_until(kind, name, holds): the object as soon as it is as asked."""

    def seen(kind: str, name: str, holds: Callable[[Manifest], bool]) -> Manifest:
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            live = session.get(KINDS[kind], namespace, name)
            if live is not None and holds(live):
                return live
            time.sleep(0.05)
        raise AssertionError(live)

    return seen


def wait_until_absent(session: Session, path: str) -> None:
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        try:
            session.request("GET", path, retry=True)
        except ApiError as error:
            assert error.code == 404, error
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} is still there")


def image(registry: AnyRegistry, **options: Any) -> Manifest:
    return {"source": {"registry": {"url": f"docker://{registry.address}/disk:1", **options}}, "storage": STORAGE}


def succeeded(live: Manifest) -> bool:
    return bool((live.get("status") or {}).get("phase") == "Succeeded")


def condition(live: Manifest, kind: str) -> Manifest:
    result = (live.get("status") or {}).get("conditions") or []
    return next((item for item in result if item["type"] == kind), {})


def test_image_labels_do_not_replace_existing_labels(make: Made, wait_until: Made, any_registry: AnyRegistry) -> None:
    registry = any_registry
    registry.push("disk", "1", {"amd64": ENVIRONMENT})
    make("DataVolume", "plain", image(registry))
    volume = wait_until("DataVolume", "plain", succeeded)
    assert volume["status"]["progress"] == "100.0%" and volume["status"]["claimName"] == "plain"
    claim = wait_until("PersistentVolumeClaim", "plain", lambda live: live["status"]["phase"] == "Bound")
    assert claim["metadata"]["labels"][f"{DEFAULT}instancetype"] == "u1.medium"
    assert claim["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "cdi-controller"
    mine = {f"{DEFAULT}instancetype": "mine"}
    make("DataVolume", "labelled", image(registry), labels=mine)
    wait_until("DataVolume", "labelled", succeeded)
    claim = wait_until("PersistentVolumeClaim", "labelled", lambda live: live["status"]["phase"] == "Bound")
    assert claim["metadata"]["labels"].items() >= mine.items()


def test_claims_bind_while_cdi_writes_them(make: Made, wait_until: Made) -> None:
    """Without a limit of CDI's requests, its controllers write pending claims faster than Kubernetes can bind them."""
    names = [f"disk-{index}" for index in range(20)]
    for name in names:
        make("DataVolume", name, {"source": {"blank": {}}, "storage": STORAGE})
    for name in names:
        wait_until("DataVolume", name, succeeded)


@FURTHER
def test_deleted_claims_leave_no_volumes(session: Session, namespace: str, make: Made, wait_until: Made) -> None:
    """The controller of volumes looks at each that is left, until it binds no claim for minutes."""
    make("DataVolume", "gone", {"source": {"blank": {}}, "storage": STORAGE})
    claim = wait_until("PersistentVolumeClaim", "gone", lambda live: live["status"]["phase"] == "Bound")
    session.request("DELETE", VOLUME.path(namespace, "gone"), retry=True)
    wait_until_absent(session, f"/api/v1/persistentvolumes/{claim['spec']['volumeName']}")


@FURTHER
def test_missing_image_is_retried(make: Made, wait_until: Made, registry: LoopbackRegistry) -> None:
    make("DataVolume", "late", image(registry))
    stuck = wait_until(
        "DataVolume",
        "late",
        lambda live: (
            condition(live, "Running").get("reason") == "ImagePullFailed" and live["status"].get("restartCount", 0) > 0
        ),
    )
    assert stuck["status"]["phase"] == "ImportInProgress"
    running = condition(stuck, "Running")
    assert running["status"] == "False"
    assert running["message"].endswith("/disk: manifest unknown")
    registry.push("disk", "1", {"amd64": []})
    wait_until("DataVolume", "late", succeeded)


@FURTHER
def test_failed_imports_say_why(make: Made, wait_until: Made, registry: LoopbackRegistry) -> None:
    registry.push("disk", "1", {"amd64": []}, size=2 << 30)
    wrong = {"platform": {"architecture": "s390x"}}
    expected = {
        "large": (image(registry), "Error", "DataVolume too small to contain image"),
        "other": (image(registry, **wrong), "ImagePullFailed", 'architecture: "amd64" doesn\'t match requested'),
        "locked": (image(registry, secretRef="none"), "ContainerCreating", 'secret "none" not found'),
    }
    for name, (spec, _reason, _message) in expected.items():
        make("DataVolume", name, spec)
    for name, (_spec, reason, message) in expected.items():

        def reached(live: Manifest, reason: str = reason, message: str = message) -> bool:
            running = condition(live, "Running")
            return running.get("reason") == reason and message in running["message"]

        wait_until("DataVolume", name, reached)


@FURTHER
def test_registry_with_password(
    session: Session, namespace: str, make: Made, wait_until: Made, registry: LoopbackRegistry
) -> None:
    registry.push("disk", "1", {"amd64": []})
    registry.auth, registry.login = "basic", ("me", "secret")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pull"}}
    secret["stringData"] = {"accessKeyId": "me", "secretKey": "secret"}
    session.request("POST", f"/api/v1/namespaces/{namespace}/secrets", body=secret)
    make("DataVolume", "private", image(registry, secretRef="pull"))
    wait_until("DataVolume", "private", succeeded)


@FURTHER
def test_a_url_and_its_checksum(make: Made, wait_until: Made, tmp_path: Path) -> None:
    (tmp_path / "disk.img").write_bytes(b"disk")
    handler = partial(_Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_address[1]}/disk.img"
        good, bad = f"sha256:{hashlib.sha256(b'disk').hexdigest()}", f"sha256:{'0' * 64}"
        for name, checksum in (("good", good), ("bad", bad)):
            make("DataVolume", name, {"source": {"http": {"url": url, "checksum": checksum}}, "storage": STORAGE})
        wait_until("DataVolume", "good", succeeded)
        failed = wait_until("DataVolume", "bad", lambda live: (live.get("status") or {}).get("phase") == "Failed")
        assert condition(failed, "Running")["reason"] == "ChecksumError"
        server.shutdown()
        thread.join()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_arguments: Any) -> None:
        pass


def test_clones_inherit_defaults_and_size(make: Made, wait_until: Made, namespace: str) -> None:
    source = {"pvc": {"name": "golden", "namespace": namespace}}
    make("DataSource", "boot", {"source": source})
    make("DataSource", "pointer", {"source": {"dataSource": {"name": "boot", "namespace": namespace}}})
    missing = wait_until("DataSource", "boot", lambda live: bool(condition(live, "Ready")))
    assert (condition(missing, "Ready")["reason"], missing["status"]["source"]) == ("NotFound", {})
    labels = {f"{DEFAULT}instancetype": "u1.medium", "kubevirt.io/os": "fedora"}
    make("DataVolume", "golden", {"source": {"blank": {}}, "storage": STORAGE}, labels=labels)
    ready = wait_until("DataSource", "pointer", lambda live: condition(live, "Ready").get("status") == "True")
    assert ready["status"]["source"] == source
    assert ready["metadata"]["labels"].items() >= labels.items()
    # CDI retries a clone without a source at growing intervals, so the source comes first.
    make("DataVolume", "clone", {"sourceRef": {"kind": "DataSource", "name": "pointer"}, "storage": {}})
    clone = wait_until("DataVolume", "clone", succeeded)
    assert clone["metadata"]["labels"] == {f"{DEFAULT}instancetype": "u1.medium"}
    claim = wait_until("PersistentVolumeClaim", "clone", lambda live: live["status"]["phase"] == "Bound")
    assert claim["spec"]["resources"]["requests"]["storage"] == str(1 << 30)


@FURTHER
def test_clone_needs_rights_in_the_source_namespace(session: Session, cluster: Path, namespace: str) -> None:
    role = {"kind": "ClusterRole", "name": "edit", "apiGroup": "rbac.authorization.k8s.io"}
    binding = {"metadata": {"name": "editor"}, "roleRef": role, "subjects": [{"kind": "User", "name": "editor"}]}
    session.request("POST", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings", body=binding)
    editor = Session({"kubeconfig": str(cluster), "impersonate_user": "editor", "retry_timeout": 30})
    spec = {"source": {"pvc": {"name": "golden", "namespace": "default"}}, "storage": STORAGE}
    body = {"apiVersion": VOLUME.api_version, "kind": "DataVolume", "metadata": {"name": "clone"}, "spec": spec}
    # The authorizer learns of the binding a little later.
    end = time.monotonic() + TIMEOUT
    message = ""
    while "insufficient permissions" not in message and time.monotonic() < end:
        with pytest.raises(ApiError) as refused:
            editor.write(write.create(VOLUME.path(namespace), body))
        message = str(refused.value)
    assert "User editor has insufficient permissions in clone source namespace default" in message


def test_volume_refused_by_cdi(make: Made) -> None:
    with pytest.raises(ApiError, match="denied the request: Storage size is missing"):
        make("DataVolume", "none", {"source": {"blank": {}}, "storage": {}})
    with pytest.raises(ApiError, match="Illegal cron schedule"):
        template = {"spec": {"source": {"registry": {"url": "docker://a/b"}}, "storage": STORAGE}}
        make("DataImportCron", "none", {"managedDataSource": "none", "schedule": "never", "template": template})


@FURTHER
def test_cron_polls_and_keeps_imports_to_keep(
    session: Session, namespace: str, make: Made, wait_until: Made, any_registry: AnyRegistry
) -> None:
    registry = any_registry
    template = {"metadata": {"labels": {"lost": "here"}}, "spec": image(registry)}
    spec = {"managedDataSource": "disk", "schedule": "* * * * *", "importsToKeep": 1, "template": template}
    make("DataImportCron", "poller", spec, labels={f"{DEFAULT}preference": "mine"})
    cron = wait_until("DataImportCron", "poller", lambda live: bool(condition(live, "UpToDate")))
    assert condition(cron, "UpToDate")["reason"] == "NoDigest"
    assert "labels" not in (cron["spec"]["template"].get("metadata") or {})
    for number in range(2):
        digest = registry.push("disk", "1", {"amd64": [f"N={number}"]})
        _poll_now(session, namespace)
        name = f"disk-{digest.removeprefix('sha256:')[:12]}"
        lead = {"pvc": {"name": name, "namespace": namespace}}
        result = wait_until("DataSource", "disk", lambda live, lead=lead: live["spec"]["source"] == lead)
        assert result["metadata"]["labels"][f"{DEFAULT}preference"] == "mine"
        volume = session.get(VOLUME, namespace, name)
        assert volume is not None
        assert volume["spec"]["source"]["registry"]["url"] == f"docker://{registry.address}/disk@{digest}"
    cron = wait_until("DataImportCron", "poller", lambda live: condition(live, "UpToDate").get("status") == "True")
    assert cron["metadata"]["annotations"]["cdi.kubevirt.io/storage.import.sourceDesiredDigest"] == digest
    end = time.monotonic() + TIMEOUT
    while len(session.list(VOLUME, namespace)) > 1 and time.monotonic() < end:
        time.sleep(0.1)
    assert [item["metadata"]["name"] for item in session.list(VOLUME, namespace)] == [name]


def _poll_now(session: Session, namespace: str) -> None:
    """Polls like `kubectl create job --from`; CDI's CronJob would do so within a minute."""
    for job in session.request("GET", "/apis/batch/v1/namespaces/cdi/cronjobs")["items"]:
        template = job["spec"]["jobTemplate"]
        if namespace in template["spec"]["template"]["spec"]["containers"][0]["command"]:
            owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": job["metadata"]["name"]}
            owners = [{**owner, "uid": job["metadata"]["uid"]}]
            metadata = {**(template.get("metadata") or {}), "generateName": "poll-now-", "ownerReferences": owners}
            body = {"metadata": metadata, "spec": template["spec"]}
            session.request("POST", "/apis/batch/v1/namespaces/cdi/jobs", body=body)


@pytest.fixture
def upload(session: Session, namespace: str) -> Iterator[Callable[..., tuple[int, str]]]:
    """upload(method, path, claim, data, **headers): status and text of the upload proxy's answer."""
    config = session.request("GET", "/apis/cdi.kubevirt.io/v1beta1/cdiconfigs/config")["status"]
    with urllib3.PoolManager(ssl_context=ssl.create_default_context(cadata=config["uploadProxyCA"])) as pool:

        def sent(method: str, path: str, claim: str, data: bytes = b"", **headers: str) -> tuple[int, str]:
            path_of_tokens = f"/apis/upload.cdi.kubevirt.io/v1beta1/namespaces/{namespace}/uploadtokenrequests"
            token = session.request("POST", path_of_tokens, body={"spec": {"pvcName": claim}})["status"]["token"]
            headers = {"Authorization": f"Bearer {token}", **headers}
            url = f"{config['uploadProxyURL']}/v1beta1/{path}"
            answer = pool.request(method, url, body=data or None, headers=headers, retries=False)
            return answer.status, answer.data.decode()

        yield sent


@FURTHER
def test_upload_proxy_responses(
    make: Made, wait_until: Made, namespace: str, upload: Callable[..., tuple[int, str]]
) -> None:
    def prepare(name: str, **spec: Any) -> None:
        storage = {"resources": {"requests": {"storage": "1Mi"}}}
        make("DataVolume", name, {"source": {"upload": {}}, "storage": storage, **spec})
        wait_until("DataVolume", name, lambda live: (live.get("status") or {}).get("phase") == "UploadReady")

    prepare("disk")
    assert upload("HEAD", "upload-async", "disk", Authorization="Basic x") == (400, "")
    assert upload("HEAD", "upload-async", "disk", Authorization="Bearer x.y.z") == (401, "")
    assert upload("POST", "upload", "none") == (503, "rejecting Upload Request for PVC none that doesn&#x27;t exist")
    assert [upload("HEAD", path, "disk")[0] for path in ("upload-async", "upload")] == [200, 404]
    code, text = upload("POST", "upload", "disk", b"x" * (2 << 20))
    assert (code, "effective image size is larger" in text) == (400, True)
    # A qcow2 image says itself how large it is.
    qcow2 = b"QFI\xfb" + bytes(20) + (2 << 20).to_bytes(8, "big") + bytes(100)
    assert upload("POST", "upload-async", "disk", qcow2)[0] == 400
    assert upload("POST", "upload-async", "disk", b"data") == (200, "")
    wait_until("DataVolume", "disk", succeeded)
    assert upload("POST", "upload", "disk", b"data")[0] == 503

    prepare("archive", contentType="archive")
    assert upload("HEAD", "upload-async", "archive")[0] == 404
    assert upload("POST", "upload", "archive", b"tar")[0] == 200
    prepare("form")
    body, kind = urllib3.encode_multipart_formdata({"file": ("disk.img", b"formdata")})
    assert upload("POST", "upload-form", "form", body, **{"Content-Type": kind})[0] == 200
    claim = wait_until("PersistentVolumeClaim", "form", lambda live: MARK in live["metadata"]["annotations"])
    assert claim["metadata"]["annotations"][MARK] == hashlib.sha256(b"formdata").hexdigest()


@FURTHER
def test_claim_prepared_for_upload(
    session: Session, namespace: str, wait_until: Made, upload: Callable[..., tuple[int, str]]
) -> None:
    metadata = {"name": "plain", "annotations": {"cdi.kubevirt.io/storage.upload.target": ""}}
    spec = {"accessModes": ["ReadWriteOnce"], **STORAGE}
    body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
    # Nothing binds a claim without a storage class.
    session.request(
        "POST", CLAIM.path(namespace), retry=True, body={**body, "spec": {**spec, "storageClassName": "local"}}
    )
    wait_until("PersistentVolumeClaim", "plain", lambda live: live["metadata"]["annotations"].get(READY) == "true")
    assert upload("POST", "upload-async", "plain", b"data")[0] == 200
