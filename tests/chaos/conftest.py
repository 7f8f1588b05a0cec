"""The tests that break things on purpose: a cluster with a fault proxy, and VMs to declare on it."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

INTEGRATION = Path(__file__).parents[1] / "integration"
sys.path += [str(INTEGRATION / "playbooks"), str(INTEGRATION / "modules")]

from chaos_support import Faulty, Shop  # noqa: E402

Launch = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def faulty(launch: Launch, start_cluster: Launch, worker_id: str) -> Faulty:
    """A cluster for a file of tests: rules are for all that goes through a proxy, and no cluster runs on, unused,
    beside the other tests."""
    # Where no guest can migrate, each change of a size needs a restart.
    name = f"chaos-{worker_id}-{os.getpid()}"
    return Faulty(launch, Path(start_cluster("--name", name, "--faults", "--no-migratable")["dir"]))


@contextmanager
def _shop(faulty: Faulty, test: str) -> Iterator[Shop]:
    name = f"{test.partition('[')[0].removeprefix('test_').replace('_', '-')[:40]}-{os.urandom(3).hex()}"
    with config.new_client_from_config(faulty.path("kubeconfig")) as connection:
        client.CoreV1Api(connection).create_namespace({"metadata": {"name": name}})
        made = Shop(faulty, name, client.CustomObjectsApi(connection), client.AppsV1Api(connection))
        made.size()
        try:
            yield made
        finally:
            client.CoreV1Api(connection).delete_namespace(name)


@pytest.fixture
def shop(faulty: Faulty, request: pytest.FixtureRequest) -> Iterator[Shop]:
    """A namespace with an instancetype and a preference; no rule is left of the test before, and none after."""
    faulty.rules()
    with _shop(faulty, request.node.name) as made:
        yield made
        faulty.rules()


@pytest.fixture
def other_shop(faulty: Faulty, request: pytest.FixtureRequest) -> Iterator[Shop]:
    """Another namespace of the same kind."""
    with _shop(faulty, request.node.name) as made:
        yield made
