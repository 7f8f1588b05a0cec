"""The playbook awx_setup with stand-ins for the modules of awx.awx and ctrliq.ascender, which note their options."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from awx_stand_in import CHECKOUT, RECORD, Awx

PLAYBOOKS = CHECKOUT / "playbooks"
SURVEYS = PLAYBOOKS / "awx" / "surveys"

# Up to ansible-core 2.18 the loader also looks for the module before its name is known.
LOADER = "[WARNING]: errors were encountered during the plugin load for {{ awx_setup_collection }}"

Settings = dict[str, Any]


@pytest.fixture
def awx(tmp_path: Path) -> Awx:
    return Awx(tmp_path)


def test_setup_creates_credential_inventory_and_templates(awx: Awx) -> None:
    code, output = awx.run(slices=4, declare_inventory="Fleet", execution_environment_image="registry.example.com/ee:1")
    assert code == 0, output
    assert "s3cr3t" not in output
    (credential,) = awx.given("credential")
    assert credential["credential_type"] == "OpenShift or Kubernetes API Bearer Token"
    assert credential["inputs"] == {
        "host": "https://cluster.example.com:6443",
        "bearer_token": "s3cr3t",
        "verify_ssl": True,
        "ssl_ca_cert": "the authority",
    }
    (source,) = awx.given("inventory_source")
    plugin = yaml.safe_load((CHECKOUT / source["source_path"]).read_text())["plugin"]
    assert (CHECKOUT / "plugins" / "inventory" / f"{plugin.rpartition('.')[2]}.py").exists()
    assert source["source"] == "scm" and source["overwrite"]

    templates = {item["name"].removeprefix("KubeVirt: "): item for item in awx.given("job_template")}
    assert {name: (item["playbook"], item["job_slice_count"]) for name, item in templates.items()} == {
        "deploy catalog": ("playbooks/deploy_catalog.yml", 1),
        "fleet report": ("playbooks/fleet_report.yml", 1),
        "refresh": ("playbooks/refresh_revisions.yml", 4),
        "declare VMs": ("playbooks/virtual_machines.yml", 4),
    }
    assert templates["declare VMs"]["inventory"] == "Fleet"
    assert templates["refresh"]["extra_vars"] == {"revision_refresh_group": "all", "job_slices": 4}
    assert templates["declare VMs"]["extra_vars"] == {"job_slices": 4}
    for item in templates.values():
        assert (CHECKOUT / item["playbook"]).is_file()
        assert item["survey_spec"]["spec"] and item["survey_enabled"]

    (schedule,) = awx.given("schedule")
    assert schedule["unified_job_template"] == templates["fleet report"]["name"]
    assert schedule["extra_data"] == {"fleet_report_fail_if": ["drifted"]}
    # Else the first job of a template with slices would be one.
    tasks = [json.loads(line)[0] for line in awx.log.read_text().splitlines()]
    assert tasks.index("inventory_source") < tasks.index("inventory_source_update") < tasks.index("job_template")
    assert not awx.given("notification_template")
    assert output.count("WARNING") == output.count(LOADER)


def test_notifications(awx: Awx) -> None:
    configuration = {"url": "https://hooks.example.com", "http_method": "POST"}
    code, output = awx.run(notification="Drift", notification_type="webhook", notification_configuration=configuration)
    assert code == 0, output
    (result,) = awx.given("notification_template")
    assert (result["name"], result["notification_type"]) == ("Drift", "webhook")
    assert result["notification_configuration"] == configuration
    assert [item["notification_templates_error"] for item in awx.given("job_template")] == [["Drift"]] * 3
    (workflow,) = awx.given("workflow_job_template")
    assert workflow["notification_templates_approvals"] == ["Drift"]


def test_the_workflow(awx: Awx) -> None:
    code, output = awx.run(name="Production")
    assert code == 0, output
    (workflow,) = awx.given("workflow_job_template")
    # The module would change an approval in each run.
    assert "workflow_nodes" not in workflow
    nodes = awx.given("workflow_job_template_node")
    assert {node["workflow_job_template"] for node in nodes} == {workflow["name"]} == {"Production: upgrade"}
    after: dict[str, list[str]] = {}
    for node in nodes:
        follows = node.get("success_nodes", [])
        # AWX knows no node that is yet to be created, and the module no nodes after an approval that it creates.
        assert set(follows) <= set(after)
        assert not (follows and "approval_node" in node)
        after[node["identifier"]] = follows
    assert after == {"catalog": ["report"], "report": ["approval"], "approval": ["refresh"], "refresh": []}
    (approval,) = [node["approval_node"] for node in nodes if "approval_node" in node]
    # AWX compares it with a number.
    assert approval["timeout"] == 86400
    templates = {item["name"] for item in awx.given("job_template")}
    used = {node["unified_job_template"] for node in nodes if "unified_job_template" in node}
    assert used <= templates and len(used) == 3
    assert awx.given("job_template")[0]["name"] == "Production: deploy catalog"
    assert not [line for line in awx.log.read_text().splitlines() if line.startswith('["execution_environment"')]


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"cluster_host": ""},
            "awx_setup_cluster_host: is empty; write the address of the API server, or set K8S_AUTH_HOST",
        ),
        ({"cluster_token": ""}, "awx_setup_cluster_token: is empty; give the token of a service account"),
        (
            {"settings": {"K8S_AUTH_HOST": "h", "K8S_AUTH_API_KEY": "t", "K8S_AUTH_SSL_CA_CERT": "none.crt"}},
            "none.crt; name the file of the cluster",
        ),
        (
            {"settings": {"KUBECONFIG": "none.yml"}, "service_accounts": "awx"},
            "awx_setup_service_accounts: kubernetes.config.config_exception.ConfigException: Invalid kube-config file.",
        ),
        ({"slices": "many"}, "awx_setup_slices: is many; write a whole number, 1 or more"),
        (
            {"collection": "ascender"},
            "awx_setup_collection: is ascender; write awx.awx, or ctrliq.ascender for Ascender",
        ),
    ],
)
def test_bad_input_is_one_line(awx: Awx, variables: Settings, message: str) -> None:
    code, output = awx.run(**variables)
    assert code == 2 and message in output
    assert not awx.log.exists()


@pytest.mark.parametrize("collection", RECORD)
def test_tasks_use_options_that_there_are(collection: str) -> None:
    """Tasks that a run leaves out count, too."""
    _limit, play = yaml.safe_load((PLAYBOOKS / "awx_setup.yml").read_text())
    modules, seen = RECORD[collection]["modules"], set()
    for task in play["tasks"]:
        if "action" in task:
            name = task["action"].removeprefix("{{ awx_setup_collection }}.")
            seen.add(name)
            # Aliases differ between the collections.
            assert set(task["args"]) <= set(modules[name]), name
    assert seen == set(modules)


def test_ascender_is_set_up_by_its_collection(awx: Awx) -> None:
    """It has all that a run with awx.awx makes, and the other collection need not be there."""
    shutil.rmtree(awx.folder / "ansible_collections" / "awx")
    code, output = awx.run(collection="ctrliq.ascender", declare_inventory="Fleet")
    assert code == 0 and output.count("WARNING") == output.count(LOADER), output
    made = {json.loads(line)[0] for line in awx.log.read_text().splitlines()}
    optional = {"execution_environment", "notification_template"}
    assert made == set(RECORD["ctrliq.ascender"]["modules"]) - optional


def test_the_page_names_the_rights_of_the_templates() -> None:
    """Step 2 is for users who make the one service account by hand."""
    page = (CHECKOUT / "docs" / "awx.md").read_text()
    step = re.search(r"A service account and its token(.*?)```", page, re.DOTALL)
    assert step
    named = {f"role-{word.replace('_', '-')}" for word in re.findall(r"`([a-z_]+)`", step[1]) if word != "_info"}
    variables = yaml.safe_load((PLAYBOOKS / "vars" / "awx_setup.yml").read_text())
    templates = variables["__awx_setup_always"] + variables["__awx_setup_declare"]
    rights = {right for template in templates for right in template["rights"]}
    assert named == {right for right in rights if right.startswith("role-")}
    assert all((CHECKOUT / "docs" / "rbac" / f"{right}.yml").is_file() for right in rights)
    assert all(right.endswith("-info") for right in rights - named) and "`_info`" in step[1]


@pytest.mark.parametrize("path", sorted(SURVEYS.glob("*.json")), ids=lambda path: path.stem)
def test_surveys(path: Path) -> None:
    survey = json.loads(path.read_text())
    assert set(survey) == {"name", "description", "spec"} and survey["description"]
    variables = [question["variable"] for question in survey["spec"]]
    assert len(set(variables)) == len(variables)
    known = _variables(path.stem)
    for question in survey["spec"]:
        name = question["variable"]
        assert set(question) == {
            *("question_name", "question_description", "required", "type", "variable"),
            *("min", "max", "default", "choices", "new_question"),
        }
        assert name in known, f"{name} is no variable of the playbook"
        if question["type"] in ("multiplechoice", "multiselect"):
            choices = known[name].get("choices")
            assert not choices or set(question["choices"]) <= set(choices), name
            assert set(filter(None, question["default"].split("\n"))) <= set(question["choices"]), name
        elif question["type"] in ("integer", "float"):
            assert question["type"].startswith(known[name]["type"])
            assert question["min"] <= question["default"] <= question["max"]
        else:
            assert question["type"] == "text" and question["choices"] == ""
        # AWX refuses a launch by the API that has no answer to a required question, though it has a default.
        assert question["required"] is False, name
        if "default" in known[name] and known[name]["default"] not in ([], "", None, "*"):
            assert str(question["default"]) == str(known[name]["default"]).replace("True", "true").replace(
                "False", "false"
            )


def _variables(playbook: str) -> dict[str, Settings]:
    """The variables of a playbook and of the role that it runs, with type, choices and default where they are said."""
    text = (PLAYBOOKS / f"{playbook}.yml").read_text()
    _limit, play = yaml.safe_load(text)
    known: dict[str, Settings] = {name: {"default": value} for name, value in play.get("vars", {}).items()}
    for role in (CHECKOUT / "roles").iterdir():
        if f"name: virtshape.instancetypes.{role.name}\n" in text:
            spec = yaml.safe_load((role / "meta" / "argument_specs.yml").read_text())
            known.update(spec["argument_specs"]["main"]["options"])
    return known


def test_job_playbooks_prompt_nothing_and_set_artifacts() -> None:
    for path in SURVEYS.glob("*.json"):
        text = (PLAYBOOKS / f"{path.stem}.yml").read_text()
        limit, play = yaml.safe_load(text)
        assert limit["ansible.builtin.import_playbook"] == "plays/limit.yml"
        assert "vars_prompt" not in play and "ansible.builtin.pause" not in text
        where, variables = "['localhost']", limit.get("vars") or {}
        if variables.get("limit_chooses"):
            where = f"groups['playbook_host'] | default({where})"
        if "limit_clusters" in variables:
            where = f"groups['playbook_clusters'] | default({where})"
        assert play["hosts"] == f"{{{{ {where} }}}}" and play["gather_facts"] is False
        *before, last = play["tasks"]
        # The last block has them whatever fails, or the tasks after it save the reason.
        after = last.get("always") or [task for task in before if "block" not in task]
        assert all("rescue" in task for task in play["tasks"] if "block" in task)
        (stats,) = [task for task in after if "ansible.builtin.set_stats" in task]
        names = set(stats["ansible.builtin.set_stats"]["data"])
        prefix = next(iter(names)).rpartition("_")[0]
        assert {f"{prefix}_failed", f"{prefix}_msg"} <= names, path.stem
