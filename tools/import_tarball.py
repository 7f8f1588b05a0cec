"""Let galaxy-importer judge the tarball, as Galaxy and Automation Hub do: `python tools/import_tarball.py`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from build_tarball import build


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        tarball = build(Path(folder))
        done = subprocess.run(
            [sys.executable, "-m", "galaxy_importer.main", tarball],
            cwd=folder,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    # It ends with 0 where it only warns, too.
    findings = [line for line in done.stdout.splitlines() if line.startswith(("WARNING", "ERROR"))]
    if done.returncode or "completed successfully" not in done.stdout:
        findings = [done.stdout]
    print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
