"""Builds images with this checkout: `python tools/build_environments.py`.

The execution environment of docs/awx.md and the decision environment of extensions/eda, each with the tarball of the
checkout instead of the released collection. Where no container engine answers, ansible-builder makes the files from
which an engine would build, and that is all.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from build_tarball import CHECKOUT, GALAXY, build

BUILDER = Path(sys.executable).with_name("ansible-builder")
COLLECTION = f"{GALAXY['namespace']}.{GALAXY['name']}"
# Image → what shows that the collection is there and works.
COMMANDS = {
    "execution": ["ansible-doc", f"{COLLECTION}.virtual_machine"],
    "decision": ["ansible-doc", f"{COLLECTION}.virtual_machine_info"],
}


def definitions() -> dict[str, dict[str, Any]]:
    page = (CHECKOUT / "docs" / "awx.md").read_text(encoding="utf-8")
    decision = (CHECKOUT / "extensions" / "eda" / "decision-environment.yml").read_text(encoding="utf-8")
    shown = page.partition("# execution-environment.yml\n")[2].partition("```")[0]
    return {"execution": yaml.safe_load(shown), "decision": yaml.safe_load(decision)}


def with_tarball(definition: dict[str, Any], tarball: Path) -> dict[str, Any]:
    """The definition with the tarball instead of the released collection."""
    galaxy = definition["dependencies"]["galaxy"]
    others = [entry for entry in galaxy["collections"] if entry not in (COLLECTION, {"name": COLLECTION})]
    ours = {"name": f"/collections/{tarball.name}", "type": "file"}
    steps = definition.get("additional_build_steps", {})
    before = [*steps.get("prepend_galaxy", []), "COPY _build/collections /collections"]
    return {
        **definition,
        "dependencies": {**definition["dependencies"], "galaxy": {**galaxy, "collections": [ours, *others]}},
        "additional_build_files": [{"src": str(tarball), "dest": "collections"}],
        "additional_build_steps": {**steps, "prepend_galaxy": before},
    }


def engine() -> str:
    """The container engine that answers; "" without one."""
    for name in ("podman", "docker"):
        if shutil.which(name) and subprocess.run([name, "info"], capture_output=True, check=False).returncode == 0:
            return name
    return ""


def main() -> int:
    runtime = engine()
    with tempfile.TemporaryDirectory() as folder:
        tarball = build(Path(folder))
        for name, definition in definitions().items():
            place = Path(folder, name)
            place.mkdir()
            (place / "execution-environment.yml").write_text(yaml.safe_dump(with_tarball(definition, tarball)))
            tag = f"virtshape-{name}-environment"
            create = [str(BUILDER), "build", "--tag", tag, "--container-runtime", runtime]
            subprocess.run(create if runtime else [str(BUILDER), "create"], cwd=place, check=True)
            if runtime:
                run = [runtime, "run", "--rm", tag, *COMMANDS[name]]
                subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
            print(f"{tag}: {'built and run' if runtime else 'files made; no container engine answers'}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
