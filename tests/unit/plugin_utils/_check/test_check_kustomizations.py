"""Patches of kustomizations are applied to their bases; kustomize 5.5 builds the same objects."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from checked_files import CHECKED

from plugins.plugin_utils._check.json_patch import PatchError, json_patched, merge_patched
from plugins.plugin_utils._check.kustomizations import patched

Check = Callable[..., tuple[int, list[str]]]
BASE = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, labels: {app: web}}
spec:
  template:
    spec:
      domain:
        memory: {guest: 1Gi}
        devices: {disks: [{name: a, disk: {}}]}
      volumes: [{name: a, containerDisk: {image: x}}]
"""
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
STRATEGIC = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec: {runStrategy: Halted, template: {spec: {domain: {memory: {guest: SIZE}}}}}
"""
FILES = {"all/base/kustomization.yaml": f"{KUSTOMIZATION}resources: [vm.yaml]\n", "all/base/vm.yaml": BASE}


def overlay(patches: str, name: str = "prod") -> dict[str, str]:
    return {f"all/{name}/kustomization.yaml": f"resources: [../base]\n{patches}"}


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("patches", "files"),
    [
        ("patches: [{path: size.yaml}]\n", {"size.yaml": STRATEGIC}),
        (f"patches:\n- patch: |\n{indented(STRATEGIC)}", {}),
        ("patchesStrategicMerge: [size.yaml]\n", {"size.yaml": STRATEGIC}),
        (f"patchesStrategicMerge:\n- |\n{indented(STRATEGIC)}", {}),
        (
            "patches: [{path: size.yaml, target: {kind: VirtualMachine, name: w.*, labelSelector: 'app=web'}}]\n",
            {"size.yaml": STRATEGIC.replace("name: web", "name: any")},
        ),
        (
            "patchesJson6902: [{path: size.json, target: {group: kubevirt.io, version: v1, kind: VirtualMachine}}]\n",
            {
                "size.json": '[{"op": "add", "path": "/spec/runStrategy", "value": "Halted"}, {"op": "replace",'
                ' "path": "/spec/template/spec/domain/memory/guest", "value": "SIZE"}]'
            },
        ),
        ("components: [../more]\n", {"../more/kustomization.yaml": "patches: [{path: size.yaml}]\n", "size.yaml": ""}),
    ],
)
def test_a_patch_is_judged_in_its_base(patches: str, files: dict[str, str], check: Check) -> None:
    files = {f"all/prod/{name}": text for name, text in files.items()}
    if "all/prod/../more/kustomization.yaml" in files:
        files["all/more/kustomization.yaml"] = files.pop("all/prod/../more/kustomization.yaml")
        files["all/more/size.yaml"] = STRATEGIC
        del files["all/prod/size.yaml"]
    for size, code in (("2Gi", 0), ("2Gib", 1)):
        sized = {name: text.replace("SIZE", size) for name, text in {**FILES, **overlay(patches), **files}.items()}
        found, lines = check(sized, paths=["all"])
        assert found == code and lines[-1].startswith("1 object checked")
        assert code == 0 or lines[0].startswith("all/base/vm.yaml:8: error: VirtualMachine default/web: spec.template")


def test_each_overlay_is_judged(check: Check) -> None:
    running = "patches:\n- patch: |\n" + indented(STRATEGIC.replace("SIZE", "2Gi"))
    wrong = "patches:\n- patch: |\n" + indented(STRATEGIC.replace("SIZE", "2G1"))
    _code, lines = check({**FILES, **overlay(wrong), **overlay(wrong, "dev")}, paths=["all"])
    assert len(lines) == 2
    _code, lines = check({**FILES, **overlay(running), **overlay(wrong, "dev")}, paths=["all"])
    assert len([line for line in lines if "'2G1' is not a quantity" in line]) == 1
    assert "2 objects checked" in lines[-1]


@pytest.mark.parametrize(
    "target",
    ["name: other", "kind: Pod", "namespace: x", "group: apps", "labelSelector: app=db", "annotationSelector: a=b"],
)
def test_patches_of_others_are_not_applied(target: str, check: Check) -> None:
    patches = f'patches:\n- target: {{{target}}}\n  patch: \'[{{"op": "remove", "path": "/spec"}}]\'\n'
    running = BASE.replace("spec:\n  template", "spec:\n  runStrategy: Halted\n  template", 1)
    code, lines = check({**FILES, "all/base/vm.yaml": running, **overlay(patches)}, paths=["all"])
    assert (code, lines) == (0, [f"1 object {CHECKED}: nothing found"])


def test_a_patch_without_its_base_is_a_note(check: Check) -> None:
    remote = {"all/kustomization.yaml": "resources: ['https://example.com/base']\npatches: [{path: size.yaml}, 5]\n"}
    code, lines = check({**remote, "all/size.yaml": STRATEGIC}, paths=["all"])
    assert code == 0 and lines[0].startswith("all/size.yaml:1: note: VirtualMachine web: is a patch whose base is not")
    broken = "patches: [{patch: 'a: [', target: {name: '['}}]\n"
    running = BASE.replace("spec:\n  template", "spec:\n  runStrategy: Halted\n  template", 1)
    assert check({**FILES, "all/base/vm.yaml": running, **overlay(broken)}, paths=["all/base", "all/prod"])[0] == 0


def test_replacements_are_unknown(check: Check) -> None:
    running = BASE.replace("spec:\n  template", "spec:\n  runStrategy: bad\n  template", 1)
    replaced = """\
