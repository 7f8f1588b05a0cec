"""The way from awx_setup to a job of each of its templates, each with the rights of its own service account."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config

from awx_support import CHECKOUT, Job, Settings, Setup, Template, answers
from fleet_support import Fleet

EVERYBODY = {"inventory", "deploy catalog", "fleet report", "refresh", "declare VMs"}
# (verb, group, resource): who may.
RIGHTS = {
    ("list", "kubevirt.io", "virtualmachines"): EVERYBODY,
    ("create", "kubevirt.io", "virtualmachines"): {"declare VMs"},
    ("patch", "instancetype.kubevirt.io", "virtualmachineclusterinstancetypes"): {"deploy catalog"},
    ("update", "coordination.k8s.io", "leases"): {"refresh"},
    ("list", "apps", "controllerrevisions"): EVERYBODY,
    ("get", "", "secrets"): set(),
}


def named(items: list[Settings]) -> dict[str, Settings]:
    return {item["name"].removeprefix("KubeVirt: "): item for item in items}


@pytest.fixture(scope="module")
def accounts() -> str:
    """The name of a namespace that the first run creates."""
    return f"awx-{uuid.uuid4().hex[:10]}"


@pytest.fixture(scope="module")
def setup(cluster: Path, accounts: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setup]:
    made = Setup(tmp_path_factory.mktemp("awx"), cluster)
    variables: Settings = {
        "service_accounts": accounts,
        "token_duration": 3600,
        "declare_inventory": "Fleet",
        "slices": 2,
        "notification": "Drift",
        "notification_type": "webhook",
        "notification_configuration": {"url": "https://hooks.example.com"},
    }
    try:
        code, output = made.run(**{**variables, "service_accounts": f"{accounts}_x"})
        assert code == 2 and not made.log.exists()
        assert f'awx_setup_service_accounts: Namespace "{accounts}_x" is invalid' in output.replace('\\"', '"')
        assert made.run(**variables)[0] == 0
        code, output = made.run(**variables)
        assert code == 0, output
        # The stand-ins always change something; before them are the namespace and the accounts, which are there now.
        assert "changed: [localhost]" not in output.partition("Create the project")[0]
        for item in made.given("credential"):
            assert item["inputs"]["bearer_token"] not in output
        yield made
    finally:
        # Bindings are cluster-wide, so that they would outlive the namespace.
        with config.new_client_from_config(str(cluster)) as connection:
            rbac = client.RbacAuthorizationV1Api(connection)
            for binding in rbac.list_cluster_role_binding().items:
                if binding.metadata.name.startswith(f"{accounts}-"):
                    rbac.delete_cluster_role_binding(binding.metadata.name)
            client.CoreV1Api(connection).delete_namespace(accounts)


def test_objects_of_the_setup_fit_together(setup: Setup) -> None:
    templates = named(setup.given("job_template"))
    assert {name: (item["playbook"], item["job_slice_count"]) for name, item in templates.items()} == {
        "deploy catalog": ("playbooks/deploy_catalog.yml", 1),
        "fleet report": ("playbooks/fleet_report.yml", 1),
        "refresh": ("playbooks/refresh_revisions.yml", 2),
        "declare VMs": ("playbooks/virtual_machines.yml", 2),
    }
    assert templates["declare VMs"]["inventory"] == "Fleet"
    for name, item in templates.items():
        assert item["credentials"] == [f"KubeVirt: {name}"] and item["notification_templates_error"] == ["Drift"]
        assert item["survey_enabled"] and item["survey_spec"]["spec"]
    (source,) = setup.given("inventory_source")
    plugin = yaml.safe_load((CHECKOUT / source["source_path"]).read_text())["plugin"]
    assert (CHECKOUT / "plugins" / "inventory" / f"{plugin.rpartition('.')[2]}.py").exists()
    assert source["credential"] == "KubeVirt: inventory" and source["overwrite"]
    # AWX takes no variables but a survey's, and splits the first job by the hosts that it knows before.
    (schedule,) = setup.given("schedule")
    assert schedule["unified_job_template"] == "KubeVirt: fleet report"
    assert schedule["extra_data"] == {"fleet_report_fail_if": ["drifted"]}
    asked = templates["fleet report"]["survey_spec"]["spec"]
    assert set(schedule["extra_data"]) <= {question["variable"] for question in asked}
    tasks = [json.loads(line)[0] for line in setup.log.read_text().splitlines()]
    assert tasks.index("inventory_source") < tasks.index("inventory_source_update") < tasks.index("job_template")


def test_workflow_has_an_approval_before_the_refresh(setup: Setup) -> None:
    (workflow,) = setup.given("workflow_job_template")
    # The option `workflow_nodes` would change an approval in each run.
    assert workflow["notification_templates_approvals"] == ["Drift"] and "workflow_nodes" not in workflow
    after: dict[str, list[str]] = {}
    for node in setup.given("workflow_job_template_node"):
        follows = node.get("success_nodes", [])
        # AWX knows no node that is yet to be created, and the module no nodes after an approval that it creates.
        assert set(follows) <= set(after) and not (follows and "approval_node" in node)
        assert node.get("unified_job_template", "KubeVirt: refresh").removeprefix("KubeVirt: ") in EVERYBODY
        # AWX compares it with a number.
        assert node.get("approval_node", {"timeout": 86400})["timeout"] == 86400
        after[node["identifier"]] = follows
    assert after == {"catalog": ["report"], "report": ["approval"], "approval": ["refresh"], "refresh": []}


def environment(inputs: Settings, folder: Path) -> dict[str, str]:
    """The environment that AWX gives a job for a credential of the type OpenShift or Kubernetes API Bearer Token."""
    authority = folder / "ca.crt"
    authority.write_text(inputs["ssl_ca_cert"])
    assert inputs["verify_ssl"] is True
    return {
        "K8S_AUTH_HOST": inputs["host"],
        "K8S_AUTH_API_KEY": inputs["bearer_token"],
        "K8S_AUTH_SSL_CA_CERT": str(authority),
        "K8S_AUTH_VERIFY_SSL": "True",
    }


def may(settings: dict[str, str], verb: str, group: str, resource: str) -> bool:
    token = {"authorization": f"Bearer {settings['K8S_AUTH_API_KEY']}"}
    configuration = client.Configuration(host=settings["K8S_AUTH_HOST"], api_key=token)
    configuration.ssl_ca_cert = settings["K8S_AUTH_SSL_CA_CERT"]
    requested = {"spec": {"resourceAttributes": {"verb": verb, "group": group, "resource": resource}}}
    with client.ApiClient(configuration) as connection:
        return bool(client.AuthorizationV1Api(connection).create_self_subject_access_review(requested).status.allowed)


def test_each_account_has_its_own_rights(setup: Setup, tmp_path: Path) -> None:
    made = {name: environment(item["inputs"], tmp_path) for name, item in named(setup.given("credential")).items()}
    for (verb, group, resource), able in RIGHTS.items():
        assert {name for name, given in made.items() if may(given, verb, group, resource)} == able, (verb, resource)


def test_a_job_of_each_template_succeeds(setup: Setup, cluster: Path, namespace: str, tmp_path: Path) -> None:
    """They have no prompt and no kubeconfig, read AWX's variables, and leave artifacts."""
    fleet = Fleet(cluster, namespace, tmp_path)
    fleet.size(1, "2Gi")
    fleet.create(3)
    fleet.size(1, "4Gi")
    credentials, templates = named(setup.given("credential")), named(setup.given("job_template"))
    guest = {"namespace": namespace, "run_strategy": "Halted", "cpu": {"cores": 1}, "memory": "1Gi"}
    # An inventory also has VMs of other namespaces, and those that are gone since it was read.
    places = [*((namespace, f"vm-{number:03}") for number in range(3)), ("elsewhere", "db-1")]
    hosts = {f"{name}.{place}": {"vm_namespace": place, "vm_name": name} for place, name in places}
    secrets = [item["inputs"]["bearer_token"] for item in credentials.values()]

    def job(name: str, limit: str = "", host: Settings | None = None, more: Settings | None = None, **sent: Any) -> Job:
        """A job with these answers. more: further extra variables of the template."""
        item = templates[name]
        settings = environment(credentials[name]["inputs"], tmp_path)
        template = Template(tmp_path, item["playbook"], settings, host or hosts, {**item["extra_vars"], **(more or {})})
        result = template.launch(limit=limit, **answers(item["survey_spec"], **sent)).wait()
        assert not any(secret in result.output for secret in secrets)
        return result

    for state, became in (("present", "created"), ("absent", "deleted")):
        done = job("declare VMs", host={"web": {"virtual_machine": guest}}, virtual_machines_state=state)
        assert (done.code, done.artifacts["virtual_machines_msg"]) == (0, f"1 virtual machine: 1 {became}"), done

    here = {"fleet_report_namespaces": namespace}
    done = job("fleet report", **here)
    assert (done.status, done.artifacts["fleet_report_failed"]) == ("successful", False), done
    # The approver of a refresh decides by these artifacts: the files end with the job.
    lines = done.artifacts["fleet_report_drift"]
    assert [line.partition(":")[0] for line in lines] == [f"{namespace}/vm-{number:03}" for number in range(3)]
    assert all("from 2Gi to 4Gi; needs " in line and line in done.output for line in lines)
    done = job("fleet report", **here, fleet_report_fail_if=["drifted", "refused"])
    assert (done.status, done.code, done.artifacts["fleet_report_failed"]) == ("failed", 2, True), done
    assert done.artifacts["fleet_report_msg"].startswith("drifted: 3; see ")
    credentials["fleet report"]["inputs"]["bearer_token"] = "expired"
    done = job("fleet report")
    assert (done.status, done.code) == ("failed", 2), done
    assert "the API server rejected the credentials" in done.artifacts["fleet_report_msg"]

    lease = {"revision_refresh_lease": f"{namespace}/refresh"}
    done = job("refresh", limit=f"vm-001.{namespace}", more=lease)
    assert (done.code, done.artifacts["revision_refresh_msg"]) == (0, "1 virtual machine: 1 refreshed"), done
    only = {"revision_refresh_namespaces": namespace, "revision_refresh_label_selectors": "half=0"}
    done = job("refresh", more=lease, **only)
    assert done.artifacts["revision_refresh_msg"] == "2 virtual machines: 2 refreshed", done
    assert fleet.generations() == {f"vm-{number:03}": 2 for number in range(3)}

    few = {
        "common_instancetypes_namespace": namespace,
        "common_instancetypes_instancetypes": ["u1.nano"],
        "common_instancetypes_kinds": ["instancetype"],
    }
    done = job("deploy catalog", more=few)
    assert (done.status, done.artifacts["common_instancetypes_counts"]["created"]) == ("successful", 1), done
    done = job("deploy catalog", common_instancetypes_path="catalog.yml")
    assert (done.status, done.code) == ("failed", 2), done
    assert "catalog.yml would be ignored" in done.artifacts["common_instancetypes_msg"]
