"""The comment of a pull request: guests before and after, findings, and nothing that the repository's text could do."""

from collections.abc import Callable
from typing import Any

import pytest
from checked_files import instancetype
from checked_files import vm as manifest

from plugins.plugin_utils._check import reports
from plugins.plugin_utils._check.findings import LocatedFinding, Location

Comment = Callable[..., list[str]]


def vm(name: str, size: str, **more: str) -> dict[str, Any]:
    return manifest(name, instancetype={"name": size, **more})


@pytest.fixture
def comment(check: Any) -> Comment:
    """The lines of the comment about a change."""

    def run(before: list[Any], after: list[Any]) -> list[str]:
        check({"base/vm.yaml": before})
        lines: list[str] = check({"head/vm.yaml": after}, "--format", "markdown", "--base", "base")[1]
        return lines

    return run


def changed(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("| VirtualMachine ")]


def test_changed_guests_are_shown_before_and_after(comment: Comment) -> None:
    before = [vm("web", "u1.small"), vm("same", "u1.small"), vm("wrong", "u1.nosuch")]
    lines = comment(before, [vm("web", "u1.medium"), vm("same", "u1.small"), vm("wrong", "u1.small")])
    assert "| VM | guest before | guest after | a running guest needs |" in lines
    (row,) = changed(lines)
    assert row.startswith("| VirtualMachine shop/web | 1 vCPU, 2Gi | 1 vCPU, 4Gi | ")


USER = vm("web", "own", kind="VirtualMachineInstancetype")
SMALL, LARGE = (instancetype("own", 1, "shop", memory={"guest": memory}) for memory in ("2Gi", "4Gi"))


def test_guests_change_with_their_instancetype_alone(comment: Comment) -> None:
    others = [USER, vm("other", "u1.small"), vm("wrong", "u1.nosuch")]
    assert changed(comment([SMALL, *others], [LARGE, *others])) == [
        "| VirtualMachine shop/web | 1 vCPU, 2Gi | 1 vCPU, 4Gi | a refresh, then a live update |",
    ]


def test_guests_without_their_instancetype_are_left_out(comment: Comment) -> None:
    lines = comment([SMALL, USER], [USER])
    assert not changed(lines)
    assert any(line.startswith("| error | ") and '"own" not found' in line for line in lines)


def test_a_comment_without_base_has_findings_only(check: Any) -> None:
    code, lines = check({"vm.yaml": vm("web", "u1.medum")}, "--format", "markdown")
    assert code == 1 and "| VM |" not in str(lines) and "u1.medum" in str(lines)


def test_text_of_the_repository_is_no_markup() -> None:
    hostile = "@all <img src=x> [click](http://x) | *a*\n# b `c`"
    finding = LocatedFinding(hostile, rule="invalid", location=Location("a.yml"))
    row = reports.markdown(reports.Report([finding], [], "1.9")).splitlines()[-1]
    text = row.removeprefix("| error | a.yml | ").removesuffix(" |")
    assert not set("@<>[]|*`") & set(text) and "&#64;all" in text


def test_long_comments_are_cut() -> None:
    finding = LocatedFinding("wrong", rule="invalid", location=Location("a.yml"))
    lines = reports.markdown(reports.Report([finding] * 120, [], "1.9")).splitlines()
    assert sum("wrong" in line for line in lines) == 100 and lines[-1] == "20 more findings are in the log."
