"""Contents of claims for real guests, and the files behind the disks of a VMI."""

import asyncio
import base64
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from node_support import Api, in_loop, named, pod, vmi

from node.api.resources import CLAIM, CONFIG_MAP, SECRET, SNAPSHOT, STORAGE_CLASS, VOLUME
from node.cdi.uploads import Uploads
from node.cdi.workers import Workers
from node.guests import images
from node.guests.disks import Disks
from node.guests.domain import Unsupported
from node.guests.images import Images, ToolFailed
from node.guests.store import Store
from node.storage.provisioner import NAME, Provisioner

pytestmark = pytest.mark.skipif(shutil.which("qemu-img") is None, reason="disks need qemu-img")

Manifest = dict[str, Any]
SIZE = 2**20


def claim(name: str, storage: str = "4Mi", **spec: Any) -> Manifest:
    resources = {"requests": {"storage": storage}}
    spec = {"volumeName": f"pv-{name}", "resources": resources, "storageClassName": "local", **spec}
    spec.setdefault("accessModes", ["ReadWriteOnce"])
    return {"metadata": named(name), "spec": spec, "status": {"phase": "Bound"}}


class Storage:
    """A store with claims, and one image that is mapped."""

    def __init__(self, folder: Path, *claims: Manifest) -> None:
        self.api = Api()
        self.claims = self.api.cache(CLAIM, *claims)
        self.image = folder / "image.raw"
        self.image.write_bytes(b"system".ljust(SIZE, b"\0"))
        self.store = Store(folder / "volumes", self.claims, Images({"quay.io/x/*": str(self.image)}))
        self.disks = Disks(self.api.client, self.store)
        self.folder = folder

    async def contents(self, name: str) -> tuple[bytes, int]:
        """The first bytes of a claim's disk, and its size."""
        drive = await self.store.drive("ns", name)
        raw = self.folder / "raw"
        await images.run("qemu-img", "convert", "-O", "raw", drive.file, str(raw))
        return raw.read_bytes()[:6], raw.stat().st_size


@in_loop
async def test_blank_claim_has_the_size_of_its_request(tmp_path: Path) -> None:
    storage = Storage(tmp_path, claim("a"))
    assert not storage.store.holds("ns", "a")
    assert await storage.contents("a") == (b"\0" * 6, 4 * SIZE)
    storage.api.add(CLAIM, claim("a", "8Mi"))
    assert await storage.contents("a") == (b"\0" * 6, 8 * SIZE)
    with pytest.raises(Unsupported, match="claim b is not bound"):
        await storage.store.drive("ns", "b")


@in_loop
async def test_import_copies_the_mapped_file(tmp_path: Path) -> None:
    storage = Storage(tmp_path, claim("a"))
    assert await imported(storage, "docker://quay.io/x/y:1") == ""
    storage.image.unlink()
    assert await storage.contents("a") == (b"system", 4 * SIZE) and storage.store.holds("ns", "a")


@in_loop
async def test_import_that_does_not_fit_fails(tmp_path: Path) -> None:
    storage = Storage(tmp_path, claim("a"))
    storage.image.write_bytes(b"\0" * 8 * SIZE)
    assert "Virtual image size 8388608 is larger" in await imported(storage, "docker://quay.io/x/y:1")


@in_loop
async def test_claim_of_an_unknown_image_says_so(tmp_path: Path) -> None:
    storage = Storage(tmp_path, claim("a"))
    await imported(storage, "docker://localhost:1/y:1")
    with pytest.raises(Unsupported, match="claim a: no entry of local_cluster_images matches docker://localhost:1/y:1"):
        storage.store.holds("ns", "a")


async def imported(storage: Storage, endpoint: str) -> str:
    """The message of an importer that fails; "" if it does not."""
    env = {"SOURCE": "registry", "ENDPOINT": endpoint, "IMAGE_SIZE": "4Mi"}
    container = {"name": "importer", "env": [{"name": f"IMPORTER_{key}", "value": text} for key, text in env.items()]}
    manifest = pod(containers=[container], volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "a"}}])
    manifest["metadata"]["labels"] = {"cdi.kubevirt.io": "importer"}
    program = Workers(storage.api.client, Uploads(), storage.store).find(manifest)
    assert program is not None
    outcome = await program()
    assert outcome.code or json.loads(outcome.message)["message"] == "Import Complete"
    return outcome.message if outcome.code else ""


@in_loop
async def test_incoming_image_becomes_a_disk(tmp_path: Path) -> None:
    storage = Storage(tmp_path, claim("a"))
    with storage.store.incoming("ns", "a") as file:
        file.write_bytes(b"upload".ljust(SIZE, b"\0"))
        await storage.store.take("ns", "a", file)
    assert await storage.contents("a") == (b"upload", 4 * SIZE)
    assert [entry.suffix for entry in (tmp_path / "volumes").iterdir()] == [".qcow2"]


