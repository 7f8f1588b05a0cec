"""AWX without an AWX: actions that note what awx_setup gives them, and jobs by ansible-runner as AWX starts them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_environment import flat, surroundings
from kubernetes import client, config, watch

CHECKOUT = Path(__file__).parents[3]
RECORD = CHECKOUT / "tests" / "unit" / "playbooks" / "awx_modules.json"
BIN = Path(sys.executable).parent

Settings = dict[str, Any]

# Some of what AWX adds to the variables of every job.
META = {"awx_job_id": 1, "awx_job_launch_type": "manual", "awx_user_name": "admin", "awx_user_first_name": ""}

# An action of Ansible's own process: a module would start a process for each of its hundred tasks.
ACTION = """\
import json
from ansible.plugins.action import ActionBase

class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        checked, args = self.validate_argument_spec({{name: {{"type": type}} for name, type in {options!r}.items()}})
        given = {{name: value for name, value in args.items() if value is not None}}
        with open({log!r}, "a") as log:
            log.write(json.dumps([{name!r}, given]) + "\\n")
        return {{"changed": True}}
"""


class Setup:
    """Runs awx_setup with actions that take the options of those of awx.awx, and note what they are given."""

    def __init__(self, folder: Path, kubeconfig: Path) -> None:
        self.folder, self.kubeconfig, self.log = folder, kubeconfig, folder / "log.jsonl"
        actions = folder / "ansible_collections" / "awx" / "awx" / "plugins" / "action"
        actions.mkdir(parents=True)
        for name, options in json.loads(RECORD.read_text())["awx.awx"]["modules"].items():
            text = ACTION.format(options=options, log=str(self.log), name=name)
            (actions / f"{name}.py").write_text(text)

    def run(self, **variables: Any) -> tuple[int, str]:
        """Exit code and output of a run that notes anew."""
        self.log.unlink(missing_ok=True)
        extra = json.dumps({f"awx_setup_{name}": value for name, value in variables.items()})
        environment = surroundings(self.kubeconfig, bare=True, ANSIBLE_CONFIG=str(CHECKOUT / "ansible.cfg"))
        environment["ANSIBLE_COLLECTIONS_PATH"] += f":{self.folder}"
        done = subprocess.run(
            [str(BIN / "ansible-playbook"), "virtshape.instancetypes.awx_setup", "-vv", "-e", extra],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, flat(done.stdout + done.stderr)

    def given(self, module: str) -> list[Settings]:
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [given for name, given in lines if name == module]


class _Marked(str):
    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes marked texts as AWX does."""


_Dumper.add_representer(_Marked, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text)))


def extra_vars_file(variables: Settings, trusted: Settings) -> str:
    """All texts in the file of AWX, keys too, are marked as unsafe, but not the template's own (trusted)."""
    entries = ({name: value} if name in trusted else _marked({name: value}) for name, value in variables.items())
    return "".join(yaml.dump(entry, Dumper=_Dumper, default_flow_style=False) for entry in entries)


def _marked(value: Any) -> Any:
    if isinstance(value, dict):
        return {_marked(key): _marked(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_marked(entry) for entry in value]
    return _Marked(value) if isinstance(value, str) else value


def answers(survey: Settings, **sent: Any) -> Settings:
    """The variables of a job that is launched with these answers of a survey; defaults are the others."""
    asked = {question["variable"]: question for question in survey["spec"]}
    assert set(sent) <= set(asked), "AWX takes no variables but a survey's"
    # An empty default is one, but not for a list.
    defaults = {name: item["default"] for name, item in asked.items() if item["type"] != "multiselect"}
    return {**defaults, **sent}


@dataclass
class Job:
    """A job that was run. artifacts: what its playbook left by set_stats, as AWX shows them."""

    code: int
    status: str
    output: str
    artifacts: Settings


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