replacements:
- source: {kind: ConfigMap, name: c, fieldPath: data.strategy}
  targets:
  - select: {kind: VirtualMachine}
    fieldPaths: [spec.runStrategy, spec.none.field]
"""
    code, lines = check({**FILES, "all/base/vm.yaml": running, **overlay(replaced)}, paths=["all"])
    assert code == 0 and "has a template in spec.runStrategy" in lines[0]


@pytest.mark.parametrize(
    "patch",
    [
        f"patch: |\n{indented(STRATEGIC)}    $patch: delete\n",
        'target: {kind: VirtualMachine}\n  patch: "$patch: delete"\n',
        """target: {kind: VirtualMachine}\n  patch: '[{"op": "remove", "path": ""}]'\n""",
    ],
)
def test_deleted_objects_are_not_judged(patch: str, check: Check) -> None:
    wrong = BASE.replace("1Gi", "1Gib")
    later = f"- target: {{kind: VirtualMachine}}\n  patch: |\n{indented(STRATEGIC)}"
    deleted = overlay(f"patches:\n- {patch}{later}")
    code, lines = check({**FILES, "all/base/vm.yaml": wrong, **deleted}, paths=["all"])
    assert code == 0 and lines[0].endswith("check the paths [unchecked]")
    kept = overlay("", "dev")
    code, lines = check({**FILES, "all/base/vm.yaml": wrong, **deleted, **kept}, paths=["all"])
    assert code == 1 and "1 object checked" in lines[-1]


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ("metadata: {name: web, $patch: delete}", {"name": "web"}),
        ("metadata: {name: web, $patch: replace, labels: {n: m}}", {"name": "web", "labels": {"n": "m"}}),
        ("{metadata: {labels: {n: m}}, $patch: replace}", {"name": "web", "labels": {"a": "b"}}),
        ("{metadata: {labels: {n: m}}, $patch: merge}", {"name": "web", "labels": {"a": "b", "n": "m"}}),
    ],
)
def test_directives_are_those_of_kustomize(patch: str, expected: Any) -> None:
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"a": "b"}}}
    changed = patched(manifest, yaml.safe_load(patch))
    assert changed is not None and changed["metadata"] == expected


@pytest.mark.parametrize("value", ["", "text", "5", "[]", "[5]", "{}", "[[]]", "{a: b}", "[{path: 5}]", "[{patch: 5}]"])
@pytest.mark.parametrize(
    "place",
    [
        *("resources: VALUE", "components: VALUE", "patches: VALUE", "patchesStrategicMerge: VALUE"),
        *("patchesJson6902: VALUE", "replacements: VALUE", "configMapGenerator: VALUE", "VALUE"),
        *("patches: [{target: VALUE, patch: '$patch: delete'}]", "patches: [{target: {kind: VALUE}, patch: 'a: b'}]"),
        "patches: [{target: {kind: VirtualMachine}, patch: 'VALUE'}]",
        "patches: [{target: {kind: VirtualMachine}, patch: '{metadata: VALUE}'}]",
        "patches: [{target: {kind: VirtualMachine}, patch: '{kind: VALUE, $patch: VALUE}'}]",
        "patches: [{target: {labelSelector: VALUE, annotationSelector: VALUE}, patch: '{spec: VALUE}'}]",
        """patches: [{target: {name: web}, patch: '[{"op": "replace", "path": "/metadata", "value": VALUE}]'}]""",
        """patches: [{target: {name: web}, patch: '[{"op": "add", "path": "/kind", "value": VALUE}]'}]""",
        """patches: [{target: {name: web}, patch: '[{"op": "add", "path": "", "value": VALUE}]'}]""",
        "replacements: [{targets: VALUE}]",
        "replacements: [{targets: [{select: VALUE, fieldPaths: VALUE}]}]",
        "replacements: [{targets: [{select: {name: web}, options: VALUE, fieldPaths: [spec.more]}]}]",
        "secretGenerator: [{files: VALUE}]",
    ],
)
def test_malformed_kustomizations_do_not_stop_the_check(place: str, value: str, check: Check) -> None:
    wrong = {"all/a.yaml": BASE.replace("web", "other").replace("1Gi", "1Gib")}
    code, lines = check({**FILES, **overlay(place.replace("VALUE", value)), **wrong}, paths=["all"])
    assert code == 1 and any("VirtualMachine default/other" in line for line in lines)


def test_files_of_generators_are_data(check: Check) -> None:
    generator = "secretGenerator:\n- {name: vms, files: [vm.yaml, second=more/vm.yaml]}\n"
    wrong = BASE.replace("1Gi", "placeholder")
    files = {"all/vm.yaml": wrong, "all/more/vm.yaml": wrong}
    code, lines = check({**files, "all/kustomization.yaml": generator}, paths=["all"])
    assert code == 0
    noted = [line.split(":")[0] for line in lines if "is data of" in line]
    assert noted == ["all/more/vm.yaml", "all/vm.yaml"]
    both = {"all/kustomization.yaml": f"{generator}resources: [vm.yaml]\n"}
    assert check({**files, **both}, paths=["all"])[0] == 1


def test_kustomizations_in_a_circle_end(check: Check) -> None:
    circle = {"all/base/kustomization.yaml": f"{KUSTOMIZATION}resources: [vm.yaml, ../base, ../prod]\n"}
    assert "1 object checked" in check({**FILES, **circle, **overlay("components: [../base]\n")}, paths=["all"])[1][-1]


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ({"a": None, "b": {"c": 2}}, {"b": {"c": 2, "d": [1]}}),
        ({"b": {"d": [2]}}, {"a": 1, "b": {"c": 1, "d": [2]}}),
        ({"b": {"$patch": "delete"}}, {"a": 1}),
        ({"b": {"$patch": "replace", "e": {"f": None, "g": 1}}}, {"a": 1, "b": {"e": {"g": 1}}}),
        ({"a": {"x": 1}}, {"a": {"x": 1}, "b": {"c": 1, "d": [1]}}),
        ({"b": {"$patch": "merge", "d": None}}, {"a": 1, "b": {"c": 1}}),
        ({"b": {"d": [{"$patch": "delete"}]}}, {"a": 1, "b": {"c": 1, "d": [{"$patch": "delete"}]}}),
        (
            {"e": {"f": {"$patch": "delete"}, "$retainKeys": []}},
            {"a": 1, "b": {"c": 1, "d": [1]}, "e": {"$retainKeys": []}},
        ),
    ],
)
def test_mappings_are_merged_and_lists_replaced(patch: dict[str, Any], expected: dict[str, Any]) -> None:
    assert merge_patched({"a": 1, "b": {"c": 1, "d": [1]}}, patch) == expected


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/b/-", "value": 3}, {"a/~": 1, "b": [1, 2, 3]}),
        ({"op": "add", "path": "/b/0", "value": 0}, {"a/~": 1, "b": [0, 1, 2]}),
        ({"op": "replace", "path": "/a~1~0", "value": 2}, {"a/~": 2, "b": [1, 2]}),
        ({"op": "remove", "path": "/b/0"}, {"a/~": 1, "b": [2]}),
        ({"op": "move", "from": "/b", "path": "/c"}, {"a/~": 1, "c": [1, 2]}),
        ({"op": "copy", "from": "/b/1", "path": "/c"}, {"a/~": 1, "b": [1, 2], "c": 2}),
        ({"op": "test", "path": "/b", "value": [1, 2]}, {"a/~": 1, "b": [1, 2]}),
        ({"op": "replace", "path": "", "value": {}}, {}),
    ],
)
def test_operations_are_those_of_the_standard(operation: dict[str, Any], expected: Any) -> None:
    assert json_patched({"a/~": 1, "b": [1, 2]}, [operation]) == expected


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/a", "value": 2},
        {"op": "remove", "path": "/x"},
        {"op": "rename", "path": "/a"},
        "text",
        {},
    ],
)
def test_operations_that_do_not_fit_are_refused(operation: Any) -> None:
    with pytest.raises(PatchError):
        json_patched({"a": 1}, [operation])
