"""The module boot_source on a cluster whose CDI reads a registry on loopback."""

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from docker_registry import DockerRegistry
from loopback_registry import LoopbackRegistry
from waiting import wait_until

from plugins.module_utils._cluster.client.concurrency import display
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS

Run = Callable[..., dict[str, Any]]
AnyRegistry = LoopbackRegistry | DockerRegistry
Manifest = dict[str, Any]

pytestmark = pytest.mark.needs("cdi_here")

LABEL = "instancetype.kubevirt.io/default-"
MERGE = "application/merge-patch+json"
VOLUME, SOURCE, CRON = KINDS["DataVolume"], KINDS["DataSource"], KINDS["DataImportCron"]


@pytest.fixture
def boot(run: Run, shop: str) -> Run:
    """boot(check=False, **options): the result of a boot source `fedora` in the namespace."""

    def one(check: bool = False, **options: Any) -> dict[str, Any]:
        given = {"name": "fedora", "namespace": shop, "size": "1Gi", "insecure_registry": True, **options}
        return run("boot_source", check=check, **given)

    return one


def image(registry: AnyRegistry, variables: tuple[str, ...] = (), **size: int) -> dict[str, str]:
    digest = registry.push("disks/fedora", "latest", {"amd64": [f"BUILT={time.time()}", *variables]}, **size)
    return {"image": f"{registry.address}/disks/fedora", "digest": digest.rpartition(":")[2]}


def names(session: Session, namespace: str) -> set[str]:
    return {item["metadata"]["name"] for item in session.list(VOLUME, namespace)}


DEFAULTS = {
    "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
    "preference": {"name": "linux", "kind": "VirtualMachinePreference"},
}
LABELS = {
    f"{LABEL}instancetype": "small",
    f"{LABEL}instancetype-kind": "VirtualMachineInstancetype",
    f"{LABEL}preference": "linux",
    f"{LABEL}preference-kind": "VirtualMachinePreference",
}


def test_image_updates_move_the_data_source(boot: Run, any_registry: AnyRegistry, session: Session, shop: str) -> None:
    registry = any_registry
    first = image(registry)
    options = {"image": first["image"], "wait": True, "keep": 2, **DEFAULTS}
    foreseen = boot(check=True, **options)
    assert foreseen["changed"] and not foreseen.get("failed"), foreseen
    assert session.list(VOLUME, shop) == []

    result = boot(**options)
    assert result["msg"] == "1 boot source: 1 created", result
    volume = f"fedora-{first['digest'][:12]}"
    assert result["result"]["source"] == {"pvc": {"name": volume, "namespace": shop}}
    assert result["result"]["ready"]
    assert {name: result["result"]["labels"][name] for name in LABELS} == LABELS
    live = session.get(VOLUME, shop, volume)
    assert live is not None
    assert live["spec"]["source"]["registry"]["url"] == f"docker://{first['image']}@sha256:{first['digest']}"
    assert LABELS.items() <= live["metadata"]["labels"].items()
    assert boot(**options)["msg"] == "1 boot source: 1 unchanged"

    seen = [first]
    for _time in range(2):
        # Kubernetes knows when an object was created to the second, and the older one goes.
        time.sleep(1.1)
        seen.append(image(registry))
        assert boot(**options)["msg"] == "1 boot source: 1 changed"
    assert names(session, shop) == {f"fedora-{item['digest'][:12]}" for item in seen[1:]}


def test_unawaited_image_moves_the_data_source_later(
    boot: Run, registry: LoopbackRegistry, session: Session, shop: str
) -> None:
    first = image(registry)
    assert boot(image=first["image"], wait=True)["changed"]
    second = image(registry)
    waiting = boot(image=first["image"])
    assert waiting["changed"]
    assert waiting["result"]["source"]["pvc"]["name"] == f"fedora-{first['digest'][:12]}"
    assert "run the task again" in waiting["result"]["warnings"][0]
    moved = boot(image=first["image"], wait=True)
    assert moved["result"]["source"]["pvc"]["name"] == f"fedora-{second['digest'][:12]}"


