"""A fleet of VMs for the tests of the role revision_refresh, and the playbook as users run it."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from ansible_environment import ansible, flat, surroundings
from kubernetes import client, config

CHECKOUT = Path(__file__).parents[3]
sys.path.append(str(CHECKOUT / "tests" / "integration" / "modules"))

from modules_support import Task  # noqa: E402

# Manual ones are started by hand; every other halted one stays as it is.
STRATEGIES = ("Always", "Halted", "Manual", "RerunOnFailure")

Manifest = dict[str, Any]

# The line by which Ansible tells of a failed task.
FAILED = re.compile(r"^fatal: \[(?P<host>[^]]+)\].*? => (?P<result>\{.*\})$", re.MULTILINE)


class Fleet:
    """VMs `vm-000` and on in a namespace, all of the instancetype `fleet`."""

    def __init__(self, kubeconfig: Path, namespace: str, tmp_path: Path) -> None:
        self.kubeconfig, self.namespace, self.folder = kubeconfig, namespace, tmp_path
        self.run = Task(kubeconfig, namespace)

    def size(self, vcpus: int, memory: str, **cpu: Any) -> None:
        """Makes the instancetype, or changes it. Other memory takes a restart, whether or not guests can migrate."""
        amount = {"guest": memory, "max_guest": memory}
        assert self.run("instancetype", name="fleet", cpu={"guest": vcpus, **cpu}, memory=amount)["changed"]

    def create(self, count: int, **options: Any) -> None:
        """Creates the VMs in one task, with all run strategies, and starts the manual ones."""
        entries = [
            {"name": f"vm-{number:03}", "run_strategy": STRATEGIES[number % 4], "labels": {"half": str(number % 2)}}
            for number in range(count)
        ]
        self.run(
            "virtual_machine",
            virtual_machines=entries,
            instancetype={"name": "fleet", "kind": "VirtualMachineInstancetype"},
            volumes=[{"name": "root", "container_disk": "registry.example.com/disk:1"}],
            wait=True,
            **options,
        )
        if by_hand := [entry["name"] for entry in entries if entry["run_strategy"] == "Manual"]:
            self.run("virtual_machine_power", wait=True, names=by_hand, state="started")

    def revisions(self) -> dict[str, Manifest]:
        """The captured revisions of each VM."""
        return self.run.vms(include=["refresh"])

    def vms(self) -> dict[str, Manifest]:
        return self.run.vms()

    def generations(self) -> dict[str, int]:
        return {name: item["instancetype"]["generation"] for name, item in self.revisions().items()}

    def power(self) -> dict[str, tuple[str, str]]:
        """Run strategy and status of each VM."""
        return {name: (vm["run_strategy"], vm["status"]) for name, vm in self.vms().items()}

    def memory(self) -> dict[str, str]:
        """The sizes of the running guests."""
        return {name: vm["vmi"]["guest"]["memory"] for name, vm in self.vms().items() if "vmi" in vm}

    def _listed(self, kind: str) -> list[Manifest]:
        with config.new_client_from_config(str(self.kubeconfig)) as connection:
            result = client.CustomObjectsApi(connection).list_namespaced_custom_object(
                "kubevirt.io", "v1", self.namespace, kind
            )
        items: list[Manifest] = result["items"]
        return items

    def guests(self) -> dict[str, str]:
        """The uids of the VMIs: another uid is another guest."""
        return {item["metadata"]["name"]: item["metadata"]["uid"] for item in self._listed("virtualmachineinstances")}

    def restart_required(self) -> set[str]:
        """The VMs with the condition RestartRequired."""
        return {
            vm["metadata"]["name"]
            for vm in self._listed("virtualmachines")
            if any(item["type"] == "RestartRequired" for item in vm["status"].get("conditions") or [])
        }

    def kept(self) -> set[str]:
        """The names of all revisions of the instancetype."""
        with config.new_client_from_config(str(self.kubeconfig)) as connection:
            result = client.AppsV1Api(connection).list_namespaced_controller_revision(
                self.namespace, label_selector="instancetype.kubevirt.io/object-name=fleet"
            )
        return {item.metadata.name for item in result.items}

    def begin(
        self, *arguments: str, playbook: str = "virtshape.instancetypes.refresh_revisions", **variables: Any
    ) -> subprocess.Popen[str]:
        """ansible-playbook in a process group of its own. variables: the role's, without its prefix."""
        extra = {f"revision_refresh_{name}": value for name, value in variables.items()}
        extra = {"revision_refresh_namespaces": [self.namespace], **extra}
        environment = surroundings(self.kubeconfig, ANSIBLE_SHOW_CUSTOM_STATS="1")
        command = [str(Path(sys.executable).parent / "ansible-playbook"), playbook]
        return subprocess.Popen(
            [*command, "-e", json.dumps(extra), *arguments],
            env=environment,
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def refresh(self, *arguments: str, fails: bool = False, **variables: Any) -> str:
        """The output, on one line, of the playbook, which succeeds, or fails."""
        process = self.begin(*arguments, **variables)
        output, _nothing = process.communicate()
        assert (process.returncode != 0) == fails, output
        return flat(output)

    def unsaid(self, cases: list[tuple[Manifest, str]]) -> list[str]:
        """The messages of wrong settings that the role does not give. Each case is a host of one play."""
        common = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        common["revision_refresh_namespaces"] = [self.namespace]
        hosts = {
            f"host-{number}": {f"revision_refresh_{name}": value for name, value in variables.items()}
            for number, (variables, _message) in enumerate(cases)
        }
        (self.folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": common}}))
        role = "virtshape.instancetypes.revision_refresh"
        (self.folder / "refused.yml").write_text(json.dumps([{"hosts": "all", "gather_facts": False, "roles": [role]}]))
        options = {"kubeconfig": self.kubeconfig, "ANSIBLE_CALLBACK_RESULT_FORMAT": "json"}
        _code, printed = ansible(self.folder, "ansible-playbook", "-i", "hosts.json", "refused.yml", **options)
        messages = {found["host"]: flat(json.loads(found["result"])["msg"]) for found in FAILED.finditer(printed)}
        assert set(messages) == set(hosts), printed
        assert "Refresh batch" not in printed
        return [message for host, (_variables, message) in zip(hosts, cases) if message not in messages[host]]

    def report(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads((self.folder / "report" / "revision-refresh.json").read_text())
        return result
