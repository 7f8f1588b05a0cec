"""The check of files that are read from a cluster: why its VMs do not run."""

import json
from pathlib import Path

import pytest

from plugins.plugin_utils._check.command import main

RECORDED = Path(__file__).parents[2] / "module_utils/_diagnosis/recorded_faults.json"


def written(folder: Path, fault: str, together: bool) -> None:
    """The objects of a recorded fault as files: a list, as of kubectl, or one each, as of must-gather."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    items = [*recorded["common"], *recorded["faults"][fault]]
    if together:
        content = {"apiVersion": "v1", "kind": "List", "items": items}
        (folder / "all.json").write_text(json.dumps(content), encoding="utf-8")
        return
    for index, item in enumerate(items):
        place = folder / "namespaces" / "shop" / item["kind"].lower()
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{index}.yaml").write_text(json.dumps(item), encoding="utf-8")


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(("fault", "link"), [("missing claim", "claim"), ("quota", "quota"), ("healthy", "")])
def test_folder_of_a_cluster_is_diagnosed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str, link: str, together: bool
) -> None:
    written(tmp_path, fault, together)
    code = main([str(tmp_path)])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.endswith("[does-not-run]")]
    assert len(lines) == code == (1 if link else 0)
    assert all(f"VirtualMachine shop/web: {link}: " in line for line in lines)


def test_declared_vms_are_not_diagnosed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, "missing claim", True)
    content = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    for item in content["items"]:
        item.pop("status", None)
    (tmp_path / "all.json").write_text(json.dumps(content), encoding="utf-8")
    main([str(tmp_path)])
    assert "does-not-run" not in capsys.readouterr().out