def test_declared_labels_precede_image_labels(
    boot: Run, registry: LoopbackRegistry, session: Session, shop: str
) -> None:
    # Named like the namespace: another test may have deployed common-instancetypes, which is full of the usual names.
    carried = image(
        registry,
        (
            "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_INSTANCETYPE=medium",
            "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_INSTANCETYPE_KIND=VirtualMachineInstancetype",
            f"INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE={shop}",
        ),
    )
    result = boot(image=carried["image"], preference=DEFAULTS["preference"])
    assert result["result"]["labels"] == {**LABELS, f"{LABEL}instancetype": "medium"}
    before = names(session, shop)
    refused = boot(image=carried["image"], name="other")
    assert names(session, shop) == before
    assert f"preference: there is no VirtualMachineClusterPreference {shop}" in refused["msg"]


def test_endlessly_retried_import_ends_the_wait(
    boot: Run, registry: LoopbackRegistry, session: Session, shop: str
) -> None:
    there = image(registry, size=2 << 30)["image"]
    missing = {"image": f"{there}@sha256:{'0' * 64}", "query_registry": False}
    for options, message in (
        ({"image": there}, "DataVolume too small to contain image"),
        (missing, "failed to pull image: reading manifest"),
    ):
        failed = boot(wait=True, wait_timeout=60, **options)
        assert failed["failed"]
        assert "CDI cannot fill the volume: " in failed["msg"]
        assert message in failed["msg"]
    assert session.list(SOURCE, shop) == []


def test_invalid_entries_are_refused_before_any_write(
    boot: Run, run: Run, registry: LoopbackRegistry, session: Session, shop: str
) -> None:
    there = image(registry)["image"]
    for options, message in (
        ({"image": f"{there}:none"}, "has no image"),
        ({"image": there, "architecture": "s390x"}, "is for amd64, not for s390x"),
        ({"image": there, "size": "1M"}, "CDI refuses the object: Storage size should be at least 1MiB"),
        ({"image": there, "size": "huge"}, "size: 'huge'"),
        ({"image": there, "storage_class": "none"}, "storage_class: there is no StorageClass none"),
        ({"image": there, "schedule": "0 0 * * 7"}, "CDI refuses the object: Illegal cron schedule"),
        ({"image": there, "schedule": "TZ=UTC"}, "schedule: a time zone needs a schedule after it"),
        ({"image": there, "secret_ref": "none"}, "there is no Secret"),
        ({"image": there, "cert_config_map": "none"}, "there is no ConfigMap"),
        ({"image": there, "instancetype": {"name": "not a label!"}}, "instancetype: 'not a label!'"),
        ({"url": "ftp://x/y"}, "Invalid source URL scheme"),
        ({}, "exactly one of them is required"),
        ({"url": "http://x", "schedule": "@daily"}, "only an image of a registry can be polled"),
        ({"image": there, "keep": 0}, "keep: 1 is the least"),
        ({"image": "A B"}, "is not the name of an image"),
        ({"image": there, "query_registry": False}, "needs an image with a digest"),
        ({"upload": {"path": "/no/such/file"}}, "No such file"),
        ({"upload": {"path": "/dev/null", "create": False}}, "upload.volume: required with create: false"),
        ({"upload": {"path": "/dev/null", "volume": "A"}}, "upload.volume: 'A' "),
    ):
        refused = boot(**options)
        assert refused["failed"] and message in refused["msg"], (options, refused["msg"])
    assert session.list(VOLUME, shop) == session.list(SOURCE, shop) == session.list(CRON, shop) == []


def test_image_is_polled(boot: Run, registry: LoopbackRegistry, session: Session, shop: str) -> None:
    there = image(registry)["image"]
    options = {"image": there, "schedule": "@daily", **DEFAULTS}
    result = boot(**options)
    assert result["msg"] == "1 boot source: 1 created", result
    cron = session.get(CRON, shop, "fedora")
    assert cron is not None
    assert cron["metadata"]["labels"] == LABELS
    assert cron["spec"]["managedDataSource"] == "fedora"
    assert cron["spec"]["retentionPolicy"] == "All"
    assert boot(**options)["msg"] == "1 boot source: 1 unchanged"
    uid = cron["metadata"]["uid"]
    # CDI refuses another spec, so the cron is another one.
    assert boot(check=True, **{**options, "schedule": "@weekly"})["changed"]
    assert boot(**{**options, "schedule": "@weekly"})["changed"]
    cron = session.get(CRON, shop, "fedora")
    assert cron is not None and cron["metadata"]["uid"] != uid and cron["spec"]["schedule"] == "@weekly"


