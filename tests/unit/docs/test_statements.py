"""Statements of documentation and changelog that code can check: states, versions, paths, results, variables."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from plugins.module_utils._cluster.modules.declared_results import result_of
from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.change import drift
from plugins.module_utils._resolver.change.declared import NOT_PLANNED, declare_job
from plugins.module_utils._resolver.declare import plan

CHECKOUT = Path(__file__).resolve().parents[3]
PLUGINS = [path for kind in ("modules", "filter", "inventory") for path in (CHECKOUT / "plugins" / kind).glob("*.*")]


def test_documented_lists_of_revision_states_are_complete() -> None:
    states = {drift.CURRENT, drift.DRIFTED, drift.GONE, drift.REVISION_LOST, drift.NOT_CAPTURED, drift.UNKNOWN}
    for path in PLUGINS:
        for paragraph in re.split(r"\n\s*- |\n\s*description: ", path.read_text(encoding="utf-8")):
            # The list itself, not a sentence about one state.
            if f"V({drift.REVISION_LOST})" in paragraph and f"V({drift.CURRENT})" in paragraph:
                assert states <= set(re.findall(r"V\((\w+)\)", paragraph)), path.name


def documented(module: str) -> dict[str, Any]:
    source = (CHECKOUT / "plugins" / "modules" / f"{module}.py").read_text(encoding="utf-8")
    returned: dict[str, Any] = yaml.safe_load(source.partition('RETURN = r"""')[2].partition('"""')[0])
    return returned


def result_keys(module: str) -> set[str]:
    """The keys of the results of objects, with those of the module to which the documentation refers."""
    results = documented(module)["results"]
    own = set(results.get("contains", ()))
    shared = "with the keys of RV(virtshape.instancetypes.instancetype#module:results)" in results["description"]
    return own | result_keys("instancetype") if shared else own


@pytest.mark.parametrize(
    "module", ["virtual_machine", "virtual_machine_template", "instancetype", "preference", "boot_source"]
)
def test_results_of_any_object_are_documented(module: str) -> None:
    result = declare_job(ObjectKey("A", "b", "a"), "present", {}, problem="x")
    result.goal.plan, result.skip_reason = NOT_PLANNED._replace(action=plan.APPLY, taken_from=("kubectl",)), "x"
    result.warn("x")
    returned = result_of(result)
    assert {"skip_reason", "taken_over", "owned_by_others"} < set(returned)
    # Ownership of the parts of a boot source is not returned.
    unknown = {"taken_over_from", "owned_by_others"} if module == "boot_source" else set()
    assert set(returned) - unknown <= result_keys(module)


def test_success_messages_are_documented() -> None:
    utils = CHECKOUT / "plugins/module_utils"
    paths = [*utils.glob("_cluster/modules/*.py"), *utils.glob("_*/cluster/*.py")]
    named = {path.stem for path in (CHECKOUT / "plugins/modules").glob("*.py")}
    success = re.compile(r'return \{\*\*\w+, "msg": (?!.*"failed")|^        "msg": f"|changed_result\(', re.MULTILINE)
    saying = [path.stem for path in paths if success.search(path.read_text(encoding="utf-8"))]
    modules = [name for name in saying if name in named]
    assert len(modules) > 3
    assert [name for name in modules if "msg" not in documented(name)] == []


def test_variables_of_playbooks_are_documented() -> None:
    pages = [*CHECKOUT.glob("docs/*.md"), *CHECKOUT.glob("roles/*/README.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    # Not for users: what plays tell each other and Ansible.
    inner = re.compile("_|ansible_|limit_(chooses|clusters)$")
    plays = {
        path.name: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in (CHECKOUT / "playbooks").glob("*.yml")
        if path.stem != "demo"
    }
    names = {(file, name) for file, all_of in plays.items() for play in all_of for name in play.get("vars") or {}}
    assert len(names) > 30
    assert sorted((file, name) for file, name in names if not inner.match(name) and name not in text) == []


def test_reliability_page_lists_every_request_rate_limit() -> None:
    files = [*CHECKOUT.glob("playbooks/*.yml"), *CHECKOUT.glob("roles/*/defaults/main.yml")]
    names = {
        name
        for file in files
        for name in re.findall(r"^ *([a-z]\w*_qps): ", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    page = (CHECKOUT / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert len(names) > 5
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def test_version_added_is_never_above_the_next_release() -> None:
    version = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text())["version"]
    added = {
        text
        for path in PLUGINS
        for text in re.findall(r"version_added: [\"']?([0-9.]+)", path.read_text(encoding="utf-8"))
    }
    assert added
    assert all(tuple(map(int, item.split("."))) <= tuple(map(int, version.split("."))) for item in added)


def test_files_named_by_development_page_exist() -> None:
    page = (CHECKOUT / "docs" / "development.md").read_text(encoding="utf-8")
    roots = [CHECKOUT, *(CHECKOUT / part for part in ("plugins/module_utils", "roles/local_cluster/files"))]
    named = {span for span in re.findall(r"`([\w./-]+/[\w./-]+)`", page) if not re.search(r"[A-Z]{3}|^\.|^pkg/", span)}
    assert len(named) > 10
    missing = [span for span in named if not any((root / span.rstrip("/")).exists() for root in roots)]
    assert missing == []
