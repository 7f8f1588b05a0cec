"""The rulebooks, run by ansible-rulebook: what happens on the cluster, and what their actions make of it."""

import http.server
import json
import threading
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, dynamic
from waiting import wait_until

from chaos_support import Faulty
from modules_support import Task, claim_of
from rulebook_support import Rulebook

pytestmark = [pytest.mark.nightly("ansible-rulebook runs each rulebook"), pytest.mark.own_cluster]

# A rulebook that reports once waits a minute for more; a busy machine takes its time.
PATIENCE = 400
# Only a declared node makes kube-scheduler run.
NODES = [{"name": "node01"}]
CDI = "cdi.kubevirt.io/v1beta1"
ROOT = {"name": "root", "container_disk": "registry.example.com/disk:1"}
Start = Callable[..., Rulebook]


@pytest.fixture
def place(faulty: Faulty) -> Iterator[str]:
    """A new namespace."""
    name = f"eda-{uuid.uuid4().hex[:6]}"
    with config.new_client_from_config(faulty.path("kubeconfig")) as connection:
        client.CoreV1Api(connection).create_namespace({"metadata": {"name": name}})
        yield name
        client.CoreV1Api(connection).delete_namespace(name)


@pytest.fixture
def task(faulty: Faulty, place: str) -> Task:
    return Task(faulty.path("kubeconfig"), place)


@pytest.fixture
def start(faulty: Faulty, rulebook_programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a rulebook of the collection, which runs until the end of the test."""
    monkeypatch.setenv("K8S_AUTH_KUBECONFIG", faulty.path("kubeconfig"))
    started = []

    def start(name: str, **variables: Any) -> Rulebook:
        state = str(tmp_path / "state")
        made = Rulebook(
            rulebook_programs, tmp_path / name, f"virtshape.instancetypes.{name}", state_directory=state, **variables
        )
        made.start()
        started.append(made)
        # All VMs that are there by now were looked at.
        wait_until(lambda: any(path.stat().st_size > 0 for path in Path(state).glob("*.jsonl")), PATIENCE)
        return made

    yield start
    for rulebook in started:
        assert rulebook.stop() == 0, rulebook.out.read_text()
        print(rulebook.out.read_text()[-4000:])


def size(task: Task, memory: str) -> None:
    assert task("instancetype", name="small", cpu={"guest": 1}, memory={"guest": memory})["changed"]


def declare(task: Task, name: str, **options: Any) -> None:
    options = {"instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"}, "volumes": [ROOT], **options}
    task("virtual_machine", name=name, **options)


def test_new_catalog_gives_a_report(start: Start, task: Task, place: str, tmp_path: Path) -> None:
    size(task, "1Gi")
    declare(task, "web", run_strategy="Halted", wait=True)
    start("catalog_report", report_directory=str(tmp_path / "reports"))
    assert not (tmp_path / "reports").exists()
    size(task, "2Gi")
    wait_until(lambda: any((tmp_path / "reports").rglob("*.json")), PATIENCE)
    [report] = (tmp_path / "reports").rglob("*.json")
    wait_until(lambda: place in report.read_text())
    assert [vm["name"] for vm in json.loads(report.read_text())["virtual_machines"] if vm["drifted"]] == ["web"]


@pytest.mark.parametrize("is_open", [True, False])
def test_outdated_guest_restarts_in_the_window(start: Start, task: Task, is_open: bool) -> None:
    size(task, "1Gi")
    declare(task, "web", wait=True)
    before = task.vm("web")["vmi"]["uid"]
    later = (datetime.now(timezone.utc).hour + 12) % 24
    window = {"from": "00:00", "to": "24:00"} if is_open else {"from": f"{later:02}:00", "to": f"{later:02}:30"}
    rulebook = start("restart_in_window", refresh_windows=[window])
    declare(task, "web", template={"spec": {"hostname": "other"}})
    # The playbook prints it, whether it succeeds or fails.
    wait_until(lambda: "PLAY RECAP" in rulebook.out.read_text(), PATIENCE)
    assert "failed=0" in rulebook.out.read_text()
    if is_open:
        wait_until(lambda: task.vm("web").get("vmi", {}).get("uid") not in (None, before), PATIENCE)
    else:
        assert task.vm("web")["vmi"]["uid"] == before


def test_renewed_image_makes_a_new_canary(start: Start, task: Task, place: str, faulty: Faulty) -> None:
    with config.new_client_from_config(faulty.path("kubeconfig")) as connection:
        api = dynamic.DynamicClient(connection)

        def image(name: str) -> dict[str, Any]:
            return {"source": {"pvc": {"name": name, "namespace": place}}}

        sources = api.resources.get(api_version=CDI, kind="DataSource")
        claim_of(api, place, "image-1")
        body = {"apiVersion": CDI, "kind": "DataSource", "metadata": {"name": "fedora"}}
        sources.create(namespace=place, body={**body, "spec": image("image-1")})
        size(task, "1Gi")
        task("preference", name="linux")
        canary = {
            "name": "canary",
            "namespace": place,
            "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
            "preference": {"name": "linux", "kind": "VirtualMachinePreference"},
            "boot": {"data_source": "fedora", "size": "1Gi"},
        }
        task("virtual_machine", **canary, wait=True, wait_timeout=PATIENCE)
        before = task.vm("canary")["uid"]
        start("boot_source_canary", canary=canary)
        claim_of(api, place, "image-2")
        sources.patch(
            namespace=place,
            body={**body, "spec": image("image-2")},
            content_type="application/merge-patch+json",
        )

        def is_new() -> bool:
            found = task.vms(names=["canary"]).get("canary")
            return found is not None and found["uid"] != before and found["ready"]

        wait_until(is_new, PATIENCE)


class Tickets(http.server.BaseHTTPRequestHandler):
    """Takes tickets."""

    taken: list[dict[str, Any]]

    def do_POST(self) -> None:
        self.taken.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture
def tickets() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A URL for tickets, and those that it has got."""
    taken: list[dict[str, Any]] = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Taker", (Tickets,), {"taken": taken})) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/tickets", taken
        server.shutdown()


def test_unschedulable_vm_gets_a_ticket(start: Start, task: Task, place: str, tickets: Any) -> None:
    url, taken = tickets
    size(task, "1Gi")
    start("ticket", ticket_url=url)
    declare(task, "web", template={"spec": {"nodeSelector": {"disk": "fast"}}})
    wait_until(lambda: len(taken) > 0, PATIENCE)
    [ticket] = taken
    assert (ticket["title"], ticket["state"]) == (f"{place}/web: broken", "open")
    assert ticket["uid"] == task.vm("web")["uid"]
    assert (ticket["diagnosis"]["state"], ticket["diagnosis"]["link"]) == ("broken", "scheduling")
    assert ticket["diagnosis"]["remedy"] and ticket["diagnosis"]["evidence"]


def test_lost_revision_gets_a_ticket(start: Start, task: Task, place: str, faulty: Faulty, tickets: Any) -> None:
    url, taken = tickets
    size(task, "1Gi")
    declare(task, "web", wait=True)
    start("ticket", ticket_url=url)
    revision = task.vm("web")["instancetype"]["revision"]
    with config.new_client_from_config(faulty.path("kubeconfig")) as connection:
        client.AppsV1Api(connection).delete_namespaced_controller_revision(revision, place)
    wait_until(lambda: len(taken) > 0, PATIENCE)
    assert taken[0]["title"] == f"{place}/web: revision_lost"
    assert (taken[0]["diagnosis"]["state"], taken[0]["diagnosis"]["link"]) == ("broken", "revision")