def test_claim_with_defaults_is_created_and_deleted(run: Run, session: Session, shop: str) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = KINDS["PersistentVolumeClaim"]
    session.request(
        "POST",
        claim.path(shop),
        retry=True,
        body={"apiVersion": "v1", "kind": claim.kind, "metadata": {"name": "disk"}, "spec": spec},
    )
    options = {"namespace": shop, "name": "installed", "pvc": {"name": "disk"}, **DEFAULTS}
    result = run("boot_source", wait=True, **options)
    assert result["result"]["source"] == {"pvc": {"name": "disk", "namespace": shop}}, result
    labelled = session.get(claim, shop, "disk")
    assert labelled is not None and labelled["metadata"]["labels"] == LABELS
    assert not run("boot_source", **options)["changed"]
    gone = run("boot_source", namespace=shop, name="installed", state="absent")
    assert gone["msg"] == "1 boot source: 1 deleted"
    assert session.get(claim, shop, "disk") is not None
    assert not run("boot_source", namespace=shop, name="installed", state="absent")["changed"]


def test_volumes_being_cloned_stay(boot: Run, registry: LoopbackRegistry, session: Session, shop: str) -> None:
    first = image(registry)
    assert boot(image=first["image"], wait=True)["changed"]
    volume = f"fedora-{first['digest'][:12]}"
    # It is never filled, since its storage class does not exist.
    spec = {"source": {"pvc": {"name": volume, "namespace": shop}}, "storage": {"storageClassName": "none"}}
    clone = {"apiVersion": VOLUME.api_version, "kind": "DataVolume", "metadata": {"name": "clone"}, "spec": spec}
    session.request("POST", VOLUME.path(shop), retry=True, body=clone)
    gone = boot(state="absent")
    assert any(
        f"{volume} stays, since {shop}/clone is cloned from it" in item for item in gone["result"]["warnings"]
    ), gone
    assert session.get(VOLUME, shop, volume) is not None
    session.request("DELETE", VOLUME.path(shop, "clone"))
    assert boot(state="absent")["changed"]
    assert names(session, shop) == set()


def test_consumers_need_the_right_to_clone(boot: Run, session: Session, registry: LoopbackRegistry, shop: str) -> None:
    options = {"image": image(registry)["image"], "consumers": ["default"]}
    refused = boot(**options)
    assert f"may not create datavolumes/source of cdi.kubevirt.io in {shop}" in refused["msg"]
    assert session.list(VOLUME, shop) == []
    rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{shop}"
    rules = [{"apiGroups": ["cdi.kubevirt.io"], "resources": ["datavolumes/source"], "verbs": ["create"]}]
    session.request("POST", f"{rbac}/roles", body={"metadata": {"name": "clone"}, "rules": rules})
    role = {"kind": "Role", "name": "clone", "apiGroup": "rbac.authorization.k8s.io"}
    subjects = [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}]
    binding = {"metadata": {"name": "clone"}, "roleRef": role, "subjects": subjects}
    session.request("POST", f"{rbac}/rolebindings", body=binding)
    # The authorizer learns of the binding a little later.
    end = time.monotonic() + 60
    while (result := boot(**options)).get("failed") and time.monotonic() < end:
        time.sleep(0.1)
    assert result["changed"], result


def test_failing_entry_leaves_others_alone(run: Run, registry: LoopbackRegistry, shop: str) -> None:
    there = image(registry)["image"]
    entries = [
        {"name": "a", "image": there},
        {"name": "b", "image": f"{there}:none"},
        {"name": "c", "url": "https://x/y"},
    ]
    result = run("boot_source", namespace=shop, size="1Gi", insecure_registry=True, boot_sources=entries)
    assert result["failed"] and "1 of 3 boot sources failed" in result["msg"]
    assert [item["changed"] for item in result["results"]] == [True, False, True]
    assert {"DataVolume", "DataSource"} == {key.split()[0] for item in result["diff"] for key in item["after"]}


