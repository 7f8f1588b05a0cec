"""The check's findings about manifests, tasks, variables and catalogs; the tests run the command, like users."""

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from checked_files import CHECKED, instancetype, preference, vm

from plugins.module_utils._resolver.api.type_remedies import AS_TEXT
from plugins.module_utils._resolver.kubevirt.cluster import kubevirt_of
from plugins.plugin_utils._check import checked_objects, evaluate
from plugins.plugin_utils._check.command import main
from plugins.plugin_utils._check.findings import Location

VALIDATED = Path(__file__).parents[3] / "conformance" / "vectors" / "validate" / "vm.json"
Check = Callable[..., tuple[int, list[str]]]


OLD_VIDEO = {"domain": {"devices": {"video": {"type": "qxl"}}, "memory": {"guest": "1Gi"}}}


def test_valid_vm_has_no_finding(check: Check) -> None:
    code, lines = check({"vm.yaml": vm(instancetype={"name": "u1.medium"}, preference={"name": "fedora"})})
    assert (code, lines) == (0, [f"1 object {CHECKED}: nothing found"])


def test_the_next_release_counts_displays_by_default(check: Check) -> None:
    gpu = {"deviceName": "nvidia.com/T4", "virtualGPUOptions": {"display": {"ramFB": {}}}}
    gpus = [{"name": name, **gpu} for name in ("a", "b")]
    manifest = vm(template={"domain": {"devices": {"gpus": gpus}, "memory": {"guest": "1Gi"}}})
    # KubeVirt 1.9 sets the default in the VMI only.
    assert check({"vm.yaml": manifest})[1][0].endswith("accepts the VM, but cannot start it [never-starts]")
    _code, lines = check({"vm.yaml": manifest}, "--kubevirt-version", "1.10")
    assert lines[0].endswith("have two displays that show the boot; turn off ramFB of one [refused]")
    assert lines[-1].startswith("1 object checked for KubeVirt 1.10 as of 22 August 2026: 1 error")


