"""The playbook upgrade_report, as users run it: with ansible-playbook."""

import re
from pathlib import Path

from ansible_environment import played

from fleet_support import Fleet


def play(cluster: Path, folder: Path, *arguments: str) -> str:
    return played(folder, "virtshape.instancetypes.upgrade_report", *arguments, kubeconfig=cluster)


def test_pages_of_an_upgrade(cluster: Path, namespace: str, tmp_path: Path) -> None:
    fleet = Fleet(cluster, namespace, tmp_path)
    fleet.size(1, "2Gi")
    fleet.create(2)
    where = ("-e", f"upgrade_report_namespace={namespace}")
    # A catalog of one's own, in check mode, where the user is. Its name is that of no other test.
    (tmp_path / "ours.yml").write_text(f"series: {{{namespace}: {{sizes: {{small: {{cpu: 1, memory: 2Gi}}}}}}}}\n")
    kept = tmp_path / "kept"
    kept.write_text("somebody else's")
    (tmp_path / "upgrade.html").symlink_to(kept)
    options = (*where, "-e", "upgrade_report_kubevirt_version=1.9.0", "-e", "upgrade_report_catalog=ours.yml")
    assert "changed=0" in play(cluster, tmp_path, *options, "--check")
    page = (tmp_path / "upgrade.html").read_text(encoding="utf-8")
    assert f"namespace {namespace}" in page
    assert kept.read_text() == "somebody else's"
    # No VM names it: it is folded.
    assert ">1 would be new; no VM names it<" in page and f"<strong>{namespace}.small</strong>" in page

    # The cluster may have either of these versions, but not both.
    listed = []
    for version in ("v1.4.1", "v1.7.0"):
        file = tmp_path / f"{version}.html"
        play(cluster, tmp_path, *where, "-e", f"upgrade_report_file={file} upgrade_report_catalog_version={version}")
        listed.append(re.findall(r"<strong>([^<]+)</strong></td><td[^>]*>(VirtualMachine\w+)</td>", file.read_text()))
    assert listed[0] != listed[1]
