"""The checks of the module boot_source: failures before it sends anything, and warnings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plugins.module_utils._resolver.api.keys import BOOT_SOURCE_LABEL
from scripted_server import Store

Run = Callable[..., dict[str, Any]]
Manifest = dict[str, Any]

CDI = "/apis/cdi.kubevirt.io/v1beta1"
GOLDEN = f"{CDI}/namespaces/golden"
CORE = "/api/v1/namespaces"
TYPES = "/apis/instancetype.kubevirt.io/v1beta1"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
DIGEST = "sha256:" + "ab" * 32
DEFAULTS = {"instancetype": {"name": "small"}, "preference": {"name": "fedora"}}
URL = {"url": "https://disks.example/fedora.qcow2"}
IMAGE = {"image": f"disks.example/fedora@{DIGEST}", "query_registry": False}


def named(name: str, **parts: Any) -> Manifest:
    return {"metadata": {"name": name, **parts.pop("metadata", {})}, **parts}


def storage_class(name: str, mode: str = "Immediate", *annotations: str) -> Manifest:
    metadata = {"annotations": dict.fromkeys(annotations, "true")}
    return named(name, metadata=metadata, volumeBindingMode=mode, provisioner="disks.example")


def cluster(release: str = "v1.66.0", **lists: list[Manifest]) -> Store:
    """A cluster with a CDI, an instancetype with 1Gi and preferences; lists: of the kinds below."""
    requires = {"requirements": {"memory": {"guest": "2Gi"}}}
    paths = {
        "sources": f"{GOLDEN}/datasources",
        "volumes": f"{GOLDEN}/datavolumes",
        "crons": f"{GOLDEN}/dataimportcrons",
        "secrets": f"{CORE}/golden/secrets",
        "config_maps": f"{CORE}/golden/configmaps",
        "cdi_secrets": f"{CORE}/cdi/secrets",
        "classes": CLASSES,
        "services": SERVICES,
    }
    service = named("v1beta1.upload.cdi.kubevirt.io", spec={"service": {"namespace": "cdi"}})
    lists = {"classes": [storage_class("fast")], "services": [service], **lists}
    size = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    return Store(
        {
            **{path: lists.get(name, []) for name, path in paths.items()},
            f"{CDI}/cdis": [named("cdi", status={"observedVersion": release})],
            f"{CDI}/cdiconfigs": [named("config", spec={"featureGates": ["HonorWaitForFirstConsumer"]})],
            f"{TYPES}/virtualmachineclusterinstancetypes": [named("small", spec=size)],
            f"{TYPES}/virtualmachineclusterpreferences": [
                named("fedora", spec={}),
                named("large", spec=requires),
                named("arm", spec={"requirements": {"architecture": "arm64"}}),
            ],
        }
    )


@pytest.fixture
def boot(run: Run) -> Run:
    """boot(cluster, check=False, **options): the result for a boot source `fedora`."""

    def boot_source(store: Store, check: bool = False, **options: Any) -> dict[str, Any]:
        named_alone = {} if "boot_sources" in options else {"name": "fedora"}
        params = {**named_alone, "namespace": "golden", "size": "1Gi", **DEFAULTS, **options}
        return run("boot_source", store, check=check, **params)

    return boot_source


def warnings(result: dict[str, Any]) -> list[str]:
    """The warnings of the checks. No volume is filled here, of which each result warns."""
    return [warning for warning in result["warnings"] if "run the task again" not in warning]


LATE = storage_class("late", "WaitForFirstConsumer")
LATE_DEFAULT = storage_class("late", "WaitForFirstConsumer", "storageclass.kubernetes.io/is-default-class")
VIRT_DEFAULT = storage_class("fast", "Immediate", "storageclass.kubevirt.io/is-default-virt-class")


@pytest.mark.parametrize(
    ("lists", "options", "message"),
    [
        (
            {},
            {**URL, "preference": {"name": "large"}},
            "the instancetype small and the preference large do not go together: insufficient Memory resources of 1Gi"
            " provided by instance type, preference requires 2Gi",
        ),
        (
            {"sources": [named("fedora", metadata={"labels": {"cdi.kubevirt.io/dataImportCron": "other"}}, spec={})]},
            URL,
            "the DataImportCron other manages the DataSource, and moves it back; delete the cron",
        ),
        (
            {"sources": [named("fedora", metadata={"labels": {"app.kubernetes.io/managed-by": "ssp-operator"}})]},
            URL,
            "the SSP operator manages the DataSource fedora, and puts it back; choose another name",
        ),
        (
            {"sources": [named("fedora", spec={})]},
            {**IMAGE, "schedule": "@daily"},
            "no DataImportCron has made the DataSource fedora, so CDI never moves it; delete the DataSource first",
        ),
        (
            {"secrets": [named("pull")]},
            {**IMAGE, "schedule": "@daily", "secret_ref": "pull"},
            "secret_ref: there is no Secret cdi/pull",
        ),
        ({}, {**IMAGE, "schedule": "@daily", "storage_class": "none"}, "there is no StorageClass none"),
        (
            {"classes": [LATE]},
            {**URL, "storage_class": "late"},
            "the StorageClass late binds a volume when a pod uses it, so CDI does not fill it; set force_bind: true",
        ),
        ({"classes": [LATE_DEFAULT]}, URL, "the StorageClass late binds a volume when a pod uses it"),
    ],
)
def test_failed_checks_send_nothing(boot: Run, lists: Manifest, options: Manifest, message: str) -> None:
    store = cluster(**lists)

    result = boot(store, **options)

    assert result["failed"] and message in result["msg"], result
    assert store.writes == []


@pytest.mark.parametrize(
    ("lists", "options"),
    [
        ({}, URL),
        ({"secrets": [named("pull")]}, {**URL, "secret_ref": "pull"}),
        ({"classes": [LATE]}, {**URL, "storage_class": "late", "force_bind": True}),
        ({"classes": [LATE]}, {**IMAGE, "schedule": "@daily", "storage_class": "late"}),
        ({"classes": [LATE_DEFAULT, VIRT_DEFAULT]}, URL),
        (
            {"secrets": [named("pull")], "cdi_secrets": [named("pull")]},
            {**IMAGE, "schedule": "@daily", "secret_ref": "pull"},
        ),
        (
            {"sources": [named("fedora", metadata={"labels": {"cdi.kubevirt.io/dataImportCron": "fedora"}})]},
            {**IMAGE, "schedule": "@daily"},
        ),
    ],
)
def test_passed_checks_have_no_warning(boot: Run, lists: Manifest, options: Manifest) -> None:
    store = cluster(**lists)

    result = boot(store, **options)

    assert not result.get("failed") and warnings(result) == [], result
    assert store.writes


def test_closed_gate_does_not_wait_for_a_consumer(boot: Run) -> None:
    store = cluster(classes=[LATE])
    store.lists[f"{CDI}/cdiconfigs"] = [named("config", spec={"featureGates": []})]

    assert not boot(store, storage_class="late", **URL).get("failed")


@pytest.mark.parametrize(
    ("release", "options", "message"),
    [
        ("v1.62.0", {**IMAGE, "architecture": "arm64"}, "CDI 1.62.0 ignores architecture"),
        ("v1.64.0", {**URL, "checksum": "md5:" + "a" * 32}, "CDI 1.64.0 does not check the checksum of a URL"),
        ("v1.59.0", {**IMAGE, "instancetype": None, "preference": None}, "makes no labels of an image's environment"),
        ("v1.55.0", {**IMAGE, "schedule": "@daily"}, "CDI 1.55.0 leaves the defaults of a cron to itself"),
    ],
)
def test_unsupported_options_of_old_cdi_warn(boot: Run, release: str, options: Manifest, message: str) -> None:
    result = boot(cluster(release), **options)
    assert any(message in warning for warning in result["warnings"]), result
    assert warnings(boot(cluster(), **options)) == []


def test_unreadable_objects_are_not_checked(boot: Run) -> None:
    store = cluster(classes=[LATE], services=[])
    for path in (CLASSES, f"{CDI}/cdis", f"{CDI}/cdiconfigs"):
        store.answers["GET", path] = (403, {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "no"})
    store.lists[f"{CORE}/golden/secrets"] = [named("pull")]

    result = boot(store, storage_class="late", schedule="@daily", secret_ref="pull", **IMAGE)

    assert not result.get("failed"), result
    assert "CDI needs the Secret pull in its own namespace, too; which namespace that is, is not known" in str(
        result["warnings"]
    )


REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


def test_consumers_without_the_right_are_named(boot: Run) -> None:
    store = cluster()
    store.answers["POST", REVIEWS] = (201, {"status": {"allowed": False}})
    result = boot(store, consumers=["golden", "shop"], **URL)
    assert "consumers: VMs in shop cannot boot from it: system:serviceaccount:shop:default may not" in result["msg"]
    assert [path for _method, path in store.writes] == [REVIEWS] * 2
    store.answers["POST", REVIEWS] = (201, {"status": {"allowed": True}})
    assert not boot(store, consumers=["shop"], **URL).get("failed")


def test_forbidden_reviews_are_a_warning(boot: Run) -> None:
    store = cluster()
    store.answers["POST", REVIEWS] = (403, {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "no"})
    result = boot(store, consumers=["shop"], **URL)
    assert not result.get("failed") and "consumers: not checked: " in str(result["warnings"])


def test_upload_checks_its_proxy_first(boot: Run, tmp_path: Path) -> None:
    path = tmp_path / "disk.img"
    path.write_bytes(b"disk")
    store = cluster()

    unreachable = boot(store, upload={"path": str(path)}, upload_proxy={"url": "http://127.0.0.1:1"})
    unknown = boot(store, upload={"path": str(path)})

    assert "the upload proxy at http://127.0.0.1:1 cannot be reached, so nothing was created" in unreachable["msg"]
    assert "CDI has published no URL of its upload proxy; set upload_proxy.url" in unknown["msg"]
    assert store.writes == []


POLLED = {**IMAGE, "schedule": "@weekly", "wait_timeout": 0}


def polled(**spec: Any) -> Manifest:
    """A DataImportCron that a task has made of POLLED, or another; it cannot be changed."""
    url = f"docker://disks.example/fedora@{DIGEST}"
    storage = {"resources": {"requests": {"storage": "1Gi"}}}
    fields = {
        "managedDataSource": "fedora",
        "schedule": "@daily",
        "importsToKeep": 3,
        "garbageCollect": "Outdated",
        "retentionPolicy": "All",
        "template": {"spec": {"source": {"registry": {"url": url}}, "storage": storage}},
    }
    return named("fedora", metadata={"uid": "one"}, spec={**fields, **spec})


QUOTA = "exceeded quota: crons"


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        *(
            ({"schedule": "0 25 * * *", "preflight": preflight}, "CDI refuses the object: Illegal cron schedule")
            for preflight in ("strict", "warn", "off")
        ),
        ({}, QUOTA),
    ],
)
def test_cron_stays_if_the_new_one_is_refused(boot: Run, options: Manifest, problem: str, check: bool) -> None:
    store = cluster(crons=[polled()])
    store.answers["POST", "/dataimportcrons"] = (403, {"kind": "Status", "reason": "Forbidden", "message": QUOTA})
    result = boot(store, check=check, **{**POLLED, **options})
    assert result["failed"] and f"{problem}; " in result["msg"] and store.writes == []
    assert "; the DataImportCron stays as it was" in result["msg"]
    assert problem == QUOTA or store.dry_runs == []


def test_cron_stays_without_the_right_to_create(boot: Run) -> None:
    store = cluster(crons=[polled()])
    verb = 'User "u" cannot create resource "dataimportcrons" in API group "cdi.kubevirt.io"'
    text = f'dataimportcrons.cdi.kubevirt.io is forbidden: {verb} in the namespace "golden"'
    store.answers["POST", "/dataimportcrons"] = (403, {"kind": "Status", "reason": "Forbidden", "message": text})
    result = boot(store, **POLLED)
    assert result["failed"] and text in result["msg"] and store.writes == []
    # Check mode needs no right to write.
    predicted = boot(store, check=True, **POLLED)
    assert predicted["changed"] and any(text in warning for warning in predicted["warnings"])


NO_DRY_RUN = "admission webhook does not support dry run"


def test_cron_without_a_dry_run_is_replaced(boot: Run) -> None:
    store = cluster(crons=[polled()])
    store.answers["POST", "/dataimportcrons"] = (400, {"kind": "Status", "reason": "BadRequest", "message": NO_DRY_RUN})
    # Nothing deletes the old one here, so the task waits in vain.
    result = boot(store, **POLLED)
    assert store.writes == [("DELETE", f"{GOLDEN}/dataimportcrons/fedora")]
    assert "waiting for the object to disappear" in result["msg"]
    assert boot(store, check=True, **POLLED)["changed"]


def test_cron_that_deletes_its_images_stays(boot: Run) -> None:
    store = cluster(crons=[polled(retentionPolicy="None")])
    result = boot(store, **POLLED)
    assert "the DataImportCron fedora has the retentionPolicy None: CDI would delete its images" in result["msg"]
    assert store.writes == store.dry_runs == []


def made_by(manager: str, live: Manifest) -> Manifest:
    entry = {"manager": manager, "operation": "Update", "fieldsV1": {"f:spec": {}}}
    return {**live, "metadata": {**live["metadata"], "managedFields": [entry]}}


@pytest.mark.parametrize("check", [False, True])
def test_data_source_of_others_is_taken_over(boot: Run, check: bool) -> None:
    source = {"pvc": {"name": f"fedora-{'ab' * 6}", "namespace": "golden"}}
    store = cluster(sources=[made_by("kubectl", named("fedora", spec={"source": source}))])
    assert boot(store, check=check, **IMAGE)["failed"]
    assert not boot(store, check=check, take_over=["kubectl"], **IMAGE).get("failed")


def test_uploads_to_one_volume_are_refused(boot: Run, tmp_path: Path) -> None:
    file = tmp_path / "disk.img"
    file.write_bytes(bytes(512))
    store = cluster()
    entries = [{"name": name, "upload": {"path": str(file), "volume": "disk"}} for name in ("one", "two")]
    result = boot(store, boot_sources=entries, preflight="off")
    assert "one and two have the same volume golden/disk; choose another upload.volume" in result["msg"]
    assert store.writes == []


def test_check_mode_predicts_deleted_volumes(boot: Run) -> None:
    labels = {BOOT_SOURCE_LABEL: "fedora"}
    outdated = named("fedora-old", metadata={"namespace": "golden", "labels": labels}, status={"phase": "Succeeded"})
    store = cluster(volumes=[outdated])
    store.lists[f"{CDI}/datavolumes"] = [outdated]
    result = boot(store, check=True, wait=True, keep=1, **IMAGE)
    assert not result.get("failed"), result
    assert ("DELETE", f"{GOLDEN}/datavolumes/fedora-old") in store.dry_runs
    # Without a wait, the volume is not filled when the task is over.
    store.dry_runs.clear()
    boot(store, check=True, keep=1, **IMAGE)
    assert "DELETE" not in {method for method, _path in store.dry_runs}
