"""tools/test_real.py: how a report is read, and the table at the end."""

from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from loaded_files import load

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load(CHECKOUT / "tools" / "test_real.py")


def test_a_report_and_its_table(tool: ModuleType, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        """<testsuites><testsuite>
        <testcase name="a"/>
        <testcase name="b"/>
        <testcase name="b"><failure message="no">text</failure></testcase>
        <testcase name="c"><error message="no">text</error></testcase>
        <testcase name="d"><skipped message="the cluster lacks storage"/></testcase>
        <testcase name="e"><skipped message="own"/></testcase>
        <testcase name="f"><skipped message="own"/></testcase>
        </testsuite></testsuites>"""
    )
    outcome = tool.read_report(report)
    assert outcome == (1, 2, Counter({"own": 2, "the cluster lacks storage": 1}))
    assert tool.table({"integration": outcome, "demo": tool.Outcome(1, 0, Counter())}).splitlines() == [
        "",
        "part          passed  failed  left out  why",
        "integration        1       2         3  2: own",
        "                                        1: the cluster lacks storage",
        "demo               1       0         0",
    ]