@pytest.mark.parametrize(
    ("manifest", "line"),
    [
        (
            vm(instancetype={"name": "u1.medum"}),
            "vm.yaml:8: error: VirtualMachine shop/web: spec.instancetype.name: virtualmachineclusterinstancetypes"
            '.instancetype.kubevirt.io "u1.medum" not found; did you mean u1.medium, u1.2xmedium or o1.medium?'
            " [not-found]",
        ),
        (
            vm(template={"domain": {"devices": {}, "cpus": {}, "memory": {"guest": "1Gi"}}}),
            "vm.yaml:11: warning: VirtualMachine shop/web: spec.template.spec.domain.cpus: KubeVirt 1.9 does not know"
            " the field and drops it; did you mean cpu? [lost-field]",
        ),
        (
            vm(instancetype={"name": "u1.nano"}, preference={"name": "windows.11"}),
            "vm.yaml:7: error: VirtualMachine shop/web: spec.instancetype: failure checking preference requirements:"
            " insufficient CPU resources of 1 vCPU provided by instance type, preference requires 2 vCPU; use for"
            " example u1.2xmedium, u1.large or u1.xlarge [refused]",
        ),
        (
            vm(
                instancetype={"inferFromVolume": "root"},
                template={"volumes": [{"name": "root", "persistentVolumeClaim": {"claimName": "disk"}}]},
            ),
            "vm.yaml:8: note: VirtualMachine shop/web: spec.instancetype.inferFromVolume: the PersistentVolumeClaim"
            " shop/disk must exist on the cluster; pass its manifest with --objects to check what VMs get from it"
            " [must-exist]",
        ),
        (
            {**vm(), "spec": {"runStrategy": "Always", "instancetype": {"name": "u1.small"}}},
            "vm.yaml:6: error: VirtualMachine shop/web: spec.template: template is missing; set it [refused]",
        ),
        (
            vm(template={"domain": {"cpu": {"cores": 2}}}),
            "vm.yaml:10: error: VirtualMachine shop/web: spec.template.spec.domain.devices:"
            " devices is missing; set it [refused]",
        ),
        (
            vm(template={"volumes": [{"name": "a", "emptyDisk": {}}]}),
            "vm.yaml:15: error: VirtualMachine shop/web: spec.template.spec.volumes[0].emptyDisk.capacity:"
            " capacity is missing; set it [refused]",
        ),
        (
            instancetype("small", memory={"overcommitPercent": 10}),
            "vm.yaml:8: error: VirtualMachineClusterInstancetype small: spec.memory.guest: guest is missing;"
            " set it [refused]",
        ),
        (
            {**instancetype("old"), "apiVersion": "instancetype.kubevirt.io/v1alpha1"},
            "vm.yaml:1: error: VirtualMachineClusterInstancetype old: apiVersion: KubeVirt 1.9 does not serve"
            " VirtualMachineClusterInstancetype in instancetype.kubevirt.io/v1alpha1; write"
            " instancetype.kubevirt.io/v1beta1 [refused]",
        ),
        (
            instancetype("big", memory={"guest": "lots"}),
            "vm.yaml:9: error: VirtualMachineClusterInstancetype big: spec.memory.guest: 'lots' is not a quantity;"
            " write a quantity such as 512Mi, 4Gi or 4G [invalid]",
        ),
        (
            {"kind": "VirtualMachine", "apiVersion": "kubevirt.io/v1", "metadata": {"name": "x"}},
            "vm.yaml:1: error: VirtualMachine default/x: spec: missing; write the object's spec [invalid]",
        ),
        (
            {**vm(), "spec": {"running": True, "template": vm()["spec"]["template"]}},
            "vm.yaml:7: warning: VirtualMachine shop/web: spec.running: Deprecated since KubeVirt 1.3; write"
            " spec.runStrategy: Always [deprecated]",
        ),
        (
            vm(template=OLD_VIDEO),
            "vm.yaml:13: error: VirtualMachine shop/web: spec.template.spec.domain.devices.video.type: type must"
            " be vga, cirrus, virtio, ramfb or bochs, not 'qxl'; KubeVirt accepts the VM, but cannot start it"
            " [never-starts]",
        ),
        (
            vm(template=OLD_VIDEO, runStrategy="Halted"),
            "vm.yaml:13: warning: VirtualMachine shop/web: spec.template.spec.domain.devices.video.type: type must"
            " be vga, cirrus, virtio, ramfb or bochs, not 'qxl'; KubeVirt accepts the VM, but cannot start it"
            " [never-starts]",
        ),
    ],
)
def test_invalid_manifest_is_reported(check: Check, manifest: dict[str, Any], line: str) -> None:
    _code, lines = check({"vm.yaml": manifest})
    assert lines[0] == line


def test_findings_do_not_quote_secrets(check: Check) -> None:
    login = "https://me:hunter2@host"
    volume = {"name": "a", "cloudInitNoCloud": {"userData": "abcd-efgh"}}
    wrong = {
        "memory.guest": {"domain": {"devices": {}, "memory": {"guest": login}}},
        "spec.hostname": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}, "hostname": "abcd-efgh "},
    }
    for form in ("text", "json", "junit", "sarif"):
        for field, spec in wrong.items():
            _code, lines = check({"vm.yaml": vm(template={**spec, "volumes": [volume]})}, "--format", form)
            assert field in "".join(lines)
            assert "hunter2" not in "".join(lines) and "abcd" not in "".join(lines)


