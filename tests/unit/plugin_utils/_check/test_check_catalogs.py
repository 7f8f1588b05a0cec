"""The check of catalogs in the language of this collection, and of the VMs that use them."""

from collections.abc import Callable

import pytest
from checked_files import preference, vm

Check = Callable[..., tuple[int, list[str]]]

CATALOG = """
series:
  web:
    sizes:
      small: {cpu: 1, memory: 1Gi}
      WRONG
families:
  base:
    spec: {}
  acme:
    requires: {memory: 512Gi}
    preferences:
      acme.9: {}
"""


def test_findings_about_a_catalog_have_their_lines(check: Check) -> None:
    _code, lines = check({"own.yml": CATALOG.replace("WRONG", "")})
    assert lines[0].startswith("own.yml:13: warning: VirtualMachineClusterPreference acme.9: spec.requirements"), lines
    assert lines[1].startswith("2 objects checked"), lines


@pytest.mark.parametrize(
    ("wrong", "line", "message"),
    [
        ("bad: {cpu: 0, memory: 1Gi}", 6, "instancetype web.bad: spec.cpu.guest: 0 is too small; write 1 or more"),
        ("bad: {cpu: 1, memry: 1Gi}", 6, "series.web.sizes.bad: unknown key 'memry'"),
        ("bad: {cpu: 1, memory: 1Gi, extends: gone}", 6, "series.web.sizes.bad: extends: "),
        ("size: []", 6, "series.web: sizes: size: expected an object"),
        ("\n  db: {size: {}}", 7, "series.db: unknown key 'size'; did you mean sizes?"),
    ],
    ids=str,
)
def test_wrong_entry_leaves_the_others(check: Check, wrong: str, line: int, message: str) -> None:
    web = vm(instancetype={"name": "web.small"}, preference={"name": "acme.9"}, runStrategy="Halted")
    code, lines = check({"own.yml": CATALOG.replace("WRONG", wrong), "vm.yml": web}, "--ignore", "unsatisfied")
    assert code == 1 and lines[0].startswith(f"own.yml:{line}: error: {message}"), lines
    assert len(lines) == 3 and "insufficient Memory resources of 1Gi" in lines[1]


def test_wrong_version_leaves_out_its_document(check: Check) -> None:
    versions = {"versions": {"v1": {"series": {"web": {"sizes": {"bad": {"cpu": 0}}}}}}, "series": {}}
    other = {"series": {"db": {"sizes": {"small": {"cpu": 1, "memory": "1Gi"}}}}}
    code, lines = check({"own.yml": versions, "other.yml": other, "vm.yml": vm(instancetype={"name": "db.small"})})
    assert code == 1 and lines[0].startswith("own.yml:1: error: ") and len(lines) == 2, lines


def test_vms_use_what_tasks_define(check: Check) -> None:
    task = {
        "virtshape.instancetypes.catalog": {
            "source": "definitions",
            "definitions": [
                {"series": {"db": {"sizes": {"small": {"cpu": 1, "memory": "1Gi"}}}}},
                preference(requirements={"memory": {"guest": "1Gi"}}),
            ],
        }
    }
    files = {
        "tasks.yml": [[task, {"virtshape.instancetypes.catalog": {"source": "builtin"}}]],
        "vm.yml": [vm("a", instancetype={"name": "db.small"}, preference={"name": "own"})],
        "wrong.yml": [vm("b", instancetype={"name": "db.smal"})],
    }
    code, lines = check(files)
    assert code == 1 and len(lines) == 2 and "did you mean db.small" in lines[0], lines


def test_longest_name_in_a_message_counts(check: Check) -> None:
    own = CATALOG.replace("WRONG", "").replace("acme.9: {}", "acme.9: {}\n      acme.9.secure: {oss: linux}")
    code, lines = check({"own.yml": own, "vm.yml": vm(preference={"name": "acme.9"})}, "--ignore", "unsatisfied")
    assert code == 1 and lines[0].startswith("own.yml:14: error: families.acme.preferences.acme.9.secure: unknown key")
    assert len(lines) == 3 and "preference requires 512Gi" in lines[1], lines