@pytest.mark.parametrize("group", ["", "snapshot.storage.k8s.io"])
@in_loop
async def test_new_volume_has_the_contents_of_its_source(tmp_path: Path, group: str) -> None:
    storage = Storage(tmp_path, claim("a"))
    await storage.store.fill("ns", "a", images.drive(storage.image))
    source: Manifest = {"kind": "PersistentVolumeClaim", "name": "a"}
    if group:
        await storage.store.copy("pv-a", "content")
        snapshot = {"metadata": named("s"), "status": {"boundVolumeSnapshotContentName": "content"}}
        storage.api.add(SNAPSHOT, snapshot)
        source = {"apiGroup": group, "kind": "VolumeSnapshot", "name": "s"}
    clone = claim("b", "4Mi", volumeName=None, dataSourceRef=source)
    classes = storage.api.cache(STORAGE_CLASS, {"metadata": {"name": "local"}, "provisioner": NAME})
    volumes = storage.api.cache(VOLUME)
    storage.api.add(CLAIM, clone)
    provisioner = Provisioner(storage.api.client, storage.claims, classes, volumes, storage.store)
    await provisioner.sync(("ns", "b"))
    (name,) = [entry["metadata"]["name"] for entry in volumes.objects()]
    storage.api.add(CLAIM, claim("b", volumeName=name))
    assert (await storage.contents("b"))[0] == b"system"


def machine(*volumes: Manifest) -> Manifest:
    named_volumes = [{"name": f"v{number}", **volume} for number, volume in enumerate(volumes)]
    return vmi(devices={"disks": [{"name": volume["name"]} for volume in named_volumes]}, volumes=named_volumes)


@pytest.mark.parametrize(
    ("volumes", "reason"),
    [
        ([{"containerDisk": {"image": "quay.io/x/y:1"}}, {"emptyDisk": {"capacity": "1Mi"}}], ""),
        ([{"persistentVolumeClaim": {"claimName": "a"}}], ""),
        ([{"dataVolume": {"name": "blank"}}], "no disk of it holds a system"),
        ([{"cloudInitNoCloud": {}}], "no disk of it holds a system"),
        ([{"containerDisk": {"image": "quay.io/z:1"}}], "no entry of local_cluster_images matches quay.io/z:1"),
        ([{"hostDisk": {"path": "/x"}}], "volume v0 is of the kind hostDisk"),
    ],
)
@in_loop
async def test_vmi_without_known_disks_is_refused(tmp_path: Path, volumes: list[Manifest], reason: str) -> None:
    storage = Storage(tmp_path, claim("a"), claim("blank"))
    await storage.store.fill("ns", "a", images.drive(storage.image))
    try:
        storage.disks.check(machine(*volumes))
    except Unsupported as error:
        assert str(error) == reason
    else:
        assert not reason


@in_loop
async def test_each_disk_gets_its_file(tmp_path: Path) -> None:
    storage = Storage(tmp_path, claim("a"))
    await storage.store.fill("ns", "a", images.drive(storage.image))
    volumes = [
        {"containerDisk": {"image": "quay.io/x/y:1"}},
        {"persistentVolumeClaim": {"claimName": "a"}},
        {"ephemeral": {"persistentVolumeClaim": {"claimName": "a"}}},
        {"emptyDisk": {"capacity": "3Mi"}},
        {"cloudInitNoCloud": {}},
    ]
    drives = await storage.disks.make(machine(*volumes), tmp_path)
    sizes = {name: await images.virtual_size(Path(drive.file)) // SIZE for name, drive in drives.items()}
    assert sizes == {"v0": 1, "v1": 4, "v2": 4, "v3": 3}


@pytest.mark.skipif(shutil.which("xorrisofs") is None, reason="CD-ROMs need xorrisofs")
@in_loop
async def test_secrets_and_config_maps_are_cdroms(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    storage.api.add(SECRET, {"metadata": named("s"), "data": {"key": base64.b64encode(b"secret text").decode()}})
    storage.api.add(CONFIG_MAP, {"metadata": named("c"), "data": {"Unattend.xml": "answer text"}})
    volumes = [
        {"secret": {"secretName": "s", "volumeLabel": "mine"}},
        {"configMap": {"name": "c"}},
        {"sysprep": {"configMap": {"name": "c"}}},
    ]
    drives = await storage.disks.make(machine(*volumes), tmp_path)
    found = {name: Path(drive.file).read_bytes() for name, drive in drives.items()}
    assert b"secret text" in found["v0"] and b"mine" in found["v0"]
    assert b"answer text" in found["v1"] and b"cfgdata" in found["v1"]
    assert b"unattendCD" in found["v2"]


@in_loop
async def test_secrets_of_cloud_init_lie_where_kubevirt_looks(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    storage.api.add(SECRET, {"metadata": named("s"), "data": {"userdata": base64.b64encode(b"#cloud-config").decode()}})
    machine_ = machine({"cloudInitNoCloud": {"secretRef": {"name": "s"}}})
    keys = {"sshPublicKey": {"source": {"secret": {"secretName": "s"}}}}
    machine_["spec"]["accessCredentials"] = [keys]
    await storage.disks.write_secrets(machine_, tmp_path / "secrets")
    for folder in ("v0", "s-access-cred"):
        assert (tmp_path / "secrets" / folder / "userdata").read_text() == "#cloud-config"


def test_failing_tool_is_named_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match=r"qemu-img: .*No such file"):
        asyncio.run(images.virtual_size(tmp_path / "none"))