@pytest.mark.parametrize(
    ("spec", "level", "rule"),
    [
        ({"nodeSelector": {"a b": "c"}}, "error", "never-starts"),
        ({"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]}, "error", "never-starts"),
        ({"domain": {"devices": {}, "memory": {"guest": "-1Gi"}}}, "error", "never-starts"),
        ({"tolerations": [{"key": "a", "operator": "Is"}]}, "error", "invalid"),
        ({"domain": {"devices": {}, "memory": {"guest": "1GB"}}}, "error", "invalid"),
    ],
    ids=str,
)
def test_invalid_or_unstartable_vm_is_reported_once(check: Check, spec: dict[str, Any], level: str, rule: str) -> None:
    for running in (True, False):
        manifest = vm(template=spec)
        manifest["spec"]["runStrategy"] = "Always" if running else "Halted"
        _code, lines = check({"vm.yaml": manifest})
        assert f": {level if running or rule == 'invalid' else 'warning'}: " in lines[0] and f"[{rule}]" in lines[0]
        assert len([line for line in lines if f"[{rule}]" in line]) == 1


def test_validate_option_sets_level_of_lost_fields(check: Check) -> None:
    manifest = vm(template={"domain": {"devices": {"diskz": []}, "memory": {"guest": "1Gi"}}})
    results = {choice: check({"vm.yaml": manifest}, "--validate", choice) for choice in ("strict", "warn", "ignore")}
    place = "VirtualMachine shop/web: spec.template.spec.domain.devices.diskz: KubeVirt 1.9 does not know the field and"
    assert (results["strict"][0], results["strict"][1][0]) == (
        1,
        f"vm.yaml:12: error: {place} rejects it; did you mean disks? [lost-field]",
    )
    assert (results["warn"][0], results["warn"][1][0]) == (
        0,
        f"vm.yaml:12: warning: {place} drops it; did you mean disks? [lost-field]",
    )
    assert results["ignore"] == (0, [f"1 object {CHECKED}: nothing found"])


def test_generated_names_and_foreign_kinds_are_accepted(check: Check) -> None:
    generated = {**vm(), "metadata": {"generateName": "web-"}}
    other = {"apiVersion": "vmoperator.vmware.com/v1alpha1", "kind": "VirtualMachine", "metadata": {"name": "x"}}
    assert check({"vm.yaml": [generated, other]}) == (0, [f"1 object {CHECKED}: nothing found"])


def test_summary_counts_unreadable_objects(check: Check) -> None:
    templated = yaml.safe_dump(vm()).replace("name: web", "name: {{ name }}")
    wrong = {**vm(), "spec": "text"}
    other = "kind: Deployment\nmetadata: {{ x }}\n"
    files = {"all/a.yaml": templated, "all/b.yaml": f"- [\n---\n{yaml.safe_dump(vm())}", "all/c.yaml": wrong}
    _code, lines = check({**files, "all/d.yaml": other, "all/e.yaml": f"{yaml.safe_dump(vm())}x: ]"})
    assert lines[-1] == f"3 objects {CHECKED}: 4 errors; not checked: 1 VirtualMachine"


def test_list_items_are_reported_with_their_lines(check: Check) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [vm("a"), vm("b", instancetype={"name": "none"})]}
    code, lines = check({"list.json": json.dumps(listed, indent=1)})
    assert code == 1 and lines[1] == f"2 objects {CHECKED}: 1 error"
    location = int(lines[0].split(":")[1])
    assert '"name": "none"' in Path("list.json").read_text().splitlines()[location - 1]


def test_files_may_contain_referenced_objects(check: Check) -> None:
    files = {"a.yaml": [instancetype("own"), vm(instancetype={"name": "own"})]}
    assert check(files, "--catalog", "none") == (0, [f"2 objects {CHECKED}: nothing found"])
    catalog = {"series": {"c1": {"sizes": {"small": {"cpu": 1, "memory": "2Gi"}}}}}
    files = {"catalog.yml": catalog, "b.yaml": vm(instancetype={"name": "c1.small"})}
    assert check(files, "--catalog", "none")[0] == 0
    catalog["series"]["c1"]["sizes"]["small"] = {"cpu": 1}
    code, lines = check({"catalog.yml": catalog})
    assert code == 1 and lines[0] == (
        "catalog.yml:4: error: instancetype c1.small: spec.memory.guest: required in an instancetype, for example 4Gi"
        " [invalid]"
    )


def test_catalogs_are_complete_and_their_labels_right(check: Check) -> None:
    size = instancetype("own", cpus=2)
    size["metadata"]["labels"] = {"instancetype.kubevirt.io/cpu": "4", "instancetype.kubevirt.io/memory": "4096Mi"}
    big = preference("big", requirements={"cpu": {"guest": 4}})
    files = {"catalog.yaml": [size, big]}
    assert check(files, "--catalog", "none") == (
        0,
        [
            "catalog.yaml:4: warning: VirtualMachineClusterInstancetype own: metadata.labels:"
            " instancetype.kubevirt.io/cpu is 4, but spec.cpu.guest is 2; correct the label [wrong-label]",
            "catalog.yaml:19: warning: VirtualMachineClusterPreference big: spec.requirements: none of 1 instancetypes"
            " satisfies the preference; add one, or lower the requirements [unsatisfied]",
            f"2 objects {CHECKED}: 2 warnings",
        ],
    )
    assert check(files)[1][-1] == f"2 objects {CHECKED}: 1 warning"
    assert check({"alone.yaml": big}, "--catalog", "none")[1][-1].endswith("nothing found")


def in_state(manifest: dict[str, Any], state: str, replacement: str = "") -> dict[str, Any]:
    prefix = "instancetypes.virtshape.io"
    manifest["metadata"]["labels"] = {f"{prefix}/state": state}
    manifest["metadata"]["annotations"] = {f"{prefix}/replacement": replacement} if replacement else {}
    return manifest


def test_deprecated_and_obsolete_objects_are_reported(check: Check) -> None:
    catalog = [in_state(instancetype("old"), "deprecated"), in_state(instancetype("gone"), "obsolete")]
    kept, fresh = vm("kept", instancetype={"name": "gone"}), vm("fresh", instancetype={"name": "gone"})
    moved = vm("moved", instancetype={"name": "u1.medium"})
    check({"base/all.yaml": [*catalog, kept, moved]})
    moved["spec"]["instancetype"]["name"] = "gone"
    text = "spec.instancetype.name: gone is obsolete, so only VMs that already have it may use it; use another"
    code, lines = check({"head.yaml": [*catalog, kept, fresh, moved, vm("web", instancetype={"name": "old"})]})
    assert (code, [line.split(": ", 1)[1] for line in lines]) == (
        0,
        [
            *(
                f"warning: VirtualMachine shop/{name}: {text} instancetype [obsolete]"
                for name in ("kept", "fresh", "moved")
            ),
            "warning: VirtualMachine shop/web: spec.instancetype.name: old is deprecated [deprecated]",
            "4 warnings",
        ],
    )
    code, lines = check({"head.yaml": [*catalog, kept, fresh, moved]}, "--base", "base")
    levels = {line.split("shop/")[1].split(":")[0]: line.split(": ")[1] for line in lines if "[obsolete]" in line}
    assert (code, levels) == (1, {"kept": "warning", "fresh": "error", "moved": "error"})


def test_objects_of_the_cluster_are_not_checked(check: Check) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "disk",
            "namespace": "shop",
            "labels": {"instancetype.kubevirt.io/default-instancetype": "u1.medium"},
        },
        "spec": {},
    }
    Path("known.yaml").write_text(yaml.safe_dump_all([claim, vm("broken", instancetype={"name": "none"})]))
    inferring = vm(
        instancetype={"inferFromVolume": "root"},
        template={"volumes": [{"name": "root", "persistentVolumeClaim": {"claimName": "disk"}}]},
    )
    done = check({"vm.yaml": inferring}, "--objects", "known.yaml")
    assert done == (0, [f"1 object {CHECKED}: nothing found"])


