"""Tests against the cluster of KUBECONFIG, whatever it is: `python tools/test_real.py [--only demo]`.

The integration tests, then the demo; what the cluster lacks something for is left out. Ends with a table of what passed
and what was left out, and why; exits 1 if anything failed. The tests make namespaces of their own and,
for a moment, cluster-wide objects with names of their own; the demo deploys the common instancetypes that the cluster
does not have yet.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

CHECKOUT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
TESTS = CHECKOUT / "tests"
sys.path.append(str(TESTS))

from given_cluster import FEATURES, look  # noqa: E402


class Outcome(NamedTuple):
    """left_out: reason → number of tests."""

    passed: int
    failed: int
    left_out: Counter[str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(PARTS), action="append", help="of these parts (default: all)")
    options = parser.parse_args()
    kubeconfig = os.environ.get("K8S_AUTH_KUBECONFIG") or os.environ.get("KUBECONFIG")
    if not kubeconfig:
        print("test-real: KUBECONFIG: is not set; name the kubeconfig of the cluster to test with", file=sys.stderr)
        return 1
    cluster = look(Path(kubeconfig).expanduser())
    lacks = ", ".join(text for name, text in FEATURES.items() if name not in cluster.has) or "nothing"
    print(f"== KubeVirt {cluster.release or 'of an unknown release'}; the cluster lacks {lacks}", flush=True)
    outcomes = {name: PARTS[name](kubeconfig) for name in options.only or PARTS}
    print(table(outcomes))
    return 1 if any(outcome.failed for outcome in outcomes.values()) else 0


def integration(_kubeconfig: str) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "--given-cluster", f"--junitxml={report}", "--numprocesses", "2"]
        run_and_show([*command, "--dist", "worksteal", TESTS / "integration"])
        if not report.exists():
            return Outcome(0, 1, Counter())
        return read_report(report)


def demo(kubeconfig: str) -> Outcome:
    run = f"demo-{uuid.uuid4().hex[:8]}"
    namespaces = [f"{run}-shop", f"{run}-office"]
    variables = ["use_cluster=true", f"demo_shop={namespaces[0]}", f"demo_office={namespaces[1]}"]
    command = [BIN / "ansible-playbook", "virtshape.instancetypes.demo"]
    command += [part for variable in variables for part in ("-e", variable)]
    try:
        done = run_and_show(command, KUBECONFIG=kubeconfig)
    finally:
        remove(kubeconfig, namespaces)
    failed = not re.search(r"^localhost .* failed=0 ", done, re.MULTILINE)
    return Outcome(int(not failed), int(failed), Counter())


PARTS: dict[str, Callable[[str], Outcome]] = {"integration": integration, "demo": demo}


def read_report(report: Path) -> Outcome:
    """What pytest wrote as JUnit XML. A test that was tried again has an empty entry for each try before the last."""
    cases = {(case.get("classname"), case.get("name")): case for case in _worst_last(report)}
    passed, failed = 0, 0
    left_out: Counter[str] = Counter()
    for case in cases.values():
        skipped = case.find("skipped")
        if skipped is not None:
            left_out[skipped.get("message", "")] += 1
        elif _failed(case):
            failed += 1
        else:
            passed += 1
    return Outcome(passed, failed, left_out)


def _failed(case: ElementTree.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def _worst_last(report: Path) -> list[ElementTree.Element]:
    return sorted(ElementTree.parse(report).iter("testcase"), key=_failed)


def table(outcomes: dict[str, Outcome]) -> str:
    row = "{:<12} {:>7} {:>7} {:>9}  {}".format
    lines = ["", row("part", "passed", "failed", "left out", "why")]
    for name, outcome in outcomes.items():
        reasons = [f"{number}: {reason}" for reason, number in outcome.left_out.most_common()]
        lines.append(row(name, outcome.passed, outcome.failed, outcome.left_out.total(), "".join(reasons[:1])).rstrip())
        lines += [row("", "", "", "", reason) for reason in reasons[1:]]
    return "\n".join(lines)


def run_and_show(command: list[object], **environment: str) -> str:
    """The output of a command, which is shown as it comes."""
    words = [str(word) for word in command]
    print("==", *[Path(words[0]).name, *words[1:]], flush=True)
    lines = []
    with subprocess.Popen(
        words, cwd=CHECKOUT, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    return "".join(lines)


def remove(kubeconfig: str, namespaces: list[str]) -> None:
    from kubernetes import client, config

    with config.new_client_from_config(kubeconfig) as connection:
        for name in namespaces:
            try:
                client.CoreV1Api(connection).delete_namespace(name)
            except client.ApiException as error:
                if error.status != 404:
                    print(f"the namespace {name} is left over: {error.reason}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
