#!/usr/bin/env python
"""Holds a cluster to recorded scenarios: `run.py DIR --kubeconfig FILE`.

DIR holds the scenarios, one JSON file each; README.md beside this file says what they mean and what the cluster
must be like. With `--release`, what that release of KubeVirt answers otherwise takes the place of its namesakes.
Prints the differences of each scenario that failed and `GROUP passed/total` for each group (the first two characters
of the names); exits 1 if any failed.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent))

import scenario as runner
from api import Api

NEWEST = "1.9.0"
RELEASES = Path(__file__).resolve().parent / "releases"
"""What other releases of KubeVirt answer otherwise, a folder each."""
LAST_GROUP = "11"
"""Of those that were recorded with the other releases, too."""
NOT_ASKED = {"01-persistent-state"}
"""Scenarios of these groups that were recorded with the newest release only."""
SIGNS = {
    "cdi": "cdi.kubevirt.io",
    "snapshots": "snapshot.storage.k8s.io",
    "no-storage-class": "no default storage class found",
}
"""What scenarios may need → the text by which such a scenario is known."""


def main(arguments: list[str] | None = None) -> int:
    """The command; returns the exit status."""
    options = _options(arguments)
    scenarios = [
        json.loads(path.read_text())
        for path in scenario_files(Path(options.directory), overlay(options))
        if path.name.startswith(options.group) and options.name in path.name
    ]
    left_out = [entry for entry in scenarios if needs(entry) & set(options.without)]
    scenarios = [entry for entry in scenarios if entry not in left_out]
    if not scenarios:
        print(f"{options.directory}: no scenarios", file=sys.stderr)
        return 1
    api = Api(options.kubeconfig, connections=options.jobs)
    for file in options.objects:
        load_objects(api, file)

    passed: Counter[str] = Counter()
    total = Counter(entry["name"][:2] for entry in scenarios)

    def attempt(entry: dict[str, Any]) -> None:
        try:
            found = runner.run(api, entry, options.patience)
        except Exception:  # a defect of one scenario or a lost connection must not hide the other results
            found = [traceback.format_exc()]
        if found:
            print("\n  ".join([f"{entry['name']} FAILED", *found]), flush=True)
        else:
            passed[entry["name"][:2]] += 1

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(attempt, (entry for entry in scenarios if not entry.get("serial"))))
    for entry in scenarios:
        if entry.get("serial"):
            attempt(entry)
    for group in sorted(total):
        print(f"{group} {passed[group]}/{total[group]}")
    if left_out:
        print(f"left out {len(left_out)}: they need {' or '.join(options.without)}")
    print(f"all {sum(passed.values())}/{len(scenarios)}")
    return 0 if sum(passed.values()) == len(scenarios) else 1


def scenario_files(directory: Path, other: Path | None) -> list[Path]:
    """The files of a folder, sorted; those of the other folder take the place of their namesakes.

    With another folder only the groups that other releases were asked.
    """
    files = sorted(directory.glob("*.json"))
    if other is None:
        return files
    overlaid = {path.name: path for path in other.glob("*.json")}
    asked = [path for path in files if path.name[:2] <= LAST_GROUP and path.stem not in NOT_ASKED]
    return [overlaid.get(path.name, path) for path in asked]


def overlay(options: argparse.Namespace) -> Path | None:
    """The folder of what a release answers otherwise; None for the newest. Exits on a release without recordings."""
    if options.overlay:
        return Path(options.overlay)
    if options.release in (None, NEWEST):
        return None
    known = sorted(path.name for path in RELEASES.iterdir())
    if options.release not in known:
        raise SystemExit(f"--release: {options.release} was not recorded; use one of {', '.join([*known, NEWEST])}")
    return RELEASES / options.release


def needs(entry: dict[str, Any]) -> set[str]:
    """What not every cluster has or may give: see --without."""
    text = json.dumps(entry)
    found = {name for name, sign in SIGNS.items() if sign in text}
    return found | ({"configuration"} if entry.get("serial") or "configuration" in entry else set())


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Holds a cluster to recorded scenarios.")
    parser.add_argument("directory", help="folder of scenarios")
    parser.add_argument("--kubeconfig", required=True, help="its user may do everything and impersonate")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--release", metavar="VERSION", help=f"of KubeVirt that the cluster has (default {NEWEST})")
    which.add_argument("--overlay", metavar="DIR", help="folder of scenarios that take the place of their namesakes")
    parser.add_argument("--jobs", type=int, default=4, help="how many scenarios at once (default 4)")
    parser.add_argument(
        "--patience",
        type=float,
        default=1,
        metavar="FACTOR",
        help="wait so many times as long as the scenarios say for what is to come, on a slow machine (default 1)",
    )
    parser.add_argument("--group", default="", help="only scenarios whose name begins so, such as 03")
    parser.add_argument(
        "--without",
        nargs="+",
        default=[],
        choices=[*SIGNS, "configuration"],
        help="leave out scenarios that need CDI, VolumeSnapshots, no default StorageClass, or to configure KubeVirt",
    )
    parser.add_argument("--name", default="", help="only scenarios whose name holds this")
    parser.add_argument(
        "--objects", nargs="+", default=[], metavar="FILE", help="YAML files with objects to create first, if missing"
    )
    return parser.parse_args(arguments)


def load_objects(api: Api, file: str) -> None:
    """Creates the objects of a YAML file, such as the common instancetypes; those that exist stay as they are."""
    for manifest in yaml.safe_load_all(Path(file).read_text()):
        if not manifest:
            continue
        namespace = manifest["metadata"].get("namespace")
        version = manifest["apiVersion"]
        path = f"{'/apis' if '/' in version else '/api'}/{version}/"
        path += f"namespaces/{namespace}/" if namespace else ""
        answer = api.send("POST", path + manifest["kind"].lower() + "s", body=manifest)
        if answer.code not in (201, 409):
            raise SystemExit(f"{file}: {manifest['kind']} {manifest['metadata']['name']}: {answer.code} {answer.text}")


if __name__ == "__main__":
    sys.exit(main())
