"""One task diagnoses many VMs of the real control plane with the requests that it sends for few."""

import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from waiting import wait_until

from modules_support import execute
from plugins.module_utils._cluster.client.session import Session
from vm_faults import FAULTS, NewPlaces, healthy

MANY = 300


@pytest.mark.nightly("300 VMs")
def test_many_vms_take_the_requests_of_few(new_places: NewPlaces, cluster: Path) -> None:
    [place] = new_places([f"many-{uuid.uuid4().hex[:8]}"])
    faults = [fault for fault in FAULTS if fault.name in ("missing type", "missing claim", "wrong network")]

    def create(index: int) -> None:
        vm = healthy(f"vm-{index}")
        faults[index % len(faults)].declare(vm, place)
        place.create("kubevirt.io/v1", "virtualmachines", "VirtualMachine", vm)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(create, range(MANY)))
    options = {"kubeconfig": str(cluster), "namespace": place.namespace, "include": ["diagnosis"]}

    def links() -> Counter[str]:
        vms = execute("virtual_machine_info", options)["virtual_machines"]
        return Counter(vm["diagnosis"].get("link", "") for vm in vms)

    wanted = {fault.link: MANY // len(faults) for fault in faults}
    wait_until(lambda: links() == wanted, 300)
    asked = [_requests(options), _requests({**options, "names": ["vm-0", "vm-1", "vm-2"]})]
    assert asked[0].keys() == asked[1].keys()
    # Lists have pages of 500 objects; there are more events than that.
    assert {path: count for path, count in asked[0].items() if count > 1 and "/events" not in path} == {}


def _requests(options: dict[str, Any]) -> Counter[str]:
    """The paths of a task's requests, without what they ask for in the query."""
    paths: Counter[str] = Counter()
    request = Session.request

    def counted(session: Session, method: str, path: str, *args: Any, **kwargs: Any) -> Any:
        paths[f"{method} {path}"] += 1
        return request(session, method, path, *args, **kwargs)

    with mock.patch.object(Session, "request", counted):
        assert execute("virtual_machine_info", options)["virtual_machines"]
    return paths
