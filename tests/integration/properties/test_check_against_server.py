"""The check and the server say the same of manifests, with each treatment of unknown fields (see also `make wild`)."""

from collections import Counter
from pathlib import Path

import pytest
from check_against_server import VALIDATION, compared, files

from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._cluster.reads.kubevirt import kubevirt

VM = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: beside}\nspec: "
MEMORY = "memory: {guest: 1Gi}"


def domain(content: str, more: str = "") -> str:
    return f"{VM}{{runStrategy: Halted, template: {{spec: {{domain: {{{content}}}{more}}}}}}}"


def instancetype(spec: str, version: str = "v1beta1") -> str:
    kind = f"apiVersion: instancetype.kubevirt.io/{version}\nkind: VirtualMachineInstancetype"
    return f"{kind}\nmetadata: {{name: beside}}\nspec: {spec}"


MANIFESTS = {
    "accepted": domain(f"devices: {{}}, {MEMORY}"),
    "no memory": domain("devices: {}"),
    "generated name": domain(f"devices: {{}}, {MEMORY}").replace("name:", "generateName:"),
    "no name": domain(f"devices: {{}}, {MEMORY}").replace("name: beside", ""),
    "no spec": VM.replace("spec: ", ""),
    "no template": f"{VM}{{runStrategy: Halted, instancetype: {{name: beside}}}}",
    "an empty template": f"{VM}{{runStrategy: Halted, template: {{}}}}",
    "no domain": f"{VM}{{runStrategy: Halted, template: {{spec: {{}}}}}}",
    "null domain": f"{VM}{{runStrategy: Halted, template: {{spec: {{domain: }}}}}}",
    "no devices": domain(MEMORY),
    "misspelt field": domain(f"devices: {{diskz: []}}, {MEMORY}"),
    "misplaced field": f"{VM}{{runStrategy: Halted, domain: {{}}, template: {{spec: {{domain: {{devices: {{}}}}}}}}}}",
    "misplaced metadata": domain(f"devices: {{}}, {MEMORY}").replace("name: beside", "name: beside, owner: me"),
    "kept field": domain(f"devices: {{}}, {MEMORY}, clock: {{zone: UTC}}"),
    "field in what is kept": domain(f"devices: {{}}, {MEMORY}, clock: {{timer: {{hpet: {{enabled: false}}}}}}"),
    "clock as a list": domain(f"devices: {{bogus: 1}}, {MEMORY}, clock: {{timer: [{{name: a}}]}}"),
    "two ways to run": domain(f"devices: {{}}, {MEMORY}").replace("runStrategy:", "running: true, runStrategy:"),
    "a namespace that is no name": domain("devices: {}").replace("name: beside", "name: Beside, namespace: Shop"),
    "kept metadata": domain("devices: {}").replace("template: {", "template: {metadata: {owner: me}, "),
    "no capacity": domain("devices: {}", ", volumes: [{name: a, emptyDisk: {}}]"),
    "no name of a disk": domain("devices: {disks: [{disk: {}}]}"),
    "null in a list": domain("devices: {}", ", volumes: [null]"),
    "number for text": domain("devices: {}", ", hostname: 5"),
    "text for a number": domain("devices: {}, cpu: {cores: two}"),
    "list for an object": domain("devices: {}, cpu: []"),
    "number as label": domain(f"devices: {{}}, {MEMORY}").replace("name: beside", "name: beside, labels: {a: 1}"),
    "input without type": domain("devices: {inputs: [{bus: usb, name: a}]}"),
    "a machine without type": domain("devices: {}, machine: {}"),
    "content type": domain("devices: {}").replace(
        "template:", "dataVolumeTemplates: [{metadata: {name: a}, spec: {contentType: iso}}], template:"
    ),
    "spread twice": domain(
        "devices: {}",
        ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule},"
        " {maxSkew: 2, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]",
    ),
    "reboot policy": domain("devices: {}, rebootPolicy: Sometimes"),
    "version that is not served": domain("devices: {}").replace("io/v1", "io/v1alpha1"),
    "old version that is served": domain("devices: {}").replace("io/v1", "io/v1alpha3"),
    "instancetype": instancetype("{cpu: {guest: 1}, memory: {guest: 1Gi}}"),
    "instancetype without memory": instancetype("{cpu: {guest: 1}}"),
    "instancetype without vCPUs": instancetype("{cpu: {}, memory: {guest: 1Gi}}"),
    "instancetype with a misspelt field": instancetype("{cpu: {guest: 1, cores: 2}, memory: {guest: 1Gi}}"),
    "instancetype with status": instancetype("{cpu: {guest: 1}, memory: {guest: 1Gi}}\nstatus: {}"),
    "overcommit": instancetype("{cpu: {guest: 1}, memory: {guest: 1Gi, overcommitPercent: 200}}"),
    "an API without this kind": VM.replace("kubevirt.io/v1", "instancetype.kubevirt.io/v1beta1") + "{}",
    "no group": VM.replace("kubevirt.io/v1", "v1") + "{}",
    "beginning of a name": domain("devices: {}").replace("name: beside", "name: beside, generateName: Web_"),
    "an owner without a name": domain("devices: {}").replace("name: beside", "name: beside, ownerReferences: [{}]"),
    "a time that is none": domain("devices: {}").replace("name: beside", "name: beside, creationTimestamp: soon"),
    "null metadata": f"{VM}{{runStrategy: Halted, template: {{metadata: , spec: {{domain: {{devices: {{}}}}}}}}}}",
    "null labels": domain("devices: {}").replace("template: {", "template: {metadata: {labels: }, "),
    "null time": domain("devices: {}").replace("template: {", "template: {metadata: {creationTimestamp: }, "),
    "null name of a disk": domain("devices: {}").replace(
        "template:", "dataVolumeTemplates: [{metadata: {name: }, spec: {}}], template:"
    ),
    "null request": domain(f"devices: {{}}, {MEMORY}, resources: {{requests: {{memory: }}}}"),
    "negative memory": domain("devices: {}, memory: {guest: -1Gi}"),
    "memory without unit": domain("devices: {}, memory: {guest: 1024}"),
    "gigabytes": domain("devices: {}, memory: {guest: 1GB}"),
    "negative grace period": domain(f"devices: {{}}, {MEMORY}", ", terminationGracePeriodSeconds: -1"),
    "label of no node": domain(f"devices: {{}}, {MEMORY}", ", nodeSelector: {a b: c}"),
    "effect of a taint": domain(f"devices: {{}}, {MEMORY}", ", tolerations: [{operator: Exists, effect: Never}]"),
    "value of a taint that exists": domain(
        f"devices: {{}}, {MEMORY}", ", tolerations: [{key: a, operator: Exists, value: b}]"
    ),
    "operator of an affinity": domain(
        f"devices: {{}}, {MEMORY}",
        ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"
        " {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Is}]}]}}}",
    ),
    "scheme of a probe": domain(f"devices: {{}}, {MEMORY}", ", livenessProbe: {httpGet: {port: 80, scheme: ftp}}"),
    "access mode": domain("devices: {}").replace(
        "template:", "dataVolumeTemplates: [{metadata: {name: a}, spec: {storage: {accessModes: [All]}}}], template:"
    ),
    "unknown kind of instancetype": domain("devices: {}").replace("{run", "{instancetype: {name: a, kind: Big}, run"),
    "lock of memory": domain("devices: {}, memory: {guest: 1Gi, reservedOverhead: {memLock: Maybe}}"),
    "two disks of one name": domain(
        f"devices: {{disks: [{{name: a, disk: {{}}}}, {{name: a, disk: {{}}}}]}}, {MEMORY}",
        ", volumes: [{name: a, emptyDisk: {capacity: 1Gi}}]",
    ),
    "size of pages of an instancetype": instancetype(
        "{cpu: {guest: 1}, memory: {guest: 1Gi, hugepages: {pageSize: x}}}"
    ),
    "old instancetype": instancetype("{cpu: {guest: 1}, memory: {guest: 1Gi}}", "v1alpha2"),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_check_and_server_refuse_the_same_fields(name: str, session: Session, tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(MANIFESTS[name])
    [file] = files(tmp_path)
    results = list(compared(file, session, kubevirt(session), []))
    assert Counter(map(type, results)) == {str: len(VALIDATION) * len(file.found)}, "\n".join(map(str, results))