def test_releases_and_configurations(check: Check) -> None:
    newer = preference("p", preferredArchitecture="amd64")
    code, lines = check({"p.yaml": newer}, "--kubevirt-version", "1.4.1")
    assert code == 0 and lines[0] == (
        "p.yaml:6: warning: VirtualMachineClusterPreference p: spec.preferredArchitecture: KubeVirt 1.4 does not know"
        " the field and drops it; remove it, or upgrade KubeVirt [lost-field]"
    )
    tpm = vm(template={"domain": {"devices": {"tpm": {"persistent": True}}, "memory": {"guest": "1Gi"}}})
    code, lines = check({"vm.yaml": tpm}, "--kubevirt-version", "1.5.0")
    assert code == 0
    assert lines[0].endswith("the cluster's KubeVirt may open the gate, which --kubevirt FILE tells [refused]")
    open_gate = {"configuration": {"developerConfiguration": {"featureGates": ["VMPersistentState"]}}}
    kubevirt = {"apiVersion": "kubevirt.io/v1", "kind": "KubeVirt", "spec": open_gate}
    kubevirt["status"] = {"observedKubeVirtVersion": "v1.5.0"}
    Path("kubevirt.yaml").write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [kubevirt]}))
    clean = (0, ["1 object checked for KubeVirt 1.5: nothing found"])
    assert check({"vm.yaml": tpm}, "--kubevirt", "kubevirt.yaml") == clean
    # Without the option, the KubeVirt among the files counts, unless there are several.
    assert check({"vm.yaml": tpm, "kubevirt.yaml": kubevirt}) == clean
    closed = {**kubevirt, "spec": {}}
    assert check({"vm.yaml": tpm, "kubevirt.yaml": closed})[0] == 1
    several = {"vm.yaml": tpm, "kubevirt.yaml": kubevirt, "other.yaml": closed}
    assert check(several, "--kubevirt-version", "1.5.0")[0] == 0
    assert check({"vm.yaml": tpm, "kubevirt.yaml": {**kubevirt, "spec": {"configuration": "text"}}})[0] == 0


