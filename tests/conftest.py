"""Fixtures of all tests: the path of the collection, and the one cluster of an integration run.

The collection is imported through a link in .cache, as Ansible finds it; see plugins_by_path.py for short names.

Tests that need a cluster run on the one that K8S_AUTH_KUBECONFIG or KUBECONFIG names, which may have the real
KubeVirt; without one, on a local cluster that the first test starts and the end of the run removes.
All workers of pytest-xdist share it. Tests that need something which not every cluster has are marked `needs`, and are
skipped where it is missing; those that start clusters of their own are marked `own_cluster`.
"""

import contextlib
import functools
import gc
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Generator, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

CHECKOUT = Path(__file__).resolve().parent.parent
COLLECTIONS = CHECKOUT / ".cache" / "collections"
ROLE_FILES = CHECKOUT / "roles" / "local_cluster" / "files"
TEST_CLUSTERS = CHECKOUT / ".cache" / "test-clusters"
"""Where the clusters of test runs keep their state."""
RUN_VARIABLE = "VIRTSHAPE_TEST_RUN"
"""The environment variable by which the workers of pytest-xdist know the run they belong to."""
# Clusters of tests may take more memory than those of users: to collect it takes a sixth of their CPU time.
MEMORY = {"GOGC": "800", "GOMEMLIMIT": "2500MiB"}


UNMEASURED = (
    # Tests with a cluster show more than that a line is reached, and others reach all lines that tests must reach.
    "chaos/",
    "eda/",
    "integration/",
    # They are about documentation and tools.
    "unit/docs/",
    "unit/test_",
    # Thousands of cases run through lines that other tests measure.
    "unit/module_utils/_estate/test_estate_guests.py",
    "unit/plugin_utils/_check/test_check_placeholders.py",
    "unit/plugin_utils/_check/test_check_scalars.py",
    "unit/properties/test_apply_properties.py",
    "unit/properties/test_preflight_properties.py",
    "unit/properties/test_quantity_properties.py",
    "unit/properties/test_schema_properties.py",
)
"""Tests without coverage, which would make them two to four times as slow."""


def _link_collection() -> None:
    link = COLLECTIONS / "ansible_collections" / "virtshape" / "instancetypes"
    if not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)  # one that leads nowhere
        with contextlib.suppress(FileExistsError):  # another process was faster
            link.symlink_to(os.path.relpath(CHECKOUT, link.parent), target_is_directory=True)


def _load_clients() -> None:
    """Loads the client's largest classes, whose thousands of lines take coverage's tracer seven seconds."""
    if tracer := sys.gettrace():
        sys.settrace(None)
        for name in ("AppsV1Api", "CoreV1Api", "CustomObjectsApi"):
            getattr(client, name)
        sys.settrace(tracer)


_link_collection()
_load_clients()
sys.path[:0] = [str(COLLECTIONS), str(ROLE_FILES), str(CHECKOUT / "tests")]

from docker_registry import PROGRAM, DockerRegistry, docker_registry  # noqa: E402
from given_cluster import FEATURES, look  # noqa: E402
from loopback_registry import LoopbackRegistry, loopback_registry  # noqa: E402
from plugins_by_path import install  # noqa: E402

install()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--given-cluster", action="store_true", help="skip tests that start a cluster of their own")


def _coverage(settings: pytest.Config) -> Any:
    """What of pytest-cov starts, pauses and resumes measuring in this process; None without coverage."""
    plugin = settings.pluginmanager.get_plugin("_cov")
    return plugin.cov_controller if plugin is not None else None


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Measures once in each worker of pytest-xdist, and not in the process that has them.

    pytest-cov starts a second measurement in a worker, and pauses only that one.
    """
    coverage = _coverage(session.config)
    if coverage is not None and (_worker(session.config) or session.config.getoption("numprocesses", None)):
        coverage.pause()


def _worker(settings: pytest.Config) -> str:
    """The name of this worker of pytest-xdist; "" in another process."""
    return str(getattr(settings, "workerinput", {}).get("workerid", ""))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    coverage = _coverage(session.config)
    if coverage is not None and _worker(session.config) not in ("", "gw0"):
        # All workers import the same.
        coverage.pause()
    # What thousands of tests are made of stays until the end: the garbage collector need not look at it.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Pauses coverage from the first of several tests in UNMEASURED to the next test that is measured."""
    coverage = _coverage(item.config)
    if coverage is not None:
        measured = not item.path.relative_to(CHECKOUT / "tests").as_posix().startswith(UNMEASURED)
        if coverage.started and not measured:
            coverage.pause()
        elif measured and not coverage.started:
            coverage.resume()
    return (yield)


@functools.cache
def _lacking(kubeconfig: str) -> frozenset[str]:
    return frozenset(FEATURES) - look(Path(kubeconfig)).has


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what the cluster cannot do; the local one has all that tests need."""
    if item.get_closest_marker("own_cluster"):
        if item.config.getoption("--given-cluster"):
            pytest.skip("they start a local cluster of their own")
        return
    kubeconfig = _given_kubeconfig()
    for marker in item.iter_markers("needs") if kubeconfig else ():
        for feature in marker.args:
            if feature in _lacking(str(kubeconfig)):
                pytest.skip(f"the cluster lacks {FEATURES[feature]}")


def _given_kubeconfig() -> Path | None:
    given = os.environ.get("K8S_AUTH_KUBECONFIG") or os.environ.get("KUBECONFIG")
    return Path(given).expanduser().absolute() if given else None


def _launch(*arguments: str, check: bool = True) -> dict[str, Any]:
    """Run the launcher as a user's command and return its result; its progress goes to our stderr."""
    command = [sys.executable, "-m", "local_cluster", *arguments]
    environment = {**MEMORY, **os.environ, "PYTHONPATH": str(ROLE_FILES), "PYTHONSAFEPATH": "1"}
    answer = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    result: dict[str, Any] = json.loads(answer.stdout)
    if check and answer.returncode != 0:
        raise RuntimeError(result["msg"])
    return result


