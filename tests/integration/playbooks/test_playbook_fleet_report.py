"""The playbook fleet_report, as users run it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_environment import played
from kubernetes import client, config

from fleet_support import Fleet
from modules_support import await_right

Report = Callable[..., str]


@pytest.fixture
def report(fleet: Fleet, tmp_path: Path) -> Report:
    """report(fails=False, **variables): the output, on one line. Variables are the playbook's, without its prefix."""

    def run(*arguments: str, fails: bool = False, **variables: Any) -> str:
        result = {"namespaces": fleet.namespace, "directory": "report", **variables}
        options = {"variables": {f"fleet_report_{name}": value for name, value in result.items()}, "fails": fails}
        around = {"kubeconfig": fleet.kubeconfig, "ANSIBLE_SHOW_CUSTOM_STATS": "1"}
        return played(tmp_path, "virtshape.instancetypes.fleet_report", *arguments, **options, **around)

    return run


def written(folder: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((folder / "fleet-report.json").read_text())
    return result


def test_the_report_of_a_namespace(fleet: Fleet, report: Report, tmp_path: Path) -> None:
    fleet.create(4)
    fleet.run("instancetype", name="unused", cpu={"guest": 1}, memory={"guest": "1Gi"})
    output = report()
    assert "4 virtual machines: 0 drifted" in output and "WARNING" not in output
    before = written(tmp_path / "report")
    assert (before["totals"]["virtual_machines"], before["totals"]["memory_bytes"]) == (4, 8 * 2**30)
    assert {"name": "unused", "namespace": fleet.namespace}.items() <= next(
        item for item in before["unused"] if item["name"] == "unused"
    ).items()
    assert fleet.namespace not in [item["namespace"] for item in before["unused"] if item["name"] == "fleet"]

    size = {"cpu": {"guest": 1}, "memory": {"guest": "4Gi", "max_guest": "4Gi"}}
    leaving = {"replacement": "unused", "obsolete_from": "2027-03-31"}
    fleet.run("instancetype", name="fleet", **size, deprecated=leaving)
    with config.new_client_from_config(str(fleet.kubeconfig)) as connection:
        labels = {"instancetype.kubevirt.io/object-name": "fleet"}
        client.AppsV1Api(connection).create_namespaced_controller_revision(
            fleet.namespace, {"metadata": {"name": "left-over", "labels": labels}, "revision": 1, "data": {}}
        )
    kept = tmp_path / "kept"
    kept.write_text("somebody else's")
    (tmp_path / "report" / "fleet-report.html").unlink()
    (tmp_path / "report" / "fleet-report.html").symlink_to(kept)
    half = {"label_selectors": "half=0", "title": "Half", "team_label": "half"}
    output = report("--check", fails=True, **half, fail_if="drifted, refused", rows=1)
    assert f"drifted: 2; see {tmp_path}/report/fleet-report.html" in output
    assert "drifted: 2" in output.partition("CUSTOM STATS")[2]
    after = written(tmp_path / "report")
    assert (after["totals"]["virtual_machines"], after["totals"]["drifted"]) == (2, 2)
    assert [item["virtual_machines"] for item in after["drift"]["by_age"]] == [2, 0, 0, 0, 0]
    (group,) = after["drift"]["by_change"]
    assert (group["needs"], group["virtual_machines"]) == (
        "restart",
        [f"{fleet.namespace}/vm-000", f"{fleet.namespace}/vm-002"],
    )
    # All VMs of the namespace count here, with selectors, too.
    assert [item["name"] for item in after["orphaned_revisions"]] == ["left-over"]
    assert after["totals"]["deprecated_in_use"] == 2
    [leftover] = after["deprecated_in_use"]
    assert leftover == {
        "namespace": fleet.namespace,
        "kind": "VirtualMachineInstancetype",
        "name": "fleet",
        "object_state": "deprecated",
        **leaving,
        "virtual_machines": [f"{fleet.namespace}/vm-000", f"{fleet.namespace}/vm-002"],
    }
    page = (tmp_path / "report" / "fleet-report.html").read_text()
    assert "<title>Half</title>" in page and kept.read_text() == "somebody else's"
    assert [(item["team"], item["virtual_machines"]) for item in after["teams"]] == [("0", 2)]
    assert f"namespaces {fleet.namespace}; half=0" in page


@pytest.fixture
def wide(fleet: Fleet) -> Iterator[str]:
    """A cluster-wide instancetype that nobody uses."""
    size = {"name": f"{fleet.namespace}-wide", "namespace": None}
    fleet.run("instancetype", **size, cpu={"guest": 1}, memory={"guest": "1Gi"})
    yield str(size["name"])
    fleet.run("instancetype", **size, state="absent")


def test_report_without_the_right_to_list_all_vms(
    fleet: Fleet, report: Report, wide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.create(1)
    fleet.run("instancetype", name="unused", cpu={"guest": 1}, memory={"guest": "1Gi"})
    name, group = f"{fleet.namespace}-user", "rbac.authorization.k8s.io"
    binding = {
        "metadata": {"name": name},
        "roleRef": {"kind": "ClusterRole", "name": "view", "apiGroup": group},
        "subjects": [{"kind": "User", "name": name, "apiGroup": group}],
    }
    with config.new_client_from_config(str(fleet.kubeconfig)) as connection:
        client.RbacAuthorizationV1Api(connection).create_namespaced_role_binding(fleet.namespace, binding)
        read = {"apiGroups": ["kubevirt.io"], "resources": ["virtualmachines"], "verbs": ["list"]}
        await_right(client.AuthorizationV1Api(connection), fleet.namespace, name, read)
    monkeypatch.setenv("K8S_AUTH_IMPERSONATE_USER", name)
    output = report()
    assert "cluster-wide: used_by: virtualmachines.kubevirt.io is forbidden" in output
    unused = [item["name"] for item in written(tmp_path / "report")["unused"]]
    assert "unused" in unused and wide not in unused


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"namespaces": " ,"}, "fleet_report_namespaces: is empty; name namespaces, or '*' for all VMs of the cluster"),
        ({"rows": "many"}, "fleet_report_rows: is many; write a whole number, 1 or more"),
        ({"qps": "many"}, "fleet_report_qps: is many; write a number of requests a second, 0 for no limit"),
        ({"fail_if": "drift"}, "fleet_report_fail_if: unknown total drift; choose from drifted, unknown"),
        ({"label_selectors": "half=0=1"}, "expected: ',' or 'end of string'"),
        ({"namespaces": "no-such", "fail_if": "drifted"}, "fleet_report_namespaces: no-such does not exist; "),
        (
            {"label_selectors": "tier=wbe", "fail_if": "drifted"},
            "fleet_report_label_selectors: no virtual machine in ",
        ),
    ],
)
def test_bad_input_is_one_line(report: Report, variables: dict[str, Any], message: str, tmp_path: Path) -> None:
    assert message in report(fails=True, **variables)
    assert not (tmp_path / "report").exists()