def test_devices_that_kubevirt_sets_need_no_limit(check: Check) -> None:
    def requesting(device: str) -> dict[str, Any]:
        return vm(template={"domain": {"devices": {}, "resources": {"requests": {device: "2", "memory": "1Gi"}}}})

    for device in ("kvm", "tun", "vhost-net"):
        assert check({"vm.yaml": requesting(f"devices.kubevirt.io/{device}")})[0] == 0
    assert check({"vm.yaml": requesting("example.com/fpga")})[0] == 1
    emulated = {"configuration": {"developerConfiguration": {"useEmulation": True}}}
    kubevirt = {"apiVersion": "kubevirt.io/v1", "kind": "KubeVirt", "spec": emulated}
    for device, code in (("kvm", 1), ("tun", 0), ("vhost-net", 1)):
        assert check({"vm.yaml": requesting(f"devices.kubevirt.io/{device}"), "kubevirt.yaml": kubevirt})[0] == code


TASKS = """
- name: Declare
  virtshape.instancetypes.virtual_machine:
    namespace: "{{ shop }}"
    defaults: {instancetype: u1.medium, preference: fedora}
    virtual_machines:
      - name: right
      - name: wrong
        memry: 4Gi
      - name: other
        instancetype: u1.huge
      - name: "{{ item }}"
        labels: {team: "{{ team }}"}
      - {name: gone, state: absent, instancetype: none}
- block:
    - virtshape.instancetypes.instancetype:
        name: big
        cpu: {guest: 0}
        memory: {guest: 4Gi}
- name: Declare by the role
  ansible.builtin.include_role: {name: virtshape.instancetypes.virtual_machines}
  vars:
    password: !vault |
      $ANSIBLE_VAULT;1.1;AES256
    virtual_machines_defaults: {namespace: shop}
    virtual_machines_list: [{name: listed, preference: fedoro}]
"""


def test_all_misspelt_options_are_shown(check: Check) -> None:
    entry = "{name: a, namespace: b, instance_type: c, boot: {containerdisk: d}}"
    _code, lines = check({"tasks.yml": f"- virtshape.instancetypes.virtual_machine: {{virtual_machines: [{entry}]}}"})
    assert [line.partition("virtual machine a: ")[2] for line in lines[:2]] == [
        "instance_type: unknown option; did you mean instancetype? [invalid]",
        "boot.containerdisk: unknown option; did you mean container_disk? [invalid]",
    ]


