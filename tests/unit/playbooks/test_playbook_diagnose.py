"""The playbook diagnose: the first causes of VMs in dumps as a table, of all VMs or of some."""

import json
from pathlib import Path
from typing import Any

from ansible_environment import played
from cluster_dumps import LAYOUTS, written

RECORDED = json.loads(
    (Path(__file__).parents[1] / "module_utils/_diagnosis/recorded_faults.json").read_text(encoding="utf-8")
)
TABLE = [
    "VIRTUAL MACHINE STATE FIRST CAUSE; REMEDY",
    "shop/web broken claim: the claim nowhere does not exist; restore the claim, or create it; a",
    " new one is empty",
]


def recorded(**faults: str) -> list[dict[str, Any]]:
    """The objects of VMs with faults. faults: the namespace of each → its fault."""
    result = list(RECORDED["common"])
    for namespace, fault in faults.items():
        text = json.dumps(RECORDED["faults"][fault]).replace('"shop"', f'"{namespace}"')
        result += json.loads(text)
    return result


JSON = {"ANSIBLE_CALLBACK_RESULT_FORMAT": "json"}


def diagnosed(folder: Path, *runs: dict[str, Any]) -> list[str]:
    """What the playbook printed with the variables of each run; one start of Ansible has all of them."""
    book = [
        {
            "ansible.builtin.import_playbook": "virtshape.instancetypes.diagnose",
            "vars": {f"diagnose_{name}": value for name, value in variables.items()},
        }
        for variables in runs
    ]
    printed = played(folder, book, **JSON).split("PLAY [Say why VMs do not run]")[1:]
    assert len(printed) == len(runs)
    return printed


def test_a_dump_of_each_layout_is_a_table(tmp_path: Path) -> None:
    objects = recorded(shop="missing claim", office="healthy")
    dumps = [str(written(layout, tmp_path / layout, objects)) for layout in LAYOUTS]
    printed = diagnosed(tmp_path, *({"files": dump, "tasks": True} for dump in dumps))
    for layout, output in zip(LAYOUTS, printed):
        assert ", ".join(f'"{line}"' for line in TABLE) in output, layout
        assert '"1 broken, 1 running"' in output and "office/web" not in output, layout
        assert "kubectl create --filename -" in output, layout


def test_some_vms_are_chosen(tmp_path: Path) -> None:
    dump = str(written("kubectl_json", tmp_path / "dump", recorded(shop="missing claim", office="missing claim")))
    chosen: list[tuple[dict[str, Any], list[str]]] = [
        ({"names": "shop/web"}, ["shop/web"]),
        ({"names": ["web"]}, ["office/web", "shop/web"]),
        ({"namespaces": "office,other"}, ["office/web"]),
        ({"names": "web", "namespaces": ["shop"]}, ["shop/web"]),
    ]
    printed = diagnosed(tmp_path, *({"files": dump, **variables} for variables, _named in chosen))
    for output, (variables, named) in zip(printed, chosen):
        assert [name for name in ("office/web", "shop/web") if f'"{name} ' in output] == named, variables


def test_a_name_that_no_vm_has_is_refused(tmp_path: Path) -> None:
    playbook = "virtshape.instancetypes.diagnose"
    dump = str(written("kubectl_json", tmp_path / "dump", recorded(shop="missing claim")))
    given = {"diagnose_files": dump, "diagnose_names": "shop/wbe"}
    output = played(tmp_path, playbook, variables=given, fails=True, **JSON)
    assert "diagnose_names: there is no VM shop/wbe among the 1 that were read; did you mean shop/web" in output
    output = played(tmp_path, playbook, variables={"diagnose_files": "/nowhere"}, fails=True, **JSON)
    assert "/nowhere: no such file or folder" in output
