"""The judgements of kube-scheduler and of the resolver on the pods of a cluster."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
# The resolver is pure: it needs neither Ansible nor its place in `ansible_collections`.
sys.path[:0] = [str(CHECKOUT / "plugins" / "module_utils"), str(CHECKOUT / "roles" / "local_cluster" / "files")]

from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.placement.cluster_state import (  # noqa: E402
    ClusterState,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.placement.pod_placer import PodPlacer  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.placement.scheduler_view import (  # noqa: E402
    PodInfo,
    Storage,
    from_manifest,
    node,
    with_volume_affinity,
)

Case = dict[str, Any]
Verdicts = list[list[list[str]]]

CASES = 700
RECORDED = Path(__file__).parent / "recorded.json.gz"
_SOURCES = Path(__file__).parent / "kube_scheduler"
_MODULES = CHECKOUT / "roles" / "local_cluster" / "files" / "control_plane"
_GO = (1, 24)
_BUILD = CHECKOUT / ".cache" / "kube_scheduler"


def ours(case: Case) -> list[list[str]]:
    """The nodes that each pending pod of a cluster fits on, by the resolver."""
    placing = PodPlacer(_state(case))
    names = [node.name for node in placing.state.nodes]
    return [[names[number] for number in placing.fitting(pod)] for pod in _pending(case)]


def batch(case: Case) -> list[str]:
    """The nodes that the resolver places the pending pods on, one after the other; "" for none."""
    placing = PodPlacer(_state(case))
    numbers = [placing.place(pod) for pod in _pending(case)]
    return ["" if number is None else placing.state.nodes[number].name for number in numbers]


def _pending(case: Case) -> list[PodInfo]:
    known = Storage(*(case.get(part, ()) for part in ("claims", "volumes", "classes")))
    return [with_volume_affinity(from_manifest(pod), known) for pod in case["pending"]]


def _state(case: Case) -> ClusterState:
    spaces = {name: {"kubernetes.io/metadata.name": name} for name in ("shop", "office")}
    return ClusterState(map(node, case["nodes"]), map(from_manifest, case["pods"]), spaces)


def judge(cases: list[Case]) -> Verdicts:
    """The same, by kube-scheduler; with `placed` of each pod after those before it have been placed."""
    lines = "".join(f"{json.dumps(case)}\n" for case in cases)
    done = subprocess.run([_built()], input=lines, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def recorded() -> Verdicts:
    """The judgements of kube-scheduler on the clusters with the seeds 0, 1, ..."""
    if not RECORDED.exists():
        return []
    verdicts: Verdicts = json.loads(gzip.decompress(RECORDED.read_bytes()))
    return verdicts


def write(verdicts: Verdicts) -> None:
    """Keeps what kube-scheduler said."""
    RECORDED.write_bytes(gzip.compress(json.dumps(verdicts, separators=(",", ":")).encode(), mtime=0))


def _built() -> Path:
    """The binary, built of the modules that the local cluster is built of; go builds only what has changed."""
    from local_cluster.toolchain import find_go

    _BUILD.mkdir(parents=True, exist_ok=True)
    shutil.copy(_SOURCES / "main.go", _BUILD)
    for name in ("go.mod", "go.sum"):
        shutil.copy(_MODULES / name, _BUILD)
    # The flags of the control plane, whose packages Go has then built already.
    flags = ["-trimpath", "-mod=mod", "-buildvcs=false", "-ldflags", "-s -w", "-o", "kube_scheduler"]
    subprocess.run([find_go(_GO), "build", *flags, "."], cwd=_BUILD, check=True, env={**os.environ, "CGO_ENABLED": "0"})
    return _BUILD / "kube_scheduler"
