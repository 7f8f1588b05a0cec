"""The option `export` of virtual_machine_info."""

from scripted_server import NAMESPACES, REVISIONS, VMIS, VMS, Run, Store

STORE = Store({NAMESPACES: [{"metadata": {"name": "shop"}}], VMS: [], VMIS: [], REVISIONS: []})


def test_names_to_export_must_exist(run: Run) -> None:
    refused = run("virtual_machine_info", STORE, namespace="shop", names=["web-1"], export={})
    assert refused["failed"] and refused["msg"] == "names: no such virtual machine in shop: web-1"
    nothing = run("virtual_machine_info", STORE, namespace="shop", export={})
    assert nothing["manifests"] == [] and not nothing.get("failed")