def test_tasks_and_variables(check: Check) -> None:
    code, lines = check({"tasks.yml": TASKS})
    assert (code, lines) == (
        1,
        [
            "tasks.yml:9: error: virtual machine wrong: memry: unknown option; did you mean memory? [invalid]",
            "tasks.yml:10: error: VirtualMachine {{ shop }}/other: spec.instancetype.name:"
            ' virtualmachineclusterinstancetypes.instancetype.kubevirt.io "u1.huge" not found; did you mean u1.large,'
            " u1.xlarge or u1.8xlarge? [not-found]",
            "tasks.yml:13: note: virtual machine {{ item }}: labels: has a template, so the object is not checked; run"
            " the playbook with --check against a cluster [unchecked]",
            "tasks.yml:16: error: instancetype big: spec.cpu.guest: 0 is too small; write 1 or more [invalid]",
            "tasks.yml:26: error: VirtualMachine shop/listed: spec.preference.name: virtualmachineclusterpreferences"
            '.instancetype.kubevirt.io "fedoro" not found; did you mean fedora, fedora.s390x or fedora.arm64?'
            " [not-found]",
            f"5 objects {CHECKED}: 4 errors, 1 note; not checked: 1 VirtualMachine",
        ],
    )


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"generateName": "Web_"}, "metadata.generateName: 'Web_' is not the beginning of a name"),
        ({"generateName": 5}, "metadata.generateName: 5 is not the beginning of a name"),
        ({"ownerReferences": {}}, "metadata.ownerReferences: expected a list"),
        ({"ownerReferences": ["pool"]}, "metadata.ownerReferences[0].apiVersion: missing"),
        ({"ownerReferences": [{"apiVersion": "v1", "kind": "Pod"}]}, "metadata.ownerReferences[0].name: missing"),
        ({"creationTimestamp": "soon"}, "metadata.creationTimestamp: 'soon' is not a time"),
    ],
    ids=str,
)
def test_metadata_that_every_server_rejects(check: Check, metadata: dict[str, Any], field: str) -> None:
    manifest = vm()
    manifest["metadata"] |= metadata
    code, lines = check({"vm.yaml": manifest})
    assert code == 1 and field in lines[0] and lines[0].endswith("[invalid]")


def test_metadata_of_an_exported_object(check: Check) -> None:
    manifest = vm()
    owner = {"apiVersion": "pool.kubevirt.io/v1beta1", "kind": "VirtualMachinePool", "name": "pool", "uid": "1"}
    manifest["metadata"] |= {"creationTimestamp": "2026-01-02T03:04:05Z", "ownerReferences": [owner]}
    assert check({"vm.yaml": manifest}) == (0, [f"1 object {CHECKED}: nothing found"])


@pytest.mark.parametrize("api_version", ["v1", "instancetype.kubevirt.io/v1beta1"])
def test_kinds_in_an_api_that_lacks_them(check: Check, api_version: str) -> None:
    code, lines = check({"vm.yaml": {**vm(), "apiVersion": api_version}})
    assert code == 1 and f"does not serve VirtualMachine in {api_version}; write kubevirt.io/v1" in lines[0]


def test_changes_since_a_base(check: Check) -> None:
    stopped = vm("off", instancetype={"name": "u1.medium"})
    stopped["spec"]["runStrategy"] = "Halted"
    before = [
        instancetype("own"),
        vm("grows", instancetype={"name": "own"}),
        vm("same", instancetype={"name": "own"}),
        stopped,
    ]
    check({"base/all.yaml": before})
    after = yaml.safe_load(yaml.safe_dump(before))
    after[0]["spec"]["cpu"]["guest"] = 3
    after[1]["spec"]["instancetype"]["name"] = "u1.2xlarge"
    after[3]["spec"]["instancetype"]["name"] = "u1.2xlarge"
    code, lines = check({"head.yaml": [*after, vm("new")]}, "--base", "base")
    assert (code, lines) == (
        0,
        [
            "head.yaml:5: note: VirtualMachineClusterInstancetype own: spec: 1 VM captured the object before the"
            " change; run refresh_revisions [changed-size]",
            "head.yaml:17: warning: VirtualMachine shop/grows: spec.instancetype: a running guest gets"
            " domain.memory.guest only by a restart: memory hotplug not supported, Guest memory is greater than the"
            " configured maxGuest memory"
            " [needs-restart]",
            "head.yaml:45: note: VirtualMachine shop/off: spec.instancetype: domain.cpu.sockets 1 -> 8,"
            " domain.memory.guest 4Gi -> 32Gi: the guest gets it at its next start [changed]",
            "head.yaml:53: note: VirtualMachine shop/new: new [added]",
            f"5 objects {CHECKED}: 1 warning, 3 notes",
            "1 to add, 3 to change, 0 to delete, 1 restart",
        ],
    )
    assert check({"head.yaml": after}, "--base", "base", "--fail-on", "warning")[0] == 1
    grown = [instancetype("four", 4), before[0], vm("grows", instancetype={"name": "four"}), *before[2:]]
    assert "by a restart" not in str(check({"head.yaml": grown}, "--base", "base"))
    check({"base/all.yaml": grown})
    shrunk = [grown[0], *before]
    assert "Reduction of CPU socket count requires" in str(check({"head.yaml": shrunk}, "--base", "base"))
    check({"base/all.yaml": before})
    assert check({"head.yaml": after}, "--base", "base", "--fail-on", "note", "--ignore", "changed-size")[0] == 1
    assert check({"base/all.yaml": before}, "--base", "base", "--fail-on", "note")[0] == 0


