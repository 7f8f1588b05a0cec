"""The pages for users of kubevirt.core and of Terraform: both tools declare the VM that this collection declares."""

import re
from pathlib import Path
from typing import Any

import yaml

from modules_support import execute
from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.plugin_utils._check.findings import Location
from plugins.plugin_utils._check.tasks import task_manifests

DOCS = Path(__file__).resolve().parents[3] / "docs"


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def declared_here(task: Manifest) -> Manifest:
    """The manifest that the module would send."""
    options = {**task["virtshape.instancetypes.virtual_machine"], "state": "rendered"}
    (result,) = execute("virtual_machine", options)["rendered"]
    return without_empty(result)


def without_empty(value: Any) -> Any:
    """An empty mapping, such as labels that nobody gave, says nothing."""
    if not isinstance(value, dict):
        return value
    inside = {key: without_empty(entry) for key, entry in value.items()}
    return {key: entry for key, entry in inside.items() if entry != {}}


def test_kubevirt_core_declares_the_same_vm() -> None:
    page = "from_kubevirt_core.md"
    (theirs,), (ours,) = map(yaml.safe_load, blocks(page, "yaml")[:2])
    (found,) = task_manifests(Location(page), [theirs])
    assert without_empty(found.manifest) == declared_here(ours)


def test_terraform_declares_the_same_vm() -> None:
    page = "from_terraform.md"
    (configuration,) = blocks(page, "terraform")
    manifest = configuration.partition("<<-EOT\n")[2].partition("EOT\n")[0]
    (ours,) = yaml.safe_load(blocks(page, "yaml")[0])
    assert without_empty(yaml.safe_load(manifest)) == declared_here(ours)