@pytest.fixture(scope="session")
def launch() -> Callable[..., dict[str, Any]]:
    """A function that runs the launcher's command line and returns its result, also a failure with `check=False`."""
    return _launch


@pytest.fixture(scope="module")
def start_cluster(
    launch: Callable[..., dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., dict[str, Any]]]:
    """A function that starts a cluster with options of the launcher, whose result it returns.

    The cluster is removed after the last test of the module.
    """
    with contextlib.ExitStack() as removed:

        def start(*options: str) -> dict[str, Any]:
            where = ("--dir", str(tmp_path_factory.mktemp("own") / "cluster"))
            removed.callback(launch, "stop", "--remove", *where, check=False)
            return launch("start", *where, *options)

        yield start


@pytest.fixture(scope="session")
def run_cluster() -> tuple[str, ...]:
    """The launcher's options that name the one cluster of this test run."""
    return "--name", "tests", "--dir", str(TEST_CLUSTERS / os.environ[RUN_VARIABLE])


@pytest.fixture(scope="session")
def cluster(launch: Callable[..., dict[str, Any]], run_cluster: tuple[str, ...]) -> Path:
    """The path of an administrator's kubeconfig."""
    given = _given_kubeconfig()
    if given:
        return given
    # The launcher lets one worker start it; the others wait and find it running.
    return Path(launch("start", *run_cluster)["kubeconfig"])


@pytest.fixture(scope="session")
def oldest_cluster(launch: Callable[..., dict[str, Any]], run_cluster: tuple[str, ...]) -> Path:
    """The kubeconfig of a cluster with the oldest KubeVirt, which all workers share, too."""
    *_name, folder = run_cluster
    options = ("--name", "tests", "--dir", f"{folder}-oldest", "--kubevirt-version", "1.4.0")
    return Path(launch("start", *options)["kubeconfig"])


@pytest.fixture
def namespace(cluster: Path) -> Iterator[str]:
    """The name of a new namespace."""
    yield from _new_namespace(cluster)


@pytest.fixture
def other_namespace(cluster: Path) -> Iterator[str]:
    """The name of another new namespace."""
    yield from _new_namespace(cluster)


NOTICED = (
    # The version that all releases serve.
    ("pool.kubevirt.io", "v1alpha1", "virtualmachinepools"),
    ("kubevirt.io", "v1", "virtualmachines"),
    ("kubevirt.io", "v1", "virtualmachineinstances"),
    ("cdi.kubevirt.io", "v1beta1", "dataimportcrons"),
    ("cdi.kubevirt.io", "v1beta1", "datavolumes"),
    ("instancetype.kubevirt.io", "v1beta1", "virtualmachineinstancetypes"),
    ("instancetype.kubevirt.io", "v1beta1", "virtualmachinepreferences"),
)
"""Objects in a namespace that run, and those that reports of all namespaces list."""


def _new_namespace(cluster: Path) -> Iterator[str]:
    """Yields the name of a namespace, deleted (not waited for) after the test.

    On the run's own cluster, only what others would notice is: the deletion of a namespace takes 200 requests.
    """
    name = f"test-{uuid.uuid4().hex[:10]}"
    with config.new_client_from_config(str(cluster)) as connection:
        core = client.CoreV1Api(connection)
        core.create_namespace({"metadata": {"name": name}})
        yield name
        if _given_kubeconfig():
            core.delete_namespace(name)
            return
        objects = client.CustomObjectsApi(connection)
        try:
            for group, version, plural in NOTICED:
                objects.delete_collection_namespaced_custom_object(group, version, name, plural)
            core.delete_collection_namespaced_persistent_volume_claim(name)
        except client.ApiException as error:
            if error.status != HTTPStatus.GATEWAY_TIMEOUT:
                raise
            # Hundreds of VMs and disks on a busy machine are too many for one request.
            core.delete_namespace(name)


@pytest.fixture
def registry() -> Iterator[LoopbackRegistry]:
    """A registry of the tests' own, which can be made to ask for credentials and to fail."""
    with loopback_registry() as made:
        yield made


@pytest.fixture(params=["of the tests", "of Debian"])
def any_registry(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LoopbackRegistry | DockerRegistry]:
    """The registry of the tests, and the real one where it is installed."""
    if request.param == "of the tests":
        yield request.getfixturevalue("registry")
        return
    if not PROGRAM:
        pytest.skip("docker-registry is not installed")
    with docker_registry(tmp_path) as made:
        yield made


def pytest_configure(config: pytest.Config) -> None:
    """Name this run; the first test that needs a cluster starts it."""
    if not _worker(config):
        os.environ[RUN_VARIABLE] = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove this run's clusters, and those of earlier runs that were killed."""
    if _worker(config) or not TEST_CLUSTERS.is_dir():
        return
    own = os.environ[RUN_VARIABLE]
    for folder in TEST_CLUSTERS.iterdir():
        run = folder.name.partition("-")[0]
        if folder.name.startswith(own) or (run.isdigit() and not _runs(int(run))):
            _launch("stop", "--remove", "--name", "tests", "--dir", str(folder), check=False)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
