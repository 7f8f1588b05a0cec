"""Fleets of VMs as the modules tell of them, of any size."""

import random
from typing import Any

Result = dict[str, Any]

SIZES = {"u1.small": (1, 2), "u1.medium": (1, 4), "u1.large": (2, 8), "cx1.2xlarge": (8, 16), "m1.8xlarge": (32, 256)}
LABEL = "VirtualMachineCluster"
DAYS = ("2026-02-28T20:00:00Z", "2026-02-25T00:00:00Z", "2026-02-10T00:00:00Z", "2025-06-01T00:00:00Z")


def part(kind: str, name: str, state: str = "current", **more: Any) -> Result:
    """The captured revision of an instancetype or a preference."""
    return {
        "kind": kind,
        "name": name,
        "revision": f"{name}-1",
        "pinned": False,
        "state": state,
        "generation": 1,
        "current_generation": 2 if state == "drifted" else 1,
        "recreated": False,
        "changes": [],
        "captured_at": "2025-01-01T00:00:00Z",
        "changed_at": "2025-01-01T00:00:00Z",
        **more,
    }


def vm(name: str, namespace: str = "shop", size: str = "u1.small", state: str = "current", **more: Any) -> Result:
    """A VM as virtual_machine_info returns it, with a running guest. more: counts before what is here."""
    vcpus, gib = SIZES[size]
    return {
        "name": name,
        "namespace": namespace,
        "run_strategy": "Always",
        "status": "Running",
        "restart_required": False,
        "drifted": state == "drifted",
        "instancetype": part(f"{LABEL}Instancetype", size, state),
        "preference": part(f"{LABEL}Preference", "fedora"),
        "resources": {"guest": {"vcpus": vcpus, "memory_bytes": gib * 2**30}},
        "vmi": {"phase": "Running", "guest": {"vcpus": vcpus, "memory": f"{gib}Gi"}},
        **more,
    }


def captured(name: str, namespace: str = "shop", *, drifted: bool = True, **more: Any) -> Result:
    """The same VM as virtual_machine_info returns it with a refresh."""
    changes = [{"field": "domain.memory.guest", "before": "2Gi", "after": "4Gi"}]
    return {
        "name": name,
        "namespace": namespace,
        "drifted": drifted,
        "changes": changes if drifted else [],
        "needs": "restart" if drifted else "nothing",
        **more,
    }


def entry(name: str, kind: str = f"{LABEL}Instancetype", namespace: str = "", **more: Any) -> Result:
    """An instancetype or preference as catalog_info returns it."""
    result = {"catalog": "common", "catalog_version": "v1.8.0", "deprecated": False, "used_by": []}
    return {"kind": kind, "namespace": namespace, "name": name, **result, **more}


def fleet(count: int) -> dict[str, list[Result]]:
    """A fleet with something of everything: the arguments of the filter by name, `value` for its input."""
    vms, revisions = [], []
    for number in range(count):
        name, namespace = f"vm-{number:05}", ("shop", "office", "laboratory-of-the-north")[number % 3]
        size = list(SIZES)[number // 3 % len(SIZES)]
        drifted = number % 5 == 0
        changed = DAYS[number % len(DAYS)]
        made = vm(name, namespace, size, "drifted" if drifted else "current", restart_required=number % 17 == 0)
        made["labels"] = {"team": ("web", "billing", "research", "")[number % 7 % 4]}
        made["instancetype"]["changed_at"] = changed
        if number % 4 == 1:
            del made["vmi"]
            made["revisions_lost_by"] = ["backup", "snapshot"]
            made.update(status="Stopped", run_strategy="Halted")
        vms.append(made)
        more: Result = {}
        if number % 10 == 5:
            more = {"changes": [{"field": "domain.cpu.sockets", "before": 1, "after": 2}], "needs": "live_update"}
        if number % 100 == 50:
            more = {"refusal": "spec.template.spec.domain.cpu.model conflicts with selected instance type"}
        revisions.append(captured(name, namespace, drifted=drifted, **more))
    return {
        "value": vms,
        "revisions": revisions,
        "unreferenced": [
            {"namespace": "shop", "name": "lost-1", "virtual_machine": "gone", "captured_at": DAYS[3]},
            {"namespace": "shop", "name": "old-1", "virtual_machine": "vm-00000", "captured_at": DAYS[3]},
        ],
        "instancetypes": [
            entry("u1.small", used_by=["shop/vm-00000"]),
            entry("u1.large", deprecated=True, used_by=[f"shop/vm-{number:05}" for number in range(9)]),
            *(entry(f"unused.{number}") for number in range(40)),
        ],
        "preferences": [entry("windows.11", kind=f"{LABEL}Preference")],
    }


# Reasons for restarts, in KubeVirt's words and in ours.
REASONS = (
    "a non-live-updatable field was changed in the template spec",
    "the guest was started with other revisions of its instancetype or preference",
    "CPU sockets updated in template spec to a value lower than what the VM started with",
)


def random_fleet(count: int, seed: int) -> dict[str, list[Result]]:
    """A fleet as large organizations have it, drawn anew for each seed; the arguments of the filter, as `fleet`."""
    draw = random.Random(seed)
    teams = [f"team-{number}" for number in range(draw.randint(1, 12))]
    namespaces = [f"{draw.choice(teams)}-{draw.choice(('dev', 'production'))}-{number}" for number in range(60)]
    drifting, waiting, stopped = (draw.random() for _share in range(3))
    vms, revisions = [], []
    for number in range(count):
        name, namespace = f"{draw.choice(('web', 'database-of-orders'))}-{number:05}", draw.choice(namespaces)
        size, drifts = draw.choice(list(SIZES)), draw.random() < drifting
        made = vm(name, namespace, size, "drifted" if drifts else "current", labels={"team": draw.choice([*teams, ""])})
        made["preference"] = part(f"{LABEL}Preference", draw.choice(("fedora", "rhel.9", "windows.2k22.virtio")))
        made["instancetype"]["changed_at"] = draw.choice(DAYS)
        if draw.random() < stopped:
            del made["vmi"]
            made.update(status="Stopped", run_strategy="Halted", revisions_lost_by=["backup", "snapshot"])
        elif draw.random() < waiting:
            made.update(restart_required=True, restart_reason=draw.choice(REASONS))
        vms.append(made)
        more: Result = {"changes": [{"field": "domain.memory.guest", "before": f"{SIZES[size][1]}Gi", "after": "4Gi"}]}
        if draw.random() < 0.3:
            more["refusal"] = f"spec.template.spec.domain.{draw.choice(('cpu', 'memory'))} conflicts with {size}"
        revisions.append(captured(name, namespace, drifted=drifts, **(more if drifts else {})))
    names = [f"{draw.choice(('u1', 'cx1', 'm1'))}.{number}" for number in range(200)]
    users = [f"{item['namespace']}/{item['name']}" for item in vms]
    return {
        "value": vms,
        "revisions": revisions,
        "unreferenced": [
            {"namespace": draw.choice(namespaces), "name": f"lost-{number}", "virtual_machine": "", "captured_at": ""}
            for number in range(draw.randint(0, 300))
        ],
        "instancetypes": [
            entry(name, deprecated=draw.random() < 0.3, used_by=draw.sample(users, draw.choice((0, 1, 10))))
            for name in names
        ],
        "preferences": [entry(f"windows.{number}", kind=f"{LABEL}Preference") for number in range(100)],
    }
