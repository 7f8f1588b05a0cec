"""All who judge what a change does to a guest say the same, and the cluster does it.

Running and stopped VMs are changed at random, then the instancetypes and preferences that they use, then the VMs are
refreshed. VIRTSHAPE_TEST_CHANGES is how many changes, about; VIRTSHAPE_TEST_SEED draws others.
"""

import contextlib
import io
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import yaml
from test_random_changes import CHANGES, INSTANCETYPE, PREFERENCE, PREFERENCES, SEED, TYPES, VM, VMI, drawn, made

from modules_support import Task, by_name, manifest
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._cluster.reads.kubevirt import kubevirt
from plugins.module_utils._resolver.api import behaviour
from plugins.module_utils._resolver.api.kinds import Kind
from plugins.module_utils._resolver.api.matcher import MATCHER_FIELDS
from plugins.module_utils._resolver.kubevirt.instancetype.revision_names import without_revisions
from plugins.plugin_utils._check.command import main as check
from plugins.plugin_utils._inventory.hosts import hosts

Manifest = dict[str, Any]
Needs = dict[str, str]
KUBEVIRT = Kind("KubeVirt", "kubevirt.io", "v1", "kubevirts", True)
TOGETHER = 20
INVENTORY = {
    "label_selectors": [],
    "only_running": False,
    "address": "none",
    "interface": "",
    "ip_family": "any",
    "service_port": 22,
    "host_format": "{name}",
    "hostvars_prefix": "vm_",
    "windows_connection": None,
}
DEVICES = [{}, {"preferredDiskBus": "sata"}, {"preferredDiskBus": "scsi"}, {"preferredInterfaceModel": "virtio"}]


def test_judges_agree_and_the_cluster_follows(session: Session, cluster: Path, namespace: str, tmp_path: Path) -> None:
    made(session, namespace)
    random, differences, done = Random(SEED), [], 0
    while done < CHANGES:
        fleet = Fleet(session, cluster, namespace, tmp_path / str(done), random)
        fleet.create([f"vm-{done}-{number}" for number in range(TOGETHER)])
        differences += [*fleet.change_templates(), *fleet.change_types(), *fleet.refresh()]
        fleet.remove()
        done += 2 * TOGETHER
    assert not differences, "\n".join([f"{len(differences)} (seed {SEED}):", *differences])


