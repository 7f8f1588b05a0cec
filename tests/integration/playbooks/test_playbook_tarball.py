"""The collection as a tarball: what is in it, and that Ansible finds everything once it is installed."""

import io
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

CHECKOUT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent
VERSION = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text())["version"]


PLAYBOOK = """
- hosts: localhost
  gather_facts: false
  vars:
    size: {cpu: {guest: 1}, memory: {guest: 6.5Gi}}
    vm: {kind: VirtualMachine, metadata: {name: web}, spec: {template: {spec: {domain: {devices: {}}}}}}
  tasks:
    - ansible.builtin.debug:
        msg: the guest has {{ (vm | virtshape.instancetypes.expand(size)).spec.template.spec.domain.memory.guest }}
"""


@pytest.fixture(scope="module")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tarball")
    subprocess.run([sys.executable, CHECKOUT / "tools" / "build_tarball.py", folder], check=True)
    return next(folder.glob("*.tar.gz"))


def test_tarball_has_runtime_files_only(tarball: Path) -> None:
    with tarfile.open(tarball) as archive:
        names = archive.getnames()
    top = {name.partition("/")[0] for name in names}
    assert top <= {
        "CHANGELOG.rst",
        "FILES.json",
        "LICENSE",
        "LICENSES",
        "MANIFEST.json",
        "README.md",
        "REUSE.toml",
        "changelogs",
        "docs",
        "extensions",
        "meta",
        "playbooks",
        "plugins",
        "roles",
    }
    extensions = {name for name in names if name.startswith("extensions/") and not name.startswith("extensions/eda/")}
    assert extensions == {"extensions/audit", "extensions/audit/event_query.yml", "extensions/eda"}


def test_readme_pages_have_absolute_links_only(tarball: Path) -> None:
    with tarfile.open(tarball) as archive:
        pages = {
            name: (archive.extractfile(name) or io.BytesIO()).read().decode()
            for name in archive.getnames()
            if name.endswith("README.md") and not name.startswith("docs/")
        }
    assert "README.md" in pages and len(pages) > 5
    for name, text in pages.items():
        assert re.findall(r"\]\((?!https://|#)[^)]*\)", text) == [], name
    assert f"](https://github.com/virtshape/instancetypes/blob/v{VERSION}/docs/index.md)" in pages["README.md"]
    picture = re.findall(r"!\[[^]]*\]\((.*?)\)", pages["README.md"])[0]
    assert picture == (
        f"https://raw.githubusercontent.com/virtshape/instancetypes/v{VERSION}/docs/images/fleet_report.svg"
    )


def test_installed_collection_is_usable(tarball: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(tmp_path), "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    environment.pop("ANSIBLE_CONFIG", None)

    def run(command: str, *arguments: str) -> str:
        done = subprocess.run(
            [str(BIN / command), *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout

    run("ansible-galaxy", "collection", "install", str(tarball), "-p", str(tmp_path))
    listed = run("ansible-doc", "--list", "virtshape.instancetypes")
    for module in (CHECKOUT / "plugins" / "modules").glob("*.py"):
        assert f"virtshape.instancetypes.{module.stem}" in listed
    (tmp_path / "play.yml").write_text(PLAYBOOK)
    assert "the guest has 6656Mi" in run("ansible-playbook", "play.yml")
