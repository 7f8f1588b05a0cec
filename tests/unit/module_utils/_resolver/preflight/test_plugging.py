"""Hotpluggable volumes where KubeVirt plugs them only on request."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.release import parse_release
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt
from plugins.module_utils._resolver.preflight.plugging import (
    is_carried_out,
    is_requested,
    plug_requests,
    plug_write,
    unplugged_volumes,
)

COMMANDS = "run `virtctl addvolume` or `virtctl removevolume` before the task"
DECLARED, REQUESTED = "DeclarativeHotplugVolumes", "HotplugVolumes"


def vm(*claims: str, hot: bool = True, created: bool = True) -> dict[str, Any]:
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name, "hotpluggable": hot}} for name in claims]
    template = {"spec": {"domain": {"devices": {}}, **({"volumes": volumes} if volumes else {})}}
    return {"spec": {"runStrategy": "Always", "template": template}, "status": {"created": created}}


def kubevirt(version: str, *gates: str) -> KubeVirt:
    return KubeVirt(parse_release(version), {"developerConfiguration": {"featureGates": list(gates)}})


@pytest.mark.parametrize(
    ("version", "gates", "remedy"),
    [
        ("1.8.4", (), f"enable the feature gate {DECLARED} in the KubeVirt object"),
        ("1.8.4", (REQUESTED,), f"replace the feature gate {REQUESTED} by {DECLARED}, or {COMMANDS}"),
        ("1.9.0", (REQUESTED,), f"replace the feature gate {REQUESTED} by {DECLARED}, or {COMMANDS}"),
        ("1.5.0", (), f"enable the feature gate {REQUESTED}"),
        ("1.5.0", (REQUESTED,), COMMANDS),
    ],
)
def test_change_waits_for_a_restart(version: str, gates: tuple[str, ...], remedy: str) -> None:
    line = (
        "spec.template.spec.volumes: one, two: this KubeVirt plugs volumes into a running guest only on request, so a"
        f" restart makes the change; {remedy}"
    )
    assert unplugged_volumes(vm("one"), vm("two"), kubevirt(version, *gates)) == line


def test_nothing_to_say_of_other_changes() -> None:
    older = kubevirt("1.8.4")
    assert unplugged_volumes(vm("one"), vm(), kubevirt("1.9.0")) is None
    assert unplugged_volumes(vm("one"), None, older) is None
    assert unplugged_volumes(vm("one"), vm(created=False), older) is None
    assert unplugged_volumes(vm("one"), vm("one"), older) is None
    assert unplugged_volumes(vm("one", hot=False), vm(), older) is None


SCSI = {"disk": {"bus": "scsi"}}
RUNNING = {"created": True, "printableStatus": "Running"}


def with_disks(status: dict[str, Any] | None = None, /, **targets: dict[str, Any]) -> dict[str, Any]:
    """A VM with a plugged volume and a disk for each name."""
    made = vm(*targets)
    disks = [{"name": name, **target} for name, target in targets.items() if target]
    made["spec"]["template"]["spec"]["domain"]["devices"]["disks"] = disks
    return {**made, "status": status or RUNNING}


def test_requests_give_and_take_volumes() -> None:
    after, before = with_disks(one=SCSI, two=SCSI), with_disks(two=SCSI, three=SCSI)
    found = plug_requests(after, before, kubevirt("1.8.4", REQUESTED))
    source = {"persistentVolumeClaim": {"claimName": "one", "hotpluggable": True}}
    assert found == {
        "one": {"name": "one", "disk": {"name": "one", **SCSI}, "volumeSource": source},
        "three": {},
    }
    assert unplugged_volumes(after, before, kubevirt("1.8.4", REQUESTED)) is None
    assert plug_requests(after, before, kubevirt("1.8.4")) == {}
    assert plug_requests(after, after, kubevirt("1.8.4", REQUESTED)) == {}


def with_other_claim() -> dict[str, Any]:
    changed = with_disks(one=SCSI)
    changed["spec"]["template"]["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] = "two"
    return changed


def of_a_template() -> dict[str, Any]:
    made = with_disks(one=SCSI)
    made["spec"]["dataVolumeTemplates"] = [{"metadata": {"name": "one"}}]
    return made


@pytest.mark.parametrize(
    ("after", "before"),
    [
        (with_disks(), of_a_template()),
        (with_disks(one={}), with_disks()),
        (with_disks(one={"disk": {"bus": "sata"}}), with_disks()),
        (with_disks(one={"cdrom": {"bus": "sata"}}), with_disks()),
        (with_disks(), with_disks(one={"cdrom": {"bus": "sata"}})),
        (with_other_claim(), with_disks(one=SCSI)),
        # One volume that cannot be plugged leaves all to the restart.
        (with_disks(one={}, two=SCSI), with_disks()),
    ],
)
def test_volumes_that_no_request_plugs(after: dict[str, Any], before: dict[str, Any]) -> None:
    older = kubevirt("1.8.4", REQUESTED)
    assert plug_requests(after, before, older) == {}
    assert str(unplugged_volumes(after, before, older)).endswith(COMMANDS)


def test_starting_guest_gets_no_request() -> None:
    starting = with_disks({"created": True, "printableStatus": "Starting"})
    assert plug_requests(with_disks(one=SCSI), starting, kubevirt("1.8.4", REQUESTED)) == {}


def test_ready_guest_gets_requests_while_volumes_are_provisioned() -> None:
    ready = [{"type": "Ready", "status": "True"}]
    provisioning = with_disks({"created": True, "printableStatus": "Provisioning", "conditions": ready})
    assert list(plug_requests(with_disks(one=SCSI), provisioning, kubevirt("1.8.4", REQUESTED))) == ["one"]


def test_request_of_a_volume() -> None:
    options = {"name": "one", "disk": SCSI}
    write = plug_write("shop", "web", "one", options, dry_run=True)
    assert write.path == "/apis/subresources.kubevirt.io/v1/namespaces/shop/virtualmachines/web/addvolume"
    assert (write.method, write.body) == ("PUT", {**options, "dryRun": ["All"]})
    write = plug_write("shop", "web", "one", {}, dry_run=False)
    assert write.path.endswith("/virtualmachines/web/removevolume")
    assert write.body == {"name": "one"}


def test_progress_of_a_request() -> None:
    options = {"name": "one"}
    pending = {"volumeRequests": [{"addVolumeOptions": {"name": "one"}}]}
    before, during, after = with_disks(), with_disks(pending), with_disks(pending, one=SCSI)
    done = with_disks(one=SCSI)
    assert [is_requested(item, "one", options) for item in (before, during, after, done)] == [False, True, True, True]
    assert [is_carried_out(item, "one", options) for item in (before, during, after, done)] == [False] * 3 + [True]
    assert is_carried_out(before, "one", {}) and not is_carried_out(done, "one", {})


@pytest.mark.parametrize(("version", "plugged"), [("1.5.0", False), ("1.6.0", True)])
def test_first_releases_request_only_scsi_disks(version: str, plugged: bool) -> None:
    after = with_disks(one={"disk": {"bus": "virtio"}})
    assert bool(plug_requests(after, with_disks(), kubevirt(version, REQUESTED))) is plugged
    assert plug_requests(with_disks(one=SCSI), with_disks(), kubevirt(version, REQUESTED))
