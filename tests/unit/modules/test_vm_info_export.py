"""The option `export` of virtual_machine_info."""

from scripted_server import NAMESPACES, REVISIONS, VMIS, VMS, Run, Store

STORE = Store({NAMESPACES: [{"metadata": {"name": "shop"}}], VMS: [], VMIS: [], REVISIONS: []})


def test_no_vms_give_no_manifests(run: Run) -> None:
    nothing = run("virtual_machine_info", STORE, namespace="shop", export={})
    assert nothing["manifests"] == [] and not nothing.get("failed")
