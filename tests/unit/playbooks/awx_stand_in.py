"""Stand-ins for the modules of awx.awx and ctrliq.ascender: check and note options, refuse what AWX would refuse."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[2]
RECORD = json.loads((HERE / "awx_modules.json").read_text())

MODULE = """\
import json
import sys
from ansible.module_utils.basic import AnsibleModule
sys.path.append({rules!r})
from awx_rules import Refused, schedule
module = AnsibleModule(argument_spec=json.loads({spec!r}), supports_check_mode=True)
given = {{name: value for name, value in module.params.items() if value is not None}}
try:
    if {name!r} == "schedule":
        noted = [json.loads(line) for line in open({log!r})]
        survey = [one["survey_spec"]["spec"] for name, one in noted
                  if name == "job_template" and one["name"] == given["unified_job_template"]]
        schedule(survey[0], given.get("extra_data", {{}}))
except Refused as error:
    module.fail_json(msg="Unable to create schedule " + given["name"] + ": " + str(error.answer))
with open({log!r}, "a") as log:
    log.write(json.dumps([{name!r}, given]) + "\\n")
module.exit_json(changed=True)
"""

Settings = dict[str, Any]


class Awx:
    """Runs the playbook; what the modules were given is in the order of the tasks."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "log.jsonl"
        for collection, record in RECORD.items():
            modules = folder.joinpath("ansible_collections", *collection.split("."), "plugins", "modules")
            modules.mkdir(parents=True)
            for name, spec in record["modules"].items():
                text = MODULE.format(spec=json.dumps(spec), log=str(self.log), name=name, rules=str(HERE))
                (modules / f"{name}.py").write_text(text)

    def run(self, *arguments: str, settings: dict[str, str] | None = None, **variables: Any) -> tuple[int, str]:
        """Exit code and output. settings: how the cluster is reached, in place of a token."""
        (self.folder / "ca.crt").write_text("the authority\n")
        hidden = ("K8S_AUTH_", "KUBECONFIG", "ANSIBLE_")
        token = {
            "K8S_AUTH_HOST": "https://cluster.example.com:6443",
            "K8S_AUTH_API_KEY": "s3cr3t",
            "K8S_AUTH_SSL_CA_CERT": "ca.crt",
        }
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(hidden)},
            **(token if settings is None else settings),
            "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": f"{self.folder}:{CHECKOUT / '.cache' / 'collections'}",
            "ANSIBLE_NOCOLOR": "1",
            "LC_ALL": "C.UTF-8",
        }
        extra = json.dumps({f"awx_setup_{name}": value for name, value in variables.items()})
        command = [str(Path(sys.executable).with_name("ansible-playbook")), "virtshape.instancetypes.awx_setup"]
        done = subprocess.run(
            [*command, "-vv", "-e", extra, *arguments],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def given(self, module: str) -> list[Settings]:
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [given for name, given in lines if name == module]
