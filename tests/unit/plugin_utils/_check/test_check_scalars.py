"""The check accepts and refuses scalars in fields as a real server did, whose answers are recorded."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from yaml_scalars.cases import FIELDS, SCALARS, manifest
from yaml_scalars.record import RECORDED

ACCEPTED = json.loads(RECORDED.read_text(encoding="utf-8"))["accepted"]
# Users are to write what they mean, though a server accepts what YAML makes of it.
READ_OTHERWISE = ("in YAML; write", "in YAML; put it in quotes")
# virt-api takes whole numbers for decimal ones from 2^53 on, and any size of memory.
_LARGE = (2**63 - 1, 2**63, 2**64 - 1, -(2**63), -(2**63) - 1)
KNOWN = {(field, str(number)) for field in ("grace", "toleration", "request", "boot_order") for number in _LARGE}
ERRORS = ("invalid", "refused", "unreadable")


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_takes_what_the_server_takes(field: str, findings: Callable[..., list[dict[str, Any]]]) -> None:
    files = {f"{number}.yaml": manifest(field, scalar) for number, scalar in enumerate(SCALARS)}
    found = [finding for finding in findings(files) if finding["level"] == "error" and finding["rule"] in ERRORS]
    surprising = {finding["file"] for finding in found if any(part in finding["message"] for part in READ_OTHERWISE)}
    refused = {finding["file"] for finding in found}
    answers = dict(zip(files, ACCEPTED[field]))
    different = [
        scalar
        for scalar, (file, accepted) in zip(SCALARS, answers.items())
        if (file in refused) == (accepted == "1") and file not in surprising and (field, scalar) not in KNOWN
    ]
    assert different == []


def test_a_task_is_read_as_ansible_reads(findings: Callable[..., list[dict[str, Any]]]) -> None:
    task = """\
- hosts: localhost
  tasks:
  - kubernetes.core.k8s:
      definition:
        apiVersion: kubevirt.io/v1
        kind: VirtualMachine
        metadata: {{name: web, annotations: {{note: {}}}}}
        spec:
          runStrategy: Halted
          template: {{spec: {{domain: {{devices: {{}}, memory: {{guest: 1Gi}}}}}}}}
"""
    scalars = ("y", "1e3", "2025-03-01", "22:30", "yes", "0x1F")
    found = findings({f"{number}.yml": task.format(scalar) for number, scalar in enumerate(scalars)})
    refused = {scalars[int(finding["file"][0])] for finding in found if finding["level"] == "error"}
    assert refused == {"22:30", "yes", "0x1F"}
