"""VMs by name: the names are looked up, not searched for each VM."""

from typing import Any

import pytest

from growth import growth
from plugins.module_utils._cluster.modules import virtual_machine_power
from plugins.module_utils._cluster.modules.shared_options import select_vms
from plugins.module_utils._cluster.reads.revisions import inspect
from plugins.module_utils._cluster.task import Task
from scripted_server import KUBEVIRT


class Names(list[str]):
    """An option that is only read from beginning to end."""

    def __contains__(self, name: object) -> bool:
        raise AssertionError(f"{name} is searched among all names")


class Counted(dict[str, Any]):
    """A manifest whose use is seen as a call."""

    def __getitem__(self, key: str) -> Any:
        return super().__getitem__(key)


class Session:
    """A session of one namespace that has VMs and nothing else."""

    def __init__(self, count: int) -> None:
        self.names = [f"vm-{number}" for number in range(count)]

    def list(self, kind: Any, *_arguments: Any, **_query: str) -> list[Any]:
        if kind.kind != "VirtualMachine":
            return [KUBEVIRT] if kind.kind == "KubeVirt" else []
        spec = {"template": {"spec": {"domain": {"devices": {}}}}}
        metadata = [{"name": name, "namespace": "shop", "uid": name} for name in self.names]
        return [Counted(metadata=entry, spec=spec) for entry in metadata]


def params(names: list[str], **more: Any) -> Any:
    nothing = {"state": "started", "paused": False, "force": False, "grace_period": None, "label_selectors": None}
    return {**nothing, "namespace": "shop", "names": Names(names), **more}


def test_names_of_many_vms_are_looked_up_once() -> None:
    def work(count: int) -> Any:
        session: Any = Session(count)
        requested = params(session.names)

        def find() -> None:
            assert [vm["metadata"]["name"] for vm in select_vms(requested, session, Task())] == sorted(session.names)

        return find

    assert growth(work) < 5


@pytest.mark.parametrize(("names", "expected"), [(["vm-1", "gone"], ["vm-1"]), (None, ["vm-0", "vm-1", "vm-2"])])
def test_revisions_of_vms_by_name(names: list[str] | None, expected: list[str]) -> None:
    session: Any = Session(3)
    requested = None if names is None else Names(names)
    assert [vm.name for vm in inspect(session, "shop", requested)] == expected


def test_the_power_of_vms_by_name_and_label() -> None:
    session: Any = Session(3)
    both = params(["vm-1", "gone"], label_selectors=["app=web"])
    assert [job.key.name for job in virtual_machine_power._selected(both, session, Task())] == ["vm-1"]
