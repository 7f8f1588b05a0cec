#!/usr/bin/env python
"""Runs vectors of boot sources: ``run.py DIR [--group G]``.

Prints ``GROUP passed/total`` for each file below DIR and then the first failures: id, input and every difference by
path. Exits 1 if a case fails, 2 if there is none.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from vector_run import command

DESCRIPTION = "Compare boot sources with what CDI's own code answered, and uploads with those of virtctl."

if __name__ == "__main__":
    # Uploads go through the kubernetes client's connections.
    sys.exit(command(DESCRIPTION, "webhook/datavolumes", "boot_cases", "kubernetes"))
