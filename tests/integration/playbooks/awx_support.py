"""Jobs as AWX runs them: ansible-runner on a private data directory, AWX's file of extra variables, a bearer token."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_environment import flat
from kubernetes import client, config, watch

CHECKOUT = Path(__file__).parents[3]
sys.path.append(str(CHECKOUT / "tests" / "unit" / "playbooks"))

from awx_rules import extra_vars_file, launch  # noqa: E402

BIN = Path(sys.executable).parent

Settings = dict[str, Any]

# Some of what AWX adds to the variables of every job.
META = {"awx_job_id": 1, "awx_job_launch_type": "manual", "awx_user_name": "admin", "awx_user_first_name": ""}


@contextmanager
def credential(kubeconfig: Path, folder: Path) -> Iterator[dict[str, str]]:
    """The environment that AWX gives a job for a credential of the type OpenShift or Kubernetes API Bearer Token."""
    name = f"awx-{uuid.uuid4().hex[:10]}"
    with config.new_client_from_config(str(kubeconfig)) as connection:
        core, rbac = client.CoreV1Api(connection), client.RbacAuthorizationV1Api(connection)
        core.create_namespace({"metadata": {"name": name}})
        core.create_namespaced_service_account(name, {"metadata": {"name": name}})
        role = {"kind": "ClusterRole", "name": "cluster-admin", "apiGroup": "rbac.authorization.k8s.io"}
        subject = {"kind": "ServiceAccount", "name": name, "namespace": name}
        rbac.create_cluster_role_binding({"metadata": {"name": name}, "roleRef": role, "subjects": [subject]})
        requested = {"spec": {"audiences": [], "expirationSeconds": 3600}}
        token = core.create_namespaced_service_account_token(name, name, requested).status.token
        settings = connection.configuration
        authority = folder / "ca.crt"
        authority.write_bytes(Path(settings.ssl_ca_cert).read_bytes())
        try:
            yield {
                "K8S_AUTH_HOST": settings.host,
                "K8S_AUTH_API_KEY": token,
                "K8S_AUTH_SSL_CA_CERT": str(authority),
                "K8S_AUTH_VERIFY_SSL": "True",
            }
        finally:
            rbac.delete_cluster_role_binding(name)
            core.delete_namespace(name)


@dataclass
class Job:
    """A job that was run. artifacts: what its playbook left by set_stats, as AWX shows them."""

    code: int
    status: str
    output: str
    artifacts: Settings


def answers(survey: str, **sent: Any) -> Settings:
    """The variables of a job that the API launches with these answers; AWX takes none but a survey's."""
    path = CHECKOUT / "playbooks" / "awx" / "surveys" / f"{survey}.json"
    return launch(json.loads(path.read_text())["spec"], sent)