@pytest.fixture
def proxy(session: Session, tmp_path: Path) -> dict[str, Any]:
    """The option upload_proxy."""
    config = session.request("GET", "/apis/cdi.kubevirt.io/v1beta1/cdiconfigs/config")
    path = tmp_path / "proxy.pem"
    path.write_text(config["status"]["uploadProxyCA"])
    return {"ca_cert": str(path)}


def test_upload_is_verified_once(run: Run, session: Session, shop: str, proxy: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "disk.img"
    path.write_bytes(b"v" * 5000)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    unchecked = {"namespace": shop, "name": "mine", "upload": {"path": str(path)}, "size": "1Gi", **DEFAULTS}
    options = {**unchecked, "upload_proxy": proxy}
    assert run("boot_source", check=True, **options)["changed"]
    wrong = run("boot_source", **options, checksum=f"sha256:{'0' * 64}")
    assert f"its sha256 is {digest}" in wrong["msg"]
    assert "certificate verify failed" in run("boot_source", **unchecked)["msg"]
    assert session.list(VOLUME, shop) == []
    result = run("boot_source", **options, checksum=f"sha256:{digest}", wait=True)
    assert result["result"]["source"]["pvc"]["name"] == f"mine-{digest[:12]}", result
    assert result["result"]["ready"] and result["result"]["labels"] == LABELS
    claim = session.get(KINDS["PersistentVolumeClaim"], shop, f"mine-{digest[:12]}")
    assert claim is not None
    assert claim["metadata"]["annotations"]["instancetypes.virtshape.io/simulated-disk-sha256"] == digest
    assert not run("boot_source", **options)["changed"]


def test_upload_of_archive_and_oversized_file(
    run: Run, session: Session, shop: str, proxy: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "files.tar"
    path.write_bytes(b"t" * (3 << 20))
    options = {"namespace": shop, "upload_proxy": proxy, "wait": True}
    upload = {"path": str(path), "archive": True, "tries": 1}
    shown: list[str] = []
    token = display.set(shown.append)
    result = run("boot_source", name="files", upload=upload, size="1Gi", **options)
    display.reset(token)
    assert shown[-1].startswith("files-") and shown[-1].endswith(": 100 % of 3145728 bytes uploaded"), shown
    assert result["changed"] and not result.get("failed"), result
    # CDI removes the claim that it has filled in place of this one a moment later.
    claims = session.list(KINDS["PersistentVolumeClaim"], shop)
    (claim,) = [item for item in claims if not item["metadata"]["name"].startswith("prime-")]
    assert claim["metadata"]["annotations"]["cdi.kubevirt.io/storage.contentType"] == "archive"
    small = run("boot_source", name="small", upload=upload, size="2Mi", **options)
    assert "HTTP 400 Saving stream failed: effective image size is larger" in small["msg"]
    assert "bytes of the file had been read" in small["msg"]
    blocks = run("boot_source", name="blocks", upload=upload, size="1Gi", volume_mode="Block", **options)
    assert "an archive needs volume_mode Filesystem" in blocks["msg"]


def test_uploads_to_claims(run: Run, session: Session, shop: str, proxy: dict[str, Any], tmp_path: Path) -> None:
    """The module does what virtctl does by `pvc NAME`, `--no-create`, and without `--datasource`."""
    claim = KINDS["PersistentVolumeClaim"]
    path = tmp_path / "disk.img"
    options = {"namespace": shop, "name": "mine", "upload_proxy": proxy, "wait": True, **DEFAULTS}

    def uploaded(data: bytes, **more: Any) -> dict[str, Any]:
        path.write_bytes(data)
        upload = {"path": str(path), "claim": True, **more.pop("upload", {})}
        return run("boot_source", **{**options, "upload": upload, **more})

    def claims() -> set[str]:
        return {item["metadata"]["name"] for item in session.list(claim, shop)}

    first, second = (f"mine-{hashlib.sha256(data).hexdigest()[:12]}" for data in (b"one", b"two"))
    result = uploaded(b"one", size="1Gi", keep=1)
    assert result["result"]["source"]["pvc"]["name"] == first and result["result"]["ready"], result
    assert LABELS.items() <= result["result"]["labels"].items() and session.list(VOLUME, shop) == []
    assert not uploaded(b"one", size="1Gi", keep=1)["changed"]
    assert uploaded(b"two", size="1Gi", keep=1)["result"]["source"]["pvc"]["name"] == second
    assert claims() == {second}

    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    session.request(
        "POST",
        claim.path(shop),
        retry=True,
        body={"apiVersion": "v1", "kind": claim.kind, "metadata": {"name": "iso"}, "spec": spec},
    )
    there = {"volume": "iso", "data_source": False}
    refused = uploaded(b"iso", name="iso", upload=there, size="1Gi")
    assert "iso is not prepared for an upload; with upload.create: false it will be" in refused["msg"]
    there["create"] = False
    assert uploaded(b"iso", name="iso", upload=there)["changed"]
    live = session.get(claim, shop, "iso")
    assert live is not None and LABELS.items() <= live["metadata"]["labels"].items()
    assert live["metadata"]["annotations"]["instancetypes.virtshape.io/simulated-disk-bytes"] == "3"
    assert session.get(SOURCE, shop, "iso") is None
    assert not uploaded(b"iso", name="iso", upload=there)["changed"]
    assert "iso is filled already; upload to another volume" in uploaded(b"new", name="iso", upload=there)["msg"]

    for name in ("mine", "iso"):
        run("boot_source", namespace=shop, name=name, state="absent")
    # A controller takes its protection off a deleted claim.
    wait_until(lambda: claims() == {"iso"})


def test_existing_objects_get_labels(run: Run, session: Session, shop: str) -> None:
    """Without CDI, nothing copies labels from one to the other."""
    storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    leads = {"source": {"pvc": {"name": "disk", "namespace": shop}}}
    taken = {"source": {"persistentVolumeClaimName": "disk"}}
    made = {"PersistentVolumeClaim": storage, "DataSource": leads, "VolumeSnapshot": taken}
    for kind, spec in made.items():
        body = {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": {"name": "disk"}, "spec": spec}
        session.request("POST", KINDS[kind].path(shop), retry=True, body=body)
    entries = [{"name": "disk", "kind": kind} for kind in made]

    def labelled(**options: Any) -> dict[str, Any]:
        return run("boot_source", **{"namespace": shop, "state": "labeled", **DEFAULTS, **options})

    assert labelled(check=True, boot_sources=entries)["msg"] == "3 boot sources: would be 3 changed"
    result = labelled(boot_sources=entries)
    assert result["msg"] == "3 boot sources: 3 changed", result
    for kind, spec in made.items():
        live = session.get(KINDS[kind], shop, "disk")
        assert live is not None and LABELS.items() <= live["metadata"]["labels"].items(), kind
        assert kind == "VolumeSnapshot" or spec.items() <= live["spec"].items()
    assert {item["kind"]: item["labels"] for item in result["results"]} == dict.fromkeys(made, LABELS)
    assert {"before", "after"} <= set(result["diff"][0])
    assert labelled(boot_sources=entries)["msg"] == "3 boot sources: 3 unchanged"

    bigger = {"instancetype": {"name": "medium", "kind": "VirtualMachineInstancetype"}}
    other = labelled(name="disk", **bigger)
    assert "CDI writes other values of" in other["result"]["warnings"][0]
    for options, message in (
        ({"name": "none"}, f"there is no DataSource {shop}/none"),
        ({"name": "disk", "instancetype": None, "preference": None}, "labeled needs instancetype, preference or both"),
        ({"name": "disk", "pvc": {"name": "disk"}}, "pvc: not valid with state labeled"),
        (
            {"name": "disk", "preference": {"name": "none"}},
            "preference: there is no VirtualMachineClusterPreference none",
        ),
    ):
        refused = labelled(**options)
        assert refused["failed"] and message in refused["msg"], refused
    assert "there is no DataSource" in labelled(check=True, name="none")["result"]["warnings"][0]
