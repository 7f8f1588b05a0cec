#!/usr/bin/env python
"""Gives manifests as people wrote them to the check and to a real cluster: ``run.py DIR [--kubeconfig FILE]``.

Starts a local cluster unless a kubeconfig is given. Each VM, instancetype and preference of the YAML and JSON files
below DIR is judged with each --validate, and created by a dry run with the fieldValidation that it stands for.
Prints of how many both say the same, accepted or refused for the same field, and the others with the reason if it is
known. Exits 1 if one is not explained, or if there is nothing to compare.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.session import Session
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.reads.kubevirt import kubevirt
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._catalog_files import builtin_objects

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS))

from check_against_server import Difference, compared, deploy, files  # noqa: E402
from script_cluster import script_cluster  # noqa: E402


def main() -> int:
    """Compares and returns the exit code."""
    parser = argparse.ArgumentParser(description="Compare the check with a cluster, for manifests of any origin.")
    parser.add_argument("directory", type=Path, metavar="DIR", help="folder with manifests")
    parser.add_argument("--kubeconfig", type=Path, help="of a cluster for tests; a local one is started without it")
    arguments = parser.parse_args()
    agreed: Counter[str] = Counter()
    differences: list[Difference] = []
    unreadable = 0
    with script_cluster(arguments.kubeconfig, "wild") as kubeconfig:
        session = Session({"kubeconfig": str(kubeconfig), "retry_timeout": 30})
        known = kubevirt(session)
        catalog = builtin_objects(known.release)
        deploy(session, catalog)
        for file in files(arguments.directory):
            unreadable += file.unreadable
            for result in compared(file, session, known, catalog):
                if isinstance(result, Difference):
                    differences.append(result)
                else:
                    agreed[result] += 1
    unexplained = [item for item in differences if not item.reason]
    print(*(f"{kind} {count}" for kind, count in sorted(agreed.items())), sep="\n")
    print(f"the same {agreed.total()}/{agreed.total() + len(differences)}; not readable: {unreadable}")
    alike: dict[Difference, list[str]] = {}
    for item in differences:
        alike.setdefault(item._replace(level=""), []).append(item.level)
    print(*(item._replace(level=", ".join(levels)) for item, levels in alike.items()), sep="\n")
    return 1 if unexplained or not agreed else 0


if __name__ == "__main__":
    sys.exit(main())