def test_files_and_folders(check: Check, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    check(
        {"repository/.hidden/x.yaml": "a: [", "repository/chart/Chart.yaml": "name: x", "repository/notes.txt": "a: ["}
    )
    check(
        {
            "repository/chart/templates/vm.yaml": "{{ if }}",
            "repository/vm.yaml": vm(),
            "repository/deep/two.yaml": "a: 1\na: kubevirt",
            "repository/deep/other.yaml": "a: 1\na: 2",
        }
    )
    assert main(["repository"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "repository/deep/two.yaml:2: warning: duplicate key 'a', first used in line 1; remove one of them [unreadable]",
        f"1 object {CHECKED}: 1 warning",
    ]
    assert main(["repository/deep/two.yaml"]) == 1
    capsys.readouterr()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(yaml.safe_dump(vm()).encode())))
    assert main(["-"]) == 0
    assert capsys.readouterr().out == f"1 object {CHECKED}: nothing found\n"


def test_links_and_pipes(check: Check) -> None:
    check({"repository/sub/vm.yaml": vm()})
    Path("repository/gone.yaml").symlink_to("nowhere")
    Path("repository/again").symlink_to(".")
    Path("repository/sub/up").symlink_to("..")
    os.mkfifo("repository/pipe.yaml")
    assert main(["repository"]) == 0


SURPRISES = """
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: a
  labels:
    no: x
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: b}
spec:
  template:
    spec:
      domain: {cpu: {cores: 010}}
"""


def test_unquoted_yaml_values_are_reported(check: Check) -> None:
    # Elsewhere in a repository it is nobody's mistake.
    others = "- on: push\n  1: x\n- ansible.builtin.file: {path: x, mode: 0644}\n"
    task = "- virtshape.instancetypes.instancetype: {name: a, cpu: {guest: 010}, memory: {guest: 4Gi}}\n"
    catalog = "series:\n  a: {sizes: {no: {cpu: 2, memory: 4Gi}}}\n"
    _code, lines = check({"others.yml": others, "vm.yaml": SURPRISES, "task.yml": task, "catalog.yml": catalog})
    assert lines == [
        "vm.yaml:2: error: VirtualMachine default/a: spec: missing; write the object's spec [invalid]",
        "vm.yaml:7: error: VirtualMachine default/a: metadata.labels.no: the key no is false in YAML; put it in quotes"
        " [invalid]",
        "vm.yaml:12: error: VirtualMachine default/b: spec.running: runStrategy is missing; set it [refused]",
        "vm.yaml:15: error: VirtualMachine default/b: spec.template.spec.domain.cpu.cores: 010 is 8 in YAML; write 8 or"
        ' "010" [invalid]',
        "vm.yaml:15: error: VirtualMachine default/b: spec.template.spec.domain.devices:"
        " devices is missing; set it [refused]",
        'task.yml:1: error: instancetype a: cpu.guest: 010 is 8 in YAML; write 8 or "010" [invalid]',
        "catalog.yml:2: error: series.a.sizes.no: the key no is false in YAML; put it in quotes [invalid]",
        f"3 objects {CHECKED}: 7 errors",
    ]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"metadata": ["web"]}, "metadata: expected a mapping, found ['web']"),
        ({"metadata": {"name": 5}}, f"metadata.name: expected a string, found 5{AS_TEXT}"),
        ({"apiVersion": ["v1"]}, "apiVersion: expected a string, found ['v1']"),
        ({"metadata": None}, "metadata.name: missing; write a name such as web-1"),
        ({"spec": []}, "spec: expected a mapping, found []"),
    ],
)
def test_objects_that_no_api_server_takes(check: Check, part: dict[str, Any], message: str) -> None:
    for kind in (vm(instancetype={"name": "x"}), instancetype("x")):
        code, lines = check({"x.yaml": {**kind, **part}, "vm.yaml": vm(instancetype={"name": "y"})})
        assert code == 1
        assert any(line.endswith(f": {message} [invalid]") for line in lines), lines


