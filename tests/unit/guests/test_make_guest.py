"""The maker of guest images, without making one."""

import lzma
import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from loaded_files import load

MAKE_GUEST = load(Path(__file__).resolve().parents[3] / "tools" / "make_guest.py")
packages = MAKE_GUEST.packages
initramfs = MAKE_GUEST.minimal_root.initramfs
disk = MAKE_GUEST.minimal_root.disk


def test_missing_programs_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert MAKE_GUEST.main(["--minimal"]) == 1
    assert capsys.readouterr().err == "make_guest: no mmdebstrap and no qemu-utils on this machine: install them\n"


def test_a_failing_mirror_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("mmdebstrap", "qemu-img"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'I: trying'\necho 'E: no mirror'\necho 'I: removing'\nexit 25\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert MAKE_GUEST.main([]) == 1
    assert capsys.readouterr().err == "make_guest: mmdebstrap ended with 25: E: no mirror\n"
    assert [path.name for path in (tmp_path / "virtshape/guests").iterdir()] == ["debian.lock"]


def test_an_image_that_exists_is_not_made_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = MAKE_GUEST.image_path("minimal")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"an image")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert MAKE_GUEST.image("minimal") == path


def test_images_go_a_week_after_their_last_use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    image = MAKE_GUEST.image_path("minimal")
    image.parent.mkdir(parents=True)
    others = [image.with_name(name) for name in ("minimal-old.qcow2", "minimal-young.qcow2", "debian-1.qcow2")]
    for file in (image, *others):
        file.touch()
    for file in (image, others[0]):
        os.utime(file, (0, 0))
    assert MAKE_GUEST.image("minimal") == image
    assert not others[0].exists() and all(file.exists() for file in (image, *others[1:]))


def test_each_recipe_has_its_own_digest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shutil.copytree(MAKE_GUEST.RECIPES, tmp_path / "guests")
    before = {kind: MAKE_GUEST.recipe_digest(kind) for kind in MAKE_GUEST.KINDS}
    monkeypatch.setattr(MAKE_GUEST, "RECIPES", tmp_path / "guests")
    assert {kind: MAKE_GUEST.recipe_digest(kind) for kind in MAKE_GUEST.KINDS} == before
    (tmp_path / "guests/minimal/inittab").write_text("changed")
    assert MAKE_GUEST.recipe_digest("debian") == before["debian"]
    assert MAKE_GUEST.recipe_digest("minimal") != before["minimal"]


def test_drivers_follow_those_they_need(tmp_path: Path) -> None:
    folder = tmp_path / "usr/lib/modules/6.1/kernel/drivers"
    folder.mkdir(parents=True)
    for name, needs in (("virtio-net", "net_failover"), ("net_failover", "failover"), ("failover", "")):
        content = b"ELF\0depends=" + needs.encode() + b"\0name=x\0"
        (folder / f"{name}.ko.xz").write_bytes(lzma.compress(content))
    names = [name for name, _ in initramfs.modules(tmp_path, ["virtio_net", "ahci", "failover"])]
    assert names == ["failover", "net_failover", "virtio_net"]
    with pytest.raises(packages.Failed, match="has no drivers"):
        initramfs.modules(tmp_path / "elsewhere")


@pytest.mark.skipif(not shutil.which("cpio"), reason="no cpio to unpack it with")
def test_cpio_unpacks_the_initial_ram_disk(tmp_path: Path) -> None:
    archive = initramfs.archive("#!init", b"busybox!", [("failover", b"one"), ("virtio_net", b"three")])
    subprocess.run(["cpio", "--quiet", "-id", "-D", tmp_path], input=archive, check=True)
    assert (tmp_path / "modules/order").read_text() == "failover\nvirtio_net\n"
    assert (tmp_path / "modules/virtio_net.ko").read_bytes() == b"three"
    assert (tmp_path / "init").read_text() == "#!/bin/busybox sh\n#!init" and os.access(tmp_path / "init", os.X_OK)


def test_boot_record_has_one_active_partition() -> None:
    root, efi = disk.Partition(0x83, 6144, 5000, active=True), disk.Partition(0xEF, 2048, 4096)
    record = disk.boot_record(b"\xeb" * 440, root, efi)
    assert len(record) == 512 and record[-2:] == b"\x55\xaa" and record[:440] == b"\xeb" * 440
    assert struct.unpack("<B3xB3xII", record[446:462]) == (0x80, 0x83, 6144, 5000)
    assert struct.unpack("<B3xB3xII", record[462:478]) == (0, 0xEF, 2048, 4096)
    assert record[478:510] == bytes(32)


@pytest.mark.parametrize(("user", "calls"), [(0, ["update", "install"]), (1000, [])])
def test_only_root_installs_what_is_missing(
    user: int, calls: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "apt-get").write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\n')
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: user)
    MAKE_GUEST.install()
    said = (tmp_path / "calls").read_text().splitlines() if calls else []
    assert [line.split()[4] for line in said] == calls
    assert not calls or "mmdebstrap qemu-utils qemu-system-x86 xorriso openssh-client" in said[-1]
    assert calls or not (tmp_path / "calls").exists()
