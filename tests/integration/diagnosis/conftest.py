"""The clusters of the diagnosis: the one of the test run, and one with declared nodes for faults of scheduling."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "modules"))

from plugins.module_utils._cluster.client.session import Session
from vm_faults import GPU, NODES, Place, clean

_MERGE = "application/merge-patch+json"


@pytest.fixture
def place(cluster: Path, namespace: str) -> Iterator[Place]:
    """A namespace of the test run's cluster."""
    place = Place(Session({"kubeconfig": str(cluster), "retry_timeout": 30}), namespace)
    yield place
    clean(place)


@pytest.fixture(scope="session")
def nodes_kubeconfig(launch: Callable[..., dict[str, Any]], run_cluster: tuple[str, ...]) -> str:
    """The kubeconfig of a cluster with kube-scheduler and NODES, which may give guests a GPU that no node has."""
    *_name, folder = run_cluster
    options = ("--name", "tests", "--dir", f"{folder}-diagnosis", "--nodes", json.dumps(NODES))
    kubeconfig = str(launch("start", *options)["kubeconfig"])
    session = Session({"kubeconfig": kubeconfig, "retry_timeout": 30})
    metadata = session.request("GET", "/apis/kubevirt.io/v1/kubevirts")["items"][0]["metadata"]
    device = {"externalResourceProvider": True, "pciVendorSelector": "10DE:20B0", "resourceName": GPU}
    configuration = {"permittedHostDevices": {"pciHostDevices": [device]}}
    path = f"/apis/kubevirt.io/v1/namespaces/{metadata['namespace']}/kubevirts/{metadata['name']}"
    session.request("PATCH", path, body={"spec": {"configuration": configuration}}, content_type=_MERGE)
    return kubeconfig


@pytest.fixture
def new_place(nodes_kubeconfig: str) -> Iterator[Callable[[str], Place]]:
    """new_place(name): a new namespace of the cluster with nodes."""
    api = Session({"kubeconfig": nodes_kubeconfig, "retry_timeout": 30})
    places: list[Place] = []

    def one(name: str) -> Place:
        api.request("POST", "/api/v1/namespaces", body={"metadata": {"name": name}})
        places.append(Place(api, name))
        return places[-1]

    yield one
    for made in places:
        clean(made)
        api.request("DELETE", f"/api/v1/namespaces/{made.namespace}")
