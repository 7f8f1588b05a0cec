"""Claims that outlive deleted VMs, also for someone who may not read claims."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from growth import growth
from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes.deletion import await_dependents, await_old_dependents
from plugins.module_utils._cluster.writes.engine import run
from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.change.declared import Ownership, declare_job
from plugins.module_utils._resolver.change.step import Seen
from plugins.module_utils._resolver.change.vm_steps import VMSteps
from plugins.module_utils._resolver.declare import plan
from scripted_server import REVISIONS, Lister, listed, session_with, status

CLAIMS = "/api/v1/namespaces/shop/persistentvolumeclaims"
VOLUMES = "/apis/cdi.kubevirt.io/v1beta1/namespaces/shop/datavolumes"


def vm(*volumes: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": {"name": "a", "namespace": "shop", "uid": "1"},
        "spec": {"dataVolumeTemplates": [{"metadata": {"name": "own"}}], "template": {"spec": {"volumes": volumes}}},
    }


VM = vm(
    {"name": "a", "dataVolume": {"name": "own"}},
    {"name": "b", "persistentVolumeClaim": {"claimName": "foreign"}},
    {"name": "c", "persistentVolumeClaim": {"claimName": "taken-over"}},
)


def owned(name: str, *owners: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid-{name}", "ownerReferences": [{"uid": owner} for owner in owners]}}


def names(claims: Any, volumes: Any) -> list[str]:
    """The kept claims where these are what there is, or how the server refuses to tell."""

    def answer(_method: str, path: str, _query: dict[str, str]) -> tuple[int, Any]:
        matches = claims if path.startswith(CLAIMS) else volumes
        if isinstance(matches, tuple):
            return matches
        if path in (CLAIMS, VOLUMES):
            return 200, listed(*matches.values())
        name = path.rpartition("/")[2]
        return (200, matches[name]) if name in matches else status(404, "not found", "NotFound")

    with session_with(answer) as session:
        steps = VMSteps(Ownership(), (), permitted=False, waits=False, check_mode=True)
        job = declare_job(ObjectKey("VirtualMachine", "shop", "a"), "absent", VM)
        job.seen = Seen(VM)
        job.goal.plan = plan.absent(VM, VM)
        run(session, [job], steps.kind.forecast, Task())
    assert {item["kind"] for item in job.goal.retained} <= {"PersistentVolumeClaim"}
    return [item["name"] for item in job.goal.retained]


FORBIDDEN = status(403, "forbidden", "Forbidden")


@pytest.mark.parametrize(
    ("claims", "volumes", "expected"),
    [
        (
            {"own": owned("own", "uid-own"), "foreign": owned("foreign"), "taken-over": owned("taken-over", "1")},
            {"own": owned("own", "1")},
            ["foreign"],
        ),
        # A DataVolume of the template's name that somebody had made before.
        ({"own": owned("own", "uid-own"), "foreign": owned("foreign")}, {"own": owned("own")}, ["own", "foreign"]),
        ({}, {}, []),
        (FORBIDDEN, FORBIDDEN, ["foreign", "taken-over"]),
        ({"own": owned("own", "uid-own"), "foreign": owned("foreign")}, FORBIDDEN, ["foreign"]),
    ],
)
def test_kept_claims_and_volumes_are_named(claims: Any, volumes: Any, expected: list[str]) -> None:
    assert names(claims, volumes) == expected


def test_remaining_dependent_is_named_in_the_failure() -> None:
    def answer(_method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if "watch" in query:
            return 200, []
        items = [owned("a-small-1", "1"), owned("other", "2")] if path == REVISIONS else []
        return 200, listed(*items)

    with session_with(answer) as session:
        result = await_dependents(session, "shop", [VM], 0)
    assert list(result) == ["a"]
    assert result["a"].startswith(
        "ControllerRevision a-small-1: not ready after 0 s, waiting for the object to disappear"
    )


def test_failed_list_fails_vms_and_keeps_earlier_failures() -> None:
    def answer(_method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path == REVISIONS:
            return FORBIDDEN
        return 200, [] if "watch" in query else listed(owned("a", "1"))

    other = {"metadata": {"name": "b", "namespace": "shop", "uid": "2"}}
    with session_with(answer) as session:
        result = await_dependents(session, "shop", [VM, other], 0)
    assert result["a"].startswith("VirtualMachineInstance a: not ready after 0 s")
    assert result["b"].endswith('["controllerrevisions"], verbs: ["list"]} in a Role of the namespace shop')


def test_dependent_deleted_in_time_is_no_failure() -> None:
    def answer(_method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if "watch" in query:
            return 200, [{"type": "DELETED", "object": owned("a-small-1", "1")}]
        return 200, listed(*([owned("a-small-1", "1")] if path == REVISIONS else []))

    with session_with(answer) as session:
        assert await_dependents(session, "shop", [VM], 60) == {}


def of_vm(owner: str, uid: str, name: str = "") -> dict[str, Any]:
    owners = [{"kind": "VirtualMachine", "name": owner, "uid": uid}]
    return {"metadata": {"name": name or f"{owner}-small-1", "ownerReferences": owners}}


def left(names: str, revisions: Any, vms: dict[str, Any], volumes: Any = (), seconds: float = 0) -> dict[str, str]:
    """The failures of VMs to create, one for each letter. vms: the UIDs of the existing VMs, or a refusal."""

    def answer(_method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        result: Any
        if path in (REVISIONS, VOLUMES):
            result = revisions if path == REVISIONS else volumes
            if "watch" in query:
                return 200, [{"type": "DELETED", "object": item} for item in result] if seconds else []
            return result if isinstance(result, tuple) and result else (200, listed(*result))
        there = {name: {"metadata": {"name": name, "uid": uid}} for name, uid in vms.items()}
        name = path.rpartition("/")[2]
        if name == "virtualmachines":
            return 200, listed(*there.values())
        if name not in vms:
            return status(404, "not found", "NotFound")
        return vms[name] if isinstance(vms[name], tuple) else (200, there[name])

    created = [
        {
            "metadata": {"name": name},
            "spec": {"preference": {"name": "p"}, "dataVolumeTemplates": [{"metadata": {"name": "disk"}}]},
        }
        for name in names
    ]
    with session_with(answer) as session:
        return await_old_dependents(session, "shop", created, seconds)


def test_leftovers_of_a_deleted_vm_delay_its_successor() -> None:
    start = of_vm("c", "1", "revision-start-vm-1-1")
    there = [of_vm("a", "1"), of_vm("b", "2"), start, owned("a-small-2", "1", "2")]
    disks = [of_vm("a", "1", "disk"), of_vm("c", "1", "other"), owned("mine")]
    result = left("ac", there, {}, disks)
    late = "of the deleted virtual machine: not ready after 0 s, waiting for the object to disappear"
    assert result["a"].startswith(f"ControllerRevision a-small-1 {late}")
    assert result["c"].startswith(f"DataVolume other {late}")
    assert len(result) == 2
    assert left("ac", there, {}, disks, seconds=60) == {}


def test_dependents_of_a_live_vm_delay_nothing() -> None:
    assert left("a", [of_vm("a", "1")], {"a": "1"}) == {}
    assert list(left("a", [of_vm("a", "1")], {"a": "2"})) == ["a"]


def test_unlistable_dependents_are_not_awaited() -> None:
    assert left("a", FORBIDDEN, {}, status(404, "no CDI", "NotFound")) == {}


@pytest.mark.parametrize(
    ("revisions", "vm"), [(status(400, "no", "BadRequest"), "1"), ([of_vm("a", "1")], status(400, "no", "BadRequest"))]
)
def test_unreachable_cluster_fails_the_new_vm(revisions: Any, vm: Any) -> None:
    assert list(left("a", revisions, {"a": vm})) == ["a"]


class Going(Lister):
    """A session in which the garbage collector first touches and then deletes a revision of each VM."""

    def __init__(self, count: int) -> None:
        self.items = [of_vm(f"vm-{number}", f"uid-{number}") for number in range(count)]
        self.vms = [{"metadata": item["metadata"]["ownerReferences"][0]} for item in self.items]

    def list_to_watch(self, kind: Any, *_arguments: Any, **_query: str) -> tuple[list[dict[str, Any]], str]:
        return (self.items if kind.kind == "ControllerRevision" else []), "1"

    def watch(self, *_arguments: Any, **_query: str) -> Iterator[dict[str, Any]]:
        for item in self.items:
            yield {"type": "MODIFIED", "object": item}
            yield {"type": "DELETED", "object": item}


def test_work_grows_linearly_with_deleted_vms() -> None:
    def work(count: int) -> Callable[[], Any]:
        session: Any = Going(count)

        def wait() -> None:
            assert await_dependents(session, "shop", session.vms, 60) == {}

        return wait

    assert growth(work) < 5
