#!/usr/bin/env python
"""Runs vectors of `virtctl create`: ``run.py DIR [--group G]``.

Prints ``FILE passed/total`` for each file below DIR and then the first failures: name, command line and every
difference. Exits 1 if a case fails, 2 if there is none. No case is skipped: a parser of the command line, which the
collection has none of, is part of the translation of flags to options.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from vector_run import command

if __name__ == "__main__":
    # Options are checked by Ansible's own code.
    sys.exit(command("Compare virtual_machine's options with virtctl's flags.", "vm/names", "virtctl_cases", "ansible"))
