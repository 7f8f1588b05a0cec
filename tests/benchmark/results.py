"""The file of all results, docs/benchmarks/benchmarks.json: a section for each benchmark, and where it ran."""

import json
import os
import sys
from pathlib import Path
from typing import Any


def record(file: Path | None, section: str, found: dict[str, Any]) -> None:
    """Replaces a section of the file. Without a file, does nothing."""
    if file is None:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    results = json.loads(file.read_text()) if file.is_file() else {}
    machine = {"cpus": os.cpu_count(), "python": sys.version.split()[0]}
    results[section] = {"machine": machine, **found}
    file.write_text(json.dumps(results, indent=0, sort_keys=True) + "\n")
