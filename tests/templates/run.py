#!/usr/bin/env python
"""Runs vectors of VirtualMachineTemplates: ``run.py DIR [--group G]``.

Prints ``GROUP passed/total`` for each file below DIR and then the first failures: id, input and every difference by
path. Exits 1 if a case fails, 2 if there is none.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from vector_run import command

DESCRIPTION = "Compare templates with what virt-template's own code and virtctl answered."

if __name__ == "__main__":
    # Texts are read with PyYAML.
    sys.exit(command(DESCRIPTION, "process", "template_cases", "yaml"))
