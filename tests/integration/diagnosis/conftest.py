"""The clusters of the diagnosis: the one of the test run, and one with declared nodes for faults of scheduling."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "modules"))

from plugins.module_utils._cluster.client.session import Session
from vm_faults import GPU, NODES, NewPlaces, Place, clean

_MERGE = "application/merge-patch+json"


@pytest.fixture(scope="session")
def nodes_kubeconfig(launch: Callable[..., dict[str, Any]], run_cluster: tuple[str, ...]) -> str:
    """The kubeconfig of a cluster with kube-scheduler and NODES, which may give guests a GPU that no node has."""
    *_name, folder = run_cluster
    options = ("--name", "tests", "--dir", f"{folder}-diagnosis", "--nodes", json.dumps(NODES))
    kubeconfig = str(launch("start", *options)["kubeconfig"])
    session = Session({"kubeconfig": kubeconfig, "retry_timeout": 30})
    metadata = session.request("GET", "/apis/kubevirt.io/v1/kubevirts")["items"][0]["metadata"]
    device = {"externalResourceProvider": True, "pciVendorSelector": "10DE:20B0", "resourceName": GPU}
    # By default two guests leave a node at a time, and other migrations wait without a pod.
    migrations = {"parallelMigrationsPerCluster": 100, "parallelOutboundMigrationsPerNode": 100}
    configuration = {"permittedHostDevices": {"pciHostDevices": [device]}, "migrations": migrations}
    path = f"/apis/kubevirt.io/v1/namespaces/{metadata['namespace']}/kubevirts/{metadata['name']}"
    session.request("PATCH", path, body={"spec": {"configuration": configuration}}, content_type=_MERGE)
    return kubeconfig


@pytest.fixture
def new_places(cluster: Path) -> Iterator[NewPlaces]:
    """new_places(names): new namespaces of the test run's cluster."""
    yield from _places(str(cluster))


@pytest.fixture
def new_places_with_nodes(nodes_kubeconfig: str) -> Iterator[NewPlaces]:
    """new_places_with_nodes(names): new namespaces of the cluster with NODES."""
    yield from _places(nodes_kubeconfig)


def _places(kubeconfig: str) -> Iterator[NewPlaces]:
    api = Session({"kubeconfig": kubeconfig, "retry_timeout": 30})
    places: list[Place] = []

    def new(names: Sequence[str]) -> list[Place]:
        for name in names:
            api.request("POST", "/api/v1/namespaces", body={"metadata": {"name": name}})
        made = [Place(api, name) for name in names]
        places.extend(made)
        return made

    def remove(place: Place) -> None:
        clean(place)
        api.request("DELETE", f"/api/v1/namespaces/{place.namespace}")

    yield new
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(remove, places))
