"""The role boot_sources on what exists already: labels only, and a report."""

from pathlib import Path
from typing import Any

import pytest
from ansible_environment import played

from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS

MARK = "instancetype.kubevirt.io/default-"


@pytest.mark.needs("cdi")
def test_existing_labels_and_missing_labels(session: Session, cluster: Path, namespace: str, tmp_path: Path) -> None:
    leads = {"source": {"pvc": {"name": "none", "namespace": namespace}}}
    for name in ("fedora", "silent"):
        kind = KINDS["DataSource"]
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, "spec": leads}
        session.request("POST", kind.path(namespace), retry=True, body=body)
    variables: dict[str, Any] = {
        "boot_sources_names": ["fedora"],
        "boot_sources_state": "labeled",
        "boot_sources_defaults": {"namespace": namespace},
        "boot_sources_preflight": "off",
        "boot_sources_report": True,
    }
    role = {"ansible.builtin.include_role": {"name": "virtshape.instancetypes.boot_sources"}, "vars": variables}
    book = [{"hosts": "localhost", "gather_facts": False, "tasks": [role]}]
    result = played(tmp_path, book, kubeconfig=cluster)
    live = session.get(KINDS["DataSource"], namespace, "fedora")
    assert live is not None
    assert {live["metadata"]["labels"][f"{MARK}{role}"] for role in ("instancetype", "preference")} == {
        "u1.medium",
        "fedora",
    }
    assert f"DataSource {namespace}/silent: no_defaults: VMs get no instancetype and no preference" in result
    assert f"DataSource {namespace}/fedora: missing_target" in result
    assert f"DataSource {namespace}/fedora: no_defaults" not in result
