"""The event source outlives changes of a real cluster, of a user, a namespace and its own state."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from kubernetes import client, config
from waiting import wait_until

from event_support import Events
from modules_support import Task, vm
from plugins.module_utils._cluster.client.errors import TaskFailed
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._events.cluster import triggers
from plugins.module_utils._events.cluster.stores import StateConfigMap
from plugins.module_utils._events.transitions import KnownVM

Declare = Callable[[str], None]


@pytest.fixture
def core(cluster: Path) -> Iterator[client.CoreV1Api]:
    with config.new_client_from_config(str(cluster)) as connection:
        yield client.CoreV1Api(connection)


@pytest.fixture
def declare(task: Task) -> Declare:
    """declare(name): a VM that runs."""
    task("instancetype", name="small", cpu={"guest": 1}, memory={"guest": "1Gi"})

    def one(name: str) -> None:
        entry = {key: value for key, value in vm(name).items() if key != "preference"}
        task("virtual_machine", **entry, wait=True)

    return one


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines of the source."""
    return [record.getMessage() for record in caplog.records if "._events." in record.name]


class User:
    """A service account with a kubeconfig of its own, who may do all."""

    def __init__(self, core: client.CoreV1Api, namespace: str, cluster: Path, folder: Path) -> None:
        self.kubeconfig = folder / "kubeconfig"
        self._core, self._namespace, self._cluster = core, namespace, cluster
        self._rbac = client.RbacAuthorizationV1Api(core.api_client)
        self._binding = f"{namespace}-eda"

    def create(self) -> None:
        self._core.create_namespaced_service_account(self._namespace, {"metadata": {"name": "eda"}})
        spec = {"spec": {"audiences": [], "expirationSeconds": 600}}
        answer = self._core.create_namespaced_service_account_token("eda", self._namespace, spec)
        content = yaml.safe_load(self._cluster.read_text())
        content["users"][0]["user"] = {"token": answer.status.token}
        self.kubeconfig.write_text(yaml.safe_dump(content))

    def delete(self) -> None:
        """The token ends with the account."""
        self._core.delete_namespaced_service_account("eda", self._namespace)

    def permit(self) -> None:
        role = {"kind": "ClusterRole", "name": "cluster-admin", "apiGroup": "rbac.authorization.k8s.io"}
        subjects = [{"kind": "ServiceAccount", "name": "eda", "namespace": self._namespace}]
        body = {"metadata": {"name": self._binding}, "roleRef": role, "subjects": subjects}
        self._rbac.create_cluster_role_binding(body)

    def deny(self) -> None:
        self._rbac.delete_cluster_role_binding(self._binding)


@pytest.fixture
def user(core: client.CoreV1Api, namespace: str, cluster: Path, tmp_path: Path) -> Iterator[User]:
    made = User(core, namespace, cluster, tmp_path)
    made.create()
    made.permit()
    yield made
    made.deny()


@pytest.mark.nightly("credentials and rights that end, and come back")
def test_lost_login_and_rights_lose_no_event(
    user: User,
    namespace: str,
    declare: Declare,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A watch that is open goes on.
    monkeypatch.setattr(triggers, "_WATCH", 2)
    events = Events()
    arguments = {
        "kubeconfig": str(user.kubeconfig),
        "namespace": namespace,
        "transitions": ["running"],
        "state_directory": str(tmp_path / "state"),
        "delay": 0.2,
    }

    def lines(part: str = "") -> list[str]:
        return [line for line in logged(caplog) if part in line]

    declare("a")
    with events.of(**arguments):
        wait_until(lambda: events.told == [("running", "a")])
        user.delete()
        wait_until(lambda: bool(lines("rejected the credentials")))
        declare("b")
        user.create()
        wait_until(lambda: len(events.sent) == 2)
        assert len(lines()) == len(lines("rejected the credentials")) == 1
        user.deny()
        wait_until(lambda: bool(lines("virtualmachines.kubevirt.io is forbidden")))
        declare("c")
        user.permit()
        wait_until(lambda: len(events.sent) == 3)
    assert events.told == [("running", name) for name in "abc"]
    assert len(lines()) == len(set(lines()))


@pytest.mark.nightly("one cluster is down, another refuses")
def test_other_clusters_go_on(
    cluster: Path, namespace: str, declare: Declare, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clusters = [
        {"name": "east", "kubeconfig": str(cluster)},
        {"name": "down", "host": "https://127.0.0.1:9", "api_key": "x"},
        {"name": "refusing", "kubeconfig": str(cluster), "api_key": "nonsense"},
    ]
    events = Events()

    declare("a")
    arguments = {"clusters": clusters, "namespace": namespace, "transitions": ["running"], "delay": 0.2}
    with events.of(state_directory=str(tmp_path), **arguments):
        wait_until(lambda: len(logged(caplog)) == 2 and len(events.sent) == 1)
        declare("b")
        wait_until(lambda: len(events.sent) == 2)
    assert [(event["cluster"], event["name"]) for event in events.sent] == [("east", "a"), ("east", "b")]
    down, refusing = sorted(logged(caplog))
    assert down.startswith("down: cannot reach the API server https://127.0.0.1:9: ") and "refused" in down
    assert refusing.startswith("refusing: the API server rejected the credentials")


@pytest.mark.nightly("VMs and namespaces that go while the source does not run")
def test_vm_made_anew_is_another(
    core: client.CoreV1Api, task: Task, cluster: Path, namespace: str, declare: Declare, tmp_path: Path
) -> None:
    events = Events()
    arguments = {
        "kubeconfig": str(cluster),
        "namespace": namespace,
        "transitions": ["running", "deleted"],
        "state_directory": str(tmp_path),
        "delay": 0.2,
    }

    def told() -> list[tuple[str, str]]:
        return [(event["transition"], event["uid"]) for event in events.sent]

    declare("a")
    with events.of(**arguments):
        wait_until(lambda: len(told()) == 1)
    [(_running, first)] = told()
    task("virtual_machine", name="a", state="absent", wait=True)
    declare("a")
    with events.of(**arguments):
        wait_until(lambda: len(told()) == 3)
        second = told()[-1][1]
        core.delete_namespace(namespace)
        wait_until(lambda: len(told()) == 4)
    wait_until(lambda: namespace not in {item.metadata.name for item in core.list_namespace().items})
    # Its fixture deletes it.
    core.create_namespace({"metadata": {"name": namespace}})
    assert told() == [("running", first), ("deleted", first), ("running", second), ("deleted", second)]
    assert first != second


def test_sources_cannot_share_a_config_map(session: Session, core: client.CoreV1Api, namespace: str) -> None:
    def source() -> StateConfigMap:
        made = StateConfigMap(lambda: session, namespace, "state")
        made.load()
        return made

    def save(store: StateConfigMap, name: str) -> None:
        store.save(f"{namespace}/{name}", KnownVM(name, {}))
        store.flush()

    first, late = source(), source()
    save(first, "a")
    with pytest.raises(TaskFailed, match=f"another source uses {namespace}/state; give each its own ConfigMap"):
        save(late, "b")
    # Changes of others around the state do not matter.
    core.patch_namespaced_config_map("state", namespace, {"metadata": {"labels": {"team": "a"}}})
    save(first, "b")
    core.delete_namespaced_config_map("state", namespace)
    save(first, "c")
    second = source()
    assert second.load() and sorted(second.known) == [f"{namespace}/{name}" for name in "abc"]
    save(second, "d")
    with pytest.raises(TaskFailed, match="another source uses"):
        save(first, "e")