def test_a_vm_without_a_template(check: Check) -> None:
    manifest = vm(preference={"name": "windows.11"})
    manifest["spec"]["template"] = None
    code, lines = check({"vm.yaml": manifest})
    assert code == 1 and "template is missing" in "\n".join(lines)


@pytest.mark.parametrize("configuration", [{"network": "x"}, {"permittedHostDevices": "x"}])
def test_a_malformed_kubevirt(check: Check, capsys: pytest.CaptureFixture[str], configuration: dict[str, Any]) -> None:
    kubevirt = {"apiVersion": "kubevirt.io/v1", "kind": "KubeVirt", "spec": {"configuration": configuration}}
    Path("kubevirt.yaml").write_text(yaml.safe_dump(kubevirt))
    Path("vm.yaml").write_text(yaml.safe_dump(vm()))
    assert main(["vm.yaml", "--kubevirt", "kubevirt.yaml"]) == 2
    result = capsys.readouterr().err
    assert result.startswith("error: --kubevirt: ") and "malformed" in result


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["none"], "error: none: no such file or folder; name a file, a folder, or - for standard input\n"),
        ([".", "--kubevirt-version", "x"], "error: --kubevirt-version: 'x' is not a version"),
        ([".", "--kubevirt-version", ""], "error: --kubevirt-version: '' is not a version"),
        (
            [".", "--kubevirt-version", "1.11"],
            "error: --kubevirt-version: this collection does not know KubeVirt 1.11; write 1.4 to 1.10",
        ),
        ([".", "--objects", "none"], "error: none: no such file"),
        (["vm.yaml", "--kubevirt", "vm.yaml"], "error: --kubevirt: vm.yaml has no KubeVirt object; kubectl get"),
        (["vm.yaml", "--output", "none/report"], "error: [Errno 2] No such file or directory: 'none/report'"),
    ],
)
def test_unusable_arguments_exit_with_code_2(
    check: Check, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    check({"vm.yaml": vm()})
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(problem)


def test_everything_kubevirt_refuses_is_an_error() -> None:
    """KubeVirt's own answers to VMs are recorded for the conformance tests."""
    refused = 0
    for case in json.loads(VALIDATED.read_text()):
        options = case["input"]
        existing = checked_objects.KnownObjects([item for item in options.get("objects") or [] if item.get("kind")])
        kubevirt = kubevirt_of({"spec": {"configuration": options.get("config") or {}}}, "v1.9.0")
        entry = checked_objects.CheckedObject(Location("vm.json"), options["object"])
        result = list(evaluate.evaluate([entry], existing, kubevirt))
        if not case["expect"].get("allowed"):
            refused += 1
            assert any(finding.severity == "error" for finding in result), case
    assert refused >= 30


@pytest.mark.parametrize("metadata", [{}, None])
def test_objects_without_a_name_have_no_earlier_revision(check: Check, metadata: Any) -> None:
    nameless = {**vm(), "metadata": metadata}
    check({"base/all.yaml": nameless})
    code, lines = check({"head.yaml": nameless}, "--base", "base")
    assert code == 1 and "metadata.name: missing; write a name such as web-1 [invalid]" in lines[0]
