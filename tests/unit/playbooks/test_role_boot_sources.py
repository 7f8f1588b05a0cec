"""The images that the role boot_sources knows, and the table that it prints."""

from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml

from plugins.module_utils._boot_sources import source
from plugins.module_utils._boot_sources.image import reference
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.catalog.bundle import bundle
from plugins.module_utils._resolver.choose.fitting import rejection_of_pair

ROLES = Path(__file__).parents[3] / "roles"
ROLE = ROLES / "boot_sources"
KNOWN: dict[str, dict[str, Any]] = yaml.safe_load((ROLE / "vars" / "main.yml").read_text())["__boot_sources_known"]
DEFAULTS = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text())


@pytest.fixture(scope="module")
def catalog() -> dict[tuple[str, str], dict[str, Any]]:
    files = sorted((ROLES / "common_instancetypes" / "files" / "catalog").glob("*.yml"))
    objects = bundle([yaml.safe_load(path.read_text()) for path in files]).objects
    return {(item["kind"], item["metadata"]["name"]): item for item in objects}


def options(name: str) -> dict[str, Any]:
    template = jinja2.Environment().from_string(yaml.safe_dump(KNOWN[name]))
    values: dict[str, Any] = yaml.safe_load(template.render(DEFAULTS))
    upload = {} if values.get("image") else {"upload": {"path": "disk.qcow2"}}
    return {"namespace": "golden", "state": "present", "keep": 3, **values, **upload}


@pytest.mark.parametrize("name", KNOWN)
def test_known_image_names_objects_of_builtin_catalog(name: str, catalog: dict[tuple[str, str], Any]) -> None:
    own = KNOWN[name]
    instancetype = catalog["VirtualMachineClusterInstancetype", own["instancetype"]["name"]]
    preference = catalog["VirtualMachineClusterPreference", own["preference"]["name"]]

    assert rejection_of_pair(instancetype, preference, "amd64", NEWEST) == ""


@pytest.mark.parametrize("name", KNOWN)
def test_known_image_gives_a_valid_boot_source(name: str) -> None:
    values = options(name)

    assert source.represented_object(values)["metadata"]["name"] == name
    if values.get("image"):
        assert reference(values["image"]).registry == "quay.io" and values["schedule"] == "0 */12 * * *"
        cron = source.cron(values, source.defaults(values, []))
        assert len(cron["metadata"]["labels"]) == 4


def test_the_readme_names_all_images() -> None:
    text = (ROLE / "README.md").read_text()
    assert [name for name in KNOWN if f"`{name}`" not in text] == []


def test_table_has_a_line_per_boot_source() -> None:
    label = "instancetype.kubevirt.io/default-"
    labels = {f"{label}instancetype": "u1.medium", f"{label}preference": "fedora"}
    created = {
        "namespace": "golden",
        "name": "fedora",
        "action": "create",
        "failed": False,
        "ready": True,
        "labels": labels,
    }
    lost = {"namespace": "golden", "name": "lost", "action": "none", "failed": True}
    template = jinja2.Environment(trim_blocks=True).from_string((ROLE / "templates" / "table.txt.j2").read_text())

    def lines(**result: Any) -> list[str]:
        return [" ".join(line.split()) for line in template.render(boot_sources_result=result).splitlines()]

    assert lines(msg="1 of 2 boot sources failed", results=[{**created, "labels": labels}, lost]) == [
        "NAMESPACE BOOT SOURCE ACTION READY INSTANCETYPE PREFERENCE",
        "golden fedora create yes u1.medium fedora",
        "golden lost none failed - -",
        "",
        "1 of 2 boot sources failed",
    ]
    assert lines(msg="size: required") == ["size: required"]
