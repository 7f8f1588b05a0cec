"""Bad input to awx_setup is refused, and what it gives to AWX fits the modules and the playbooks. A smoke run is
tests/integration/playbooks/test_awx_smoke.py."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible_environment import played

from plugins.plugin_utils._filter_functions.variables import survey

CHECKOUT = Path(__file__).resolve().parents[3]
PLAYBOOKS = CHECKOUT / "playbooks"
SURVEYS = PLAYBOOKS / "awx" / "surveys"

# The modules of each collection, with the types of their options.
RECORD = json.loads((Path(__file__).parent / "awx_modules.json").read_text())
# A service account's token and what goes with it.
TOKEN = {"K8S_AUTH_HOST": "https://cluster.example.com:6443", "K8S_AUTH_API_KEY": "s3cr3t"}

Settings = dict[str, Any]


@pytest.mark.parametrize(
    ("variables", "environment", "message"),
    [
        (
            {"cluster_host": ""},
            {},
            "awx_setup_cluster_host: is empty; write the address of the API server, or set K8S_AUTH_HOST",
        ),
        ({"cluster_token": ""}, {}, "awx_setup_cluster_token: is empty; give the token of a service account"),
        ({}, {"K8S_AUTH_SSL_CA_CERT": "none.crt"}, "none.crt; name the file of the cluster"),
        (
            {"service_accounts": "awx"},
            {"KUBECONFIG": "none.yml", "K8S_AUTH_HOST": "", "K8S_AUTH_API_KEY": ""},
            "awx_setup_service_accounts: kubernetes.config.config_exception.ConfigException: Invalid kube-config file.",
        ),
        ({"slices": "many"}, {}, "awx_setup_slices: is many; write a whole number, 1 or more"),
        (
            {"collection": "ascender"},
            {},
            "awx_setup_collection: is ascender; write awx.awx, or ctrliq.ascender for Ascender",
        ),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, variables: Settings, environment: dict[str, str], message: str) -> None:
    extra = {f"awx_setup_{name}": value for name, value in variables.items()}
    around = {**TOKEN, **environment}
    output = played(tmp_path, "virtshape.instancetypes.awx_setup", variables=extra, fails=True, bare=True, **around)
    assert message in output and "Create the project" not in output


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
def test_surveys(path: Path, tmp_path: Path) -> None:
    content = json.loads(path.read_text())
    assert set(content) == {"name", "description", "spec"} and content["description"]
    variables = [question["variable"] for question in content["spec"]]
    assert len(set(variables)) == len(variables)
    known = _variables(path.stem)
    for question in content["spec"]:
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
        if question["type"] == "text":
            # AWX marks texts as unsafe, and ansible-core reads some of them as numbers.
            (tmp_path / "extravars").write_text(f"!unsafe '{name}': !unsafe '{question['default']}'\n")
            assert survey(DataLoader().load_from_file(str(tmp_path / "extravars"))[name]) == question["default"]
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
