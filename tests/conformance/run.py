#!/usr/bin/env python
"""Runs conformance vectors: ``run.py DIR [--group G]``.

DIR is the main set, or the set of older releases (`releases`). Prints ``GROUP passed/total`` for each file below DIR
and then the first failures: name, input and every difference by path. Exits 1 if a case fails, 2 if there is none.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from vector_run import command

if __name__ == "__main__":
    sys.exit(command("Compare _resolver with what KubeVirt's own code answered.", "apply/it_cpu", "report", "yaml"))
