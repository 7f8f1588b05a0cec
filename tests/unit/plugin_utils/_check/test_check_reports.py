"""The reports of the check, each read by what is made to read it."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from sarif_pydantic import Sarif

from plugins.module_utils._resolver.api.finding import ERROR, NOTE, WARNING
from plugins.plugin_utils._check import command, reports
from plugins.plugin_utils._check.findings import RULES, LocatedFinding, Location

PAGE = (Path(__file__).parents[4] / "docs" / "check.md").read_text()


def found(rule: str, severity: str, file: str, line: int, label: str, field: str, text: str) -> LocatedFinding:
    return LocatedFinding(text, severity, field, rule=rule, location=Location(file, line=line), label=label)


FINDINGS = (
    found("refused", ERROR, "a b/vm.yaml", 7, "VirtualMachine shop/web", "spec.instancetype", "conflicts, 100%"),
    found("deprecated", WARNING, "a b/vm.yaml", 9, "VirtualMachine shop/web", "spec.running", "old"),
    found("unchecked", NOTE, "a b/vm.yaml", 0, "VirtualMachine shop/db", "", "has a \x1b template"),
    found("unreadable", ERROR, "/x.yaml", 3, "", "", "line\nbreak"),
)
OBJECTS = (
    ("VirtualMachine shop/web", "a b/vm.yaml"),
    ("VirtualMachine shop/db", "a b/vm.yaml"),
    ("VirtualMachine shop/ok", "c.yaml"),
)
REPORT = reports.Report(FINDINGS, OBJECTS, "1.9")


def test_text_report_has_findings_and_summary() -> None:
    assert reports.text(REPORT).splitlines()[0] == (
        "a b/vm.yaml:7: error: VirtualMachine shop/web: spec.instancetype: conflicts, 100% [refused]"
    )
    assert reports.text(REPORT).endswith("\n3 objects checked for KubeVirt 1.9: 2 errors, 1 warning, 1 note\n")
    nothing = reports.text(reports.Report((), OBJECTS[:1], "1.9"))
    assert nothing == "1 object checked for KubeVirt 1.9: nothing found\n"


def test_json() -> None:
    data = json.loads(reports.as_json(REPORT))
    assert data["kubevirt_version"] == "1.9" and data["objects"] == 3
    assert data["findings"][1] == {
        "rule": "deprecated",
        "level": "warning",
        "file": "a b/vm.yaml",
        "line": 9,
        "object": "VirtualMachine shop/web",
        "field": "spec.running",
        "message": "old",
    }


def test_junit() -> None:
    suite = ElementTree.fromstring(reports.junit(REPORT)).find("testsuite")
    assert suite is not None and (suite.get("tests"), suite.get("failures")) == ("4", "2")
    cases = {(case.get("classname"), case.get("name")): case for case in suite}
    web = cases["a b/vm.yaml", "VirtualMachine shop/web"]
    failure, output = web.find("failure"), web.find("system-out")
    assert failure is not None and failure.get("message") == "conflicts, 100%"
    assert output is not None and output.text is not None and "spec.running: old" in output.text
    # A note is no failure, and the object without a finding is there.
    assert cases["a b/vm.yaml", "VirtualMachine shop/db"].find("failure") is None
    assert len(cases["c.yaml", "VirtualMachine shop/ok"]) == 0
    assert cases["/x.yaml", "/x.yaml"].find("failure") is not None


def test_sarif() -> None:
    # The model refuses what the schema of SARIF 2.1.0 refuses: missing properties, other levels, other types.
    run = Sarif.model_validate_json(reports.sarif(REPORT)).runs[0]
    assert [rule.id for rule in run.tool.driver.rules or []] == list(RULES)
    locations = [result.locations[0].physical_location for result in run.results or []]
    assert [location.artifact_location.uri for location in locations] == ["a%20b/vm.yaml"] * 3 + ["file:///x.yaml"]
    assert [location.region and location.region.start_line for location in locations] == [7, 9, None, 3]
    for result in run.results or []:
        assert list(RULES)[result.rule_index] == result.rule_id


def test_github() -> None:
    assert reports.github(REPORT).splitlines()[:4] == [
        "::error file=a b/vm.yaml,line=7,title=refused::VirtualMachine shop/web: spec.instancetype: conflicts, 100%25",
        "::warning file=a b/vm.yaml,line=9,title=deprecated::VirtualMachine shop/web: spec.running: old",
        "::notice file=a b/vm.yaml,title=unchecked::VirtualMachine shop/db: has a \x1b template",
        "::error file=/x.yaml,line=3,title=unreadable::line%0Abreak",
    ]


def test_the_page_has_all_rules_and_options() -> None:
    assert set(re.findall(r"^\| `([a-z-]+)` \| (?:error|warning|note)", PAGE, re.MULTILINE)) == set(RULES)
    options = {option for action in command._parser()._actions for option in action.option_strings}
    assert set(re.findall(r"^\| `(--[a-z-]+)", PAGE, re.MULTILINE)) == options - {"-h", "--help"}
