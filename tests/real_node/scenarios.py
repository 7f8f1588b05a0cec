"""What is done to VMs on both kinds of nodes, each scenario in a namespace of its own, step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from real_node.compare import Stage, Step
from real_node.images import BROKEN, GUEST

_NOWHERE = "registry.invalid/nothing:1"


def _create(**options: Any) -> Step:
    return "create", lambda stage: _booted(stage, stage.declare(**options))


def _booted(stage: Stage, said: Any, *names: str) -> Any:
    """Wait until the agents of the guests have been reached, by default that of the only one."""
    for name in names or ("web",):
        stage.until("the guest's agent", stage.condition("AgentConnected", vm=name))
    return said


def _power(state: str, *, boots: bool = False, **options: Any) -> Step:
    def act(stage: Stage) -> Any:
        said = stage.power(state, **options)
        return _booted(stage, said) if boots else said

    return state, act


def _fails(**options: Any) -> Step:
    """A VM that cannot start: what the wait says of it."""
    return "create", lambda stage: stage.declare(**{"wait_timeout": 60, **options})


def _delete(stage: Stage) -> Any:
    return stage.task("virtual_machine", names=["web"], state="absent", wait=True)


def _root(image: str = GUEST) -> list[dict[str, Any]]:
    return [{"name": "root", "container_disk": image}]


def _claim_and_boot(stage: Stage) -> None:
    stage.make_claim("missing")
    _booted(stage, None)


def _with_claims(*names: str, hotpluggable: bool = True) -> list[dict[str, Any]]:
    more = [{"name": name, "persistent_volume_claim": name, "hotpluggable": hotpluggable} for name in names]
    return [*_root(), *more]


def _claims(*names: str) -> Step:
    def make(stage: Stage) -> None:
        for name in names:
            stage.make_claim(name)

    return "claims", make


def _plugged(stage: Stage, names: Iterable[str]) -> None:
    """Wait until these claims, and no others, are plugged."""

    def are() -> bool:
        volumes = [item for item in stage.vmi()["status"].get("volumeStatus", ()) if item.get("hotplugVolume")]
        return (
            {item["name"] for item in volumes if item.get("phase") == "Ready"}
            == set(names)
            == {item["name"] for item in volumes}
        )

    stage.until(f"the disks {sorted(names)}", are)


def _plug(step: str, *names: str) -> Step:
    def act(stage: Stage) -> Any:
        said = stage.declare(volumes=_with_claims(*names))
        _plugged(stage, names)
        return said

    return step, act


def _nics(**states: str) -> dict[str, Any]:
    """The options for a VM on the default network and on others: name → state of the interface."""
    devices = [{"name": name, "bridge": {}, **({"state": state} if state else {})} for name, state in states.items()]
    interfaces = [{"name": "default", "masquerade": {}}, *devices]
    networks = [{"name": "default", "pod": {}}, *({"name": name, "multus": {"networkName": name}} for name in states)]
    spec = {"domain": {"devices": {"interfaces": interfaces}}, "networks": networks}
    return {"networks": None, "template": {"spec": spec}}


def _nic(step: str, state: str) -> Step:
    """Plug the interface `lan`, or unplug it with the state `absent`."""

    def act(stage: Stage) -> Any:
        said = stage.declare(**_nics(lan=state))

        def done() -> bool:
            found = {item.get("name"): item["infoSource"] for item in stage.vmi()["status"]["interfaces"]}
            return "lan" not in found if state == "absent" else "domain" in found.get("lan", "")

        stage.until(f"the end of {step}", done)
        return said

    return step, act


def _resize(step: str, **options: Any) -> Step:
    def act(stage: Stage) -> Any:
        said = stage.declare(**options)
        topology, memory = options.get("cpu", {}).get("sockets"), options["memory"]

        def arrived() -> bool:  # as far as KubeVirt goes: the guest also needs a driver for virtio-mem
            status = stage.vmi()["status"]
            sockets = status.get("currentCPUTopology", {}).get("sockets")
            return (not topology or sockets == topology) and status["memory"]["guestRequested"] == memory

        stage.until(f"{options}", arrived, 200)
        return said

    return step, act


def _instancetype(step: str, cpus: int, memory: str = "1Gi", **more: Any) -> Step:
    options = {"name": "size", "cpu": {"guest": cpus}, "memory": {"guest": memory}, **more}
    return step, lambda stage: stage.task("instancetype", **options)


def _fleet(stage: Stage) -> Any:
    entries = [{"name": name} for name in ("web", "worker")]
    size = {"name": "size", "kind": "VirtualMachineInstancetype"}
    said = stage.declare(name=None, memory=None, instancetype=size, virtual_machines=entries)
    return _booted(stage, said, "web", "worker")


def _refresh(stage: Stage, restart: str) -> Any:
    said = stage.task("controller_revision", state="refreshed", restart=restart, wait_timeout=400)
    for name in ("web", "worker"):
        stage.until("2 CPUs", lambda name=name: stage.vmi(name)["status"]["currentCPUTopology"]["sockets"] == 2)
    return _booted(stage, said, "web", "worker")


def _soft_reboot(stage: Stage) -> Any:
    said = stage.power("soft_rebooted")
    if stage.kind == "real":  # where the guest goes down and comes back
        stage.until("the end of the agent", lambda: not stage.condition("AgentConnected")())
    return _booted(stage, said)


_SYSPREP = {"name": "answers", "sysprep": {"config_map": "missing"}}
_DATA = {"name": "data", "data_volume": "missing"}
_SMALL: dict[str, Any] = {"cpu": {"sockets": 1}, "memory": "1Gi"}

SCENARIOS: dict[str, list[Step]] = {
    "life": [
        _create(),
        ("inventory", lambda stage: stage.addresses()),
        _power("paused"),
        _power("unpaused"),
        ("soft_rebooted", _soft_reboot),
        _power("restarted", boots=True),
        _power("stopped"),
        _power("started", boots=True),
        ("delete", _delete),
    ],
    "migration": [
        _create(),
        _power("migrated"),
        ("stopped", lambda stage: stage.power("stopped", force=True, grace_period=0)),
    ],
    "disks": [
        _claims("first", "second"),
        _create(),
        _plug("plug", "first"),
        _plug("plug another", "first", "second"),
        _plug("unplug", "second"),
        _plug("unplug the last"),
    ],
    "nic": [
        ("network", lambda stage: stage.make_network("lan")),
        _create(**_nics()),
        _nic("plug", ""),
    ],
    # A VM of its own, as for memory.
    "nic-unplug": [
        ("network", lambda stage: stage.make_network("lan")),
        _create(**_nics(lan="")),
        _nic("unplug", "absent"),
    ],
    "size": [
        _create(**_SMALL),
        _resize("CPU", cpu={"sockets": 2}, memory="1Gi"),
    ],
    # A VM of its own: KubeVirt 1.9 does not move a guest back while its former pod is not cleaned up.
    "memory": [
        _create(**_SMALL),
        _resize("memory", cpu={"sockets": 1}, memory="2Gi"),
    ],
    "fleet": [
        _instancetype("instancetype", 1),
        ("create", _fleet),
        _instancetype("another size", 2),
        ("refresh live", lambda stage: _refresh(stage, "never")),
        _instancetype("another memory", 2, memory="1280Mi", io_threads_policy="shared"),
        ("refresh with restart", lambda stage: _refresh(stage, "if_required")),
    ],
    "crash": [
        _create(),
        ("crash", lambda stage: stage.crash()),
    ],
    "no-image": [_fails(volumes=_root(_NOWHERE)), ("delete", _delete)],
    "no-disk": [_fails(volumes=_root(BROKEN)), ("delete", _delete)],
    "no-claim": [
        _fails(volumes=_with_claims("missing", hotpluggable=False)),
        ("claim", _claim_and_boot),
        ("delete", _delete),
    ],
    "no-secret": [
        _fails(access_credentials=[{"secret": "missing", "method": "ga", "users": ["debian"]}]),
        ("delete", _delete),
    ],
    "no-node": [_fails(node_selector={"nowhere": "yes"}), ("delete", _delete)],
    "no-room": [_fails(memory="900Gi"), ("delete", _delete)],
    "no-config-map": [_fails(volumes=[*_root(), _SYSPREP]), ("delete", _delete)],
    "no-data-volume": [_fails(volumes=[*_root(), _DATA]), ("delete", _delete)],
    "no-network": [_fails(networks=[{"name": "lan", "multus": "missing"}]), ("delete", _delete)],
    "no-quota": [("quota", lambda stage: stage.make_quota("64Mi")), _fails(), ("delete", _delete)],
}
