"""The playbook diagnose: the first causes of VMs in dumps as a table, of all VMs or of some."""

import json
from pathlib import Path
from typing import Any

import pytest
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


def diagnosed(folder: Path, dump: Path, *, fails: bool = False, **variables: Any) -> str:
    given = {f"diagnose_{name}": value for name, value in variables.items()}
    around = {"ANSIBLE_CALLBACK_RESULT_FORMAT": "json"}
    return played(
        folder,
        "virtshape.instancetypes.diagnose",
        variables={"diagnose_files": str(dump), **given},
        fails=fails,
        **around,
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_dump_is_a_table(tmp_path: Path, layout: str) -> None:
    dump = written(layout, tmp_path / "dump", recorded(shop="missing claim", office="healthy"))
    output = diagnosed(tmp_path, dump, tasks=True)
    assert ", ".join(f'"{line}"' for line in TABLE) in output
    assert '"1 broken, 1 running"' in output and "office/web" not in output
    assert "kubectl create --filename -" in output


@pytest.mark.parametrize(
    ("chosen", "named"),
    [
        ({"names": "shop/web"}, ["shop/web"]),
        ({"names": ["web"]}, ["office/web", "shop/web"]),
        ({"namespaces": "office,other"}, ["office/web"]),
        ({"names": "web", "namespaces": ["shop"]}, ["shop/web"]),
    ],
)
def test_some_vms_are_chosen(tmp_path: Path, chosen: dict[str, Any], named: list[str]) -> None:
    dump = written("kubectl_json", tmp_path / "dump", recorded(shop="missing claim", office="missing claim"))
    output = diagnosed(tmp_path, dump, **chosen)
    assert [name for name in ("office/web", "shop/web") if f'"{name} ' in output] == named


def test_a_name_that_no_vm_has_is_refused(tmp_path: Path) -> None:
    dump = written("kubectl_json", tmp_path / "dump", recorded(shop="missing claim"))
    output = diagnosed(tmp_path, dump, fails=True, names="shop/wbe")
    assert "diagnose_names: there is no VM shop/wbe among the 1 that were read; did you mean shop/web" in output
    assert "/nowhere: no such file or folder" in diagnosed(tmp_path, Path("/nowhere"), fails=True)