class Template:
    """A job template: its playbook, its variables, its inventory; `slices` splits the inventory as AWX does.

    trusted: the template's own extra variables, which AWX does not mark as unsafe.
    """

    def __init__(
        self,
        folder: Path,
        playbook: str,
        environment: dict[str, str],
        hosts: dict[str, Settings] | None = None,
        trusted: Settings | None = None,
    ):
        self.folder, self.playbook, self.environment = folder, playbook, environment
        self.hosts, self.trusted = hosts or {}, trusted or {}

    def slices(self, count: int) -> list[dict[str, Settings]]:
        """The hosts of each slice: in order of their names, each slice every count-th of them."""
        names = sorted(self.hosts)
        return [{name: self.hosts[name] for name in names[number::count]} for number in range(count)]

    def launch(self, hosts: dict[str, Settings] | None = None, limit: str = "", **variables: Any) -> Running:
        """Starts a job; hosts: those of a slice, all without it."""
        private = self.folder / f"job-{uuid.uuid4().hex[:8]}"
        for name in ("env", "inventory", "project"):
            (private / name).mkdir(parents=True)
        shutil.copytree(CHECKOUT / "playbooks", private / "project" / "playbooks")
        result = self.hosts if hosts is None else hosts
        (private / "inventory" / "hosts.json").write_text(json.dumps({"all": {"hosts": result}}))
        (private / "env" / "extravars").write_text(extra_vars_file({**self.trusted, **variables, **META}, self.trusted))
        (private / "env" / "cmdline").write_text(f"-u root{f' -l {limit}' if limit else ''}")
        settings = {
            **self.environment,
            "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".cache" / "collections"),
            "ANSIBLE_NOCOLOR": "1",
            # Prompts would wait for ever.
            "ANSIBLE_HOST_KEY_CHECKING": "False",
        }
        (private / "env" / "envvars").write_text(json.dumps(settings))
        hidden = ("KUBECONFIG", "K8S_AUTH_", "ANSIBLE_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        command = [str(BIN / "ansible-runner"), "run", str(private), "--ident", "job", "-p", self.playbook, "-q"]
        process = subprocess.Popen(
            command,
            env={**environment, "PATH": f"{BIN}:{environment['PATH']}", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return Running(process, private)

    def run(self, hosts: dict[str, Settings] | None = None, **variables: Any) -> Job:
        return self.launch(hosts, **variables).wait()


class Running:
    """A job under way."""

    def __init__(self, process: subprocess.Popen[str], private: Path) -> None:
        self._process, self.private = process, private

    def await_task(self, name: str) -> None:
        """Returns once a task has begun. Fails if the job ends without it, or does not come to it for long."""
        stdout, deadline = self.private / "artifacts" / "job" / "stdout", time.monotonic() + 300
        while not (stdout.exists() and f": {name}]" in stdout.read_text()):
            ended = self._process.poll() is not None
            assert not ended and time.monotonic() < deadline, f"the task {name!r} does not come"
            time.sleep(0.2)

    def wait(self) -> Job:
        printed, _nothing = self._process.communicate()
        folder = self.private / "artifacts" / "job"
        stdout = (folder / "stdout").read_text() if (folder / "stdout").exists() else printed
        artifacts: Settings = {}
        for path in (folder / "job_events").glob("*.json"):
            event = json.loads(path.read_text())
            if event.get("event") == "playbook_on_stats":
                artifacts = event["event_data"].get("artifact_data") or {}
        status = (folder / "status").read_text().strip()
        return Job(self._process.returncode, status, flat(stdout), artifacts)


class DownWatch:
    """Counts, from event to event, how many VMs of a namespace that should run are not ready at the same time."""

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        self._kubeconfig, self._namespace = kubeconfig, namespace
        self._down: set[str] = set()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._follow)
        self.most = 0
        """The most that were down at once; complete once the watch has ended."""

    def __enter__(self) -> DownWatch:
        self._version = self._list()[0]
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        last = max(int(vm["metadata"]["resourceVersion"]) for vm in self._list()[1])
        deadline = time.monotonic() + 60
        while int(self._version) < last and self._thread.is_alive() and time.monotonic() < deadline:
            time.sleep(0.1)
        complete = int(self._version) >= last
        self._done.set()
        self._thread.join()
        assert complete, "the watch has not seen all events"

    def _list(self) -> tuple[str, list[Settings]]:
        with config.new_client_from_config(str(self._kubeconfig)) as connection:
            custom = client.CustomObjectsApi(connection)
            result = custom.list_namespaced_custom_object(*self._place)
        return result["metadata"]["resourceVersion"], result["items"]

    @property
    def _place(self) -> tuple[str, str, str, str]:
        return "kubevirt.io", "v1", self._namespace, "virtualmachines"

    def _follow(self) -> None:
        with config.new_client_from_config(str(self._kubeconfig)) as connection:
            custom = client.CustomObjectsApi(connection)
            while not self._done.is_set():
                events = watch.Watch().stream(
                    custom.list_namespaced_custom_object,
                    *self._place,
                    resource_version=self._version,
                    timeout_seconds=1,
                )
                for event in events:
                    self._count(event["object"])

    def _count(self, vm: Settings) -> None:
        if vm["spec"].get("runStrategy") == "Always" and not (vm.get("status") or {}).get("ready"):
            self._down.add(vm["metadata"]["name"])
        else:
            self._down.discard(vm["metadata"]["name"])
        self.most = max(self.most, len(self._down))
        self._version = vm["metadata"]["resourceVersion"]