class Fleet:
    """VMs, and what each judge says of them."""

    def __init__(self, session: Session, cluster: Path, namespace: str, folder: Path, random: Random) -> None:
        self._session, self._namespace, self._random = session, namespace, random
        self._task = Task(cluster, namespace)
        self._folder = folder
        self._entries: list[Manifest] = []

    def create(self, names: list[str]) -> None:
        # virt-controller of some releases would crash.
        self._keeps_matchers = kubevirt(self._session).release.has(behaviour.CRASHES_WITHOUT_MATCHER)
        self._entries = [self._drawn(name, "Always" if self._random.random() < 0.75 else "Halted") for name in names]
        self._declare(restart="never")

    def remove(self) -> None:
        self._declare(state="absent")

    def _drawn(self, name: str, strategy: str) -> Manifest:
        return {**drawn(self._random, name, self._keeps_matchers), "run_strategy": strategy}

    def _declare(self, *, is_check: bool = False, **options: Any) -> Manifest:
        options = {"virtual_machines": self._entries, "wait": not is_check, **options}
        return by_name(self._task("virtual_machine", check=is_check, **options)["results"])

    def change_templates(self) -> Iterator[str]:
        """The differences between the declaration and the check of a repository, and the judges that do not see what
        waits afterwards."""
        before = self._manifests()
        self._entries = [self._drawn(entry["name"], entry["run_strategy"]) for entry in self._entries]
        forecast = self._declare(is_check=True)
        done = self._declare(restart="never")
        yield from _differ({"check mode": _needs(forecast), "the run": _needs(done)})
        needs = {name: result.get("needs", "nothing") == "restart" for name, result in done.items()}
        yield from _differ({"the run": needs, "check --base": self._checked(before)})
        judged = self._settled()
        waits = {name: result["restart_required"] for name, result in done.items()}
        yield from _differ({"the run": waits, **{who: _restarts(said) for who, said in judged.items()}})
        # Only a run that may restart guests looks at those for which KubeVirt asks nothing.
        again = self._declare(is_check=True, restart="if_required")
        restarts = {name: result["restarted"] for name, result in again.items()}
        yield from _differ({"the run": waits, "a second run": restarts, "the inventory": self._inventory()})

    def change_types(self) -> Iterator[str]:
        """The differences between the catalog that changes sizes and preferences and the judges of the refresh."""
        sizes = {name: self._random.choice(list(TYPES.values())) for name in TYPES}
        specs: list[tuple[Any, str, Manifest]] = [
            (INSTANCETYPE, name, {"cpu": {"guest": cpu}, "memory": {"guest": memory}})
            for name, (cpu, memory) in sizes.items()
        ]
        specs += [(PREFERENCE, name, {"devices": self._random.choice(DEVICES)}) for name in PREFERENCES]
        definitions = [manifest(kind.kind, name, spec) for kind, name, spec in specs]
        options = {"source": "definitions", "definitions": definitions, "namespaces": [self._namespace]}
        said = {}
        for is_check in (True, False):
            result = self._task("catalog", check=is_check, **options, force_conflicts=True)
            said["the catalog in check mode" if is_check else "the catalog"] = {
                vm["name"]: vm["needs"] for vm in result["virtual_machines"]
            }
        yield from _differ(said)
        judged = self._settled()
        users = said["the catalog"]
        yield from _differ({"the catalog": users, **{who: _only(needs, users) for who, needs in judged.items()}})
        yield from _differ(judged)

    def refresh(self) -> Iterator[str]:
        """The guests that do not become what the judges said."""
        judged = self._settled()["virtual_machine_info"]
        before = self._guests()
        never = self._refreshed(restart="never")
        yield from _differ({"virtual_machine_info": judged, "the refresh": _needs(never)})
        waiting = self._settled()["virtual_machine_info"]
        left = {name: "restart" if needs == "restart" else "nothing" for name, needs in judged.items()}
        yield from _differ({"what was said": left, "what waits": waiting})
        yield from _differ({"uid before": _uids(before), "uid": _uids(self._guests())})
        restarted = {name: result["restarted"] for name, result in self._refreshed(restart="if_required").items()}
        yield from _differ({"said": _restarts(judged), "restarted": restarted})
        now = self._guests()
        renewed = {name: name in now and _uids(now)[name] != uid for name, uid in _uids(before).items()}
        yield from _differ({"said": _only(_restarts(judged), renewed), "has a new guest": renewed})
        final = self._settled()
        yield from _differ({"nothing waits": dict.fromkeys(judged, "nothing"), **final})

    def _refreshed(self, **options: Any) -> Manifest:
        return by_name(self._task("controller_revision", **options)["results"])

    def _judged(self) -> dict[str, Needs]:
        """The needs of VMs according to each judge of a refresh."""
        revisions = self._task("controller_revision", check=True)
        upgrade = self._task("upgrade_info")
        by_upgrade = by_name(upgrade["virtual_machines"])
        assert {vm["needs"] for vm in by_upgrade.values()} <= {"nothing"}, upgrade
        return {
            "virtual_machine_info": _needs(self._task.vms(include=["refresh"])),
            "controller_revision": _needs(by_name(revisions["results"])),
            "upgrade_info": {name: vm["refresh"]["needs"] for name, vm in by_upgrade.items()},
        }

    def _settled(self) -> dict[str, Needs]:
        """The judgements once virt-controller has looked at all VMs and has plugged what it plugs."""
        end = time.monotonic() + 60
        while True:
            vms = self._session.list(VM, self._namespace)
            observed = all(
                not vm["status"].get("created")
                or vm["status"].get("desiredGeneration", vm["metadata"]["generation"]) == vm["metadata"]["generation"]
                for vm in vms
            )
            seen = self._task.vms(include=["refresh"]).values()
            plugging = [vm for vm in seen if vm["needs"] == "live_update" and not vm["drifted"]]
            if (observed and not plugging) or time.monotonic() > end:
                return self._judged()
            time.sleep(0.2)

    def _inventory(self) -> dict[str, bool]:
        found, _warnings = hosts(self._session, {**INVENTORY, "namespaces": [self._namespace]})
        return {name: variables["vm_restart_required"] for name, variables in found.items()}

    def _guests(self) -> dict[str, Manifest]:
        return {item["metadata"]["name"]: item for item in self._session.list(VMI, self._namespace)}

    def _manifests(self) -> list[Manifest]:
        """The VMs and what they name, as a repository has them: without revisions, which KubeVirt writes up to 1.4."""
        kinds = (INSTANCETYPE, PREFERENCE, VM)
        objects = [(kind, item) for kind in kinds for item in self._session.list(kind, self._namespace)]
        return [
            {
                "apiVersion": kind.api_version,
                "kind": kind.kind,
                "metadata": {part: item["metadata"][part] for part in ("name", "namespace")},
                "spec": without_revisions(item, MATCHER_FIELDS)["spec"],
            }
            for kind, item in objects
        ]

    def _checked(self, before: list[Manifest]) -> dict[str, bool]:
        """The VMs of which `check --base` says that they need a restart."""
        for name, manifests in (("base", before), ("head", self._manifests())):
            folder = self._folder / name
            folder.mkdir(parents=True)
            (folder / "all.yml").write_text(yaml.safe_dump_all(manifests))
        settings = self._folder / "kubevirt.yml"
        (item,) = self._session.list(KUBEVIRT, None)
        settings.write_text(yaml.safe_dump({"apiVersion": "kubevirt.io/v1", "kind": "KubeVirt", **item}))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            check([str(self._folder / "head"), "--base", str(self._folder / "base"), "--kubevirt", str(settings)])
        lines = [line for line in printed.getvalue().splitlines() if line.endswith("[needs-restart]")]
        names = [manifest["metadata"]["name"] for manifest in before if manifest["kind"] == VM.kind]
        return {name: any(f"{self._namespace}/{name}: " in line for line in lines) for name in names}


def _needs(results: Manifest) -> Needs:
    return {name: result.get("needs", "nothing") for name, result in results.items()}


def _restarts(needs: Needs) -> dict[str, bool]:
    return {name: value == "restart" for name, value in needs.items()}


def _only(values: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in names}


def _uids(guests: dict[str, Manifest]) -> dict[str, str]:
    return {name: guest["metadata"]["uid"] for name, guest in guests.items()}


def _differ(judgements: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The VMs of which the judges say different things."""
    names = dict.fromkeys(name for judged in judgements.values() for name in judged)
    for name in names:
        said = {who: judged.get(name, "silent") for who, judged in judgements.items()}
        if len(set(map(str, said.values()))) > 1:
            yield f"{name}: {said}"
