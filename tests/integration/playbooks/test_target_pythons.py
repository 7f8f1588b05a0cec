"""Modules run on each Python that targets may have: a manifest is rendered there, which needs no cluster."""

import subprocess
from pathlib import Path

import pytest
from ansible_environment import played

PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
TASK = {
    "virtshape.instancetypes.virtual_machine": {
        "state": "rendered",
        "name": "web",
        "instancetype": "u1.small",
        "volumes": [{"name": "root", "container_disk": "quay.io/containerdisks/fedora:latest"}],
    },
    "register": "made",
}
SHOW = {"ansible.builtin.debug": {"msg": "{{ made.rendered[0].spec.instancetype.name }}"}}


@pytest.mark.nightly("installs the client for each Python from PyPI")
@pytest.mark.parametrize("version", PYTHONS)
def test_a_module_runs_on_a_target(tmp_path: Path, version: str) -> None:
    place = tmp_path / "venv"
    made = subprocess.run(
        ["uv", "venv", "--quiet", "--python", version, str(place)], check=False, capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"uv has no Python {version} here: {made.stderr.strip()}")
    python = place / "bin" / "python"
    # The oldest client that the collection takes does not know newer Pythons.
    install = ["uv", "pip", "install", "--quiet", "--python", str(python), "kubernetes", "PyYAML"]
    subprocess.run(install, check=True)
    target = {"ansible_python_interpreter": str(python), "virtshape_direct_execution": False}
    book = [{"hosts": "localhost", "gather_facts": False, "vars": target, "tasks": [TASK, SHOW]}]
    assert "u1.small" in played(tmp_path, book, bare=True)
