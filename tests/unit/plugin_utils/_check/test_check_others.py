"""The check's findings about Templates, about tasks of other collections, and about what it cannot judge."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from checked_files import CHECKED

from plugins.plugin_utils._check.templates import template_objects

Lines = Callable[..., list[str]]


@pytest.fixture
def lines(check: Callable[..., tuple[int, list[str]]]) -> Lines:
    """The lines about one file."""
    return lambda text, *options: check({"x.yml": text}, *options)[1]


TASKS = """\
- hosts: localhost
  tasks:
    - kubernetes.core.k8s:
        namespace: shop
        definition:
          apiVersion: kubevirt.io/v1
          kind: VirtualMachine
          metadata: {name: "{{ item }}"}
          spec: {runStrategy: Always, instancetype: {name: u1.none}, template: {spec: {domain: {devices: {}}}}}
    - block:
        - kubernetes.core.k8s:
            api_version: kubevirt.io/v1
            kind: VirtualMachine
            name: listed
            definition:
              - spec: {runStrategy: Always, instancetype: {name: u1.none}, template: {spec: {domain: {devices: {}}}}}
              - {apiVersion: v1, kind: Pod, metadata: {name: "{{ item }}"}}
    - kubernetes.core.k8s:
        definition: |
          apiVersion: kubevirt.io/v1
          kind: VirtualMachine
          metadata: {name: text, namespace: shop}
          spec: {runStrategy: Always, instancetype: {name: u1.none}, template: {spec: {domain: {devices: {}}}}}
    - kubernetes.core.k8s:
        definition: |
          kind: VirtualMachine
          metadata: {name: {{ item }}}
    - kubernetes.core.k8s:
        definition: {apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: a, labels: {b: "{{ c }}"}}}
    - kubernetes.core.k8s:
        state: patched
        definition: {apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: a}, spec: {}}
    - kubernetes.core.k8s:
        state: absent
        definition: {apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: a}}
    - kubevirt.core.kubevirt_vm:
        name: web
        namespace: shop
        instancetype: {name: u1.none}
        spec: {domain: {devices: {}}}
    - kubevirt.core.kubevirt_vm: {generate_name: web-, namespace: shop, running: false, instancetype: {name: u1.none}}
    - kubevirt.core.kubevirt_vm: {name: web, namespace: shop, spec: "{{ spec }}"}
    - kubevirt_vm: {name: old, memory: 4Gi}
"""
REST = "which is not checked; the rest is [unchecked]"
HINT = "so the object is not checked; run the playbook with --check against a cluster [unchecked]"


def test_tasks_of_other_collections(lines: Lines) -> None:
    *found, summary = lines(TASKS)
    none = ": spec.instancetype.name: virtualmachineclusterinstancetypes"
    assert [line.partition(none)[0] for line in found] == [
        "x.yml:9: error: VirtualMachine shop/{{ item }}",
        "x.yml:16: error: VirtualMachine default/listed",
        "x.yml:19: error: VirtualMachine shop/text",
        f"x.yml:25: note: VirtualMachine: has a template, {HINT}",
        f"x.yml:29: note: VirtualMachine a: is a patch, {HINT}",
        f"x.yml:32: note: VirtualMachine a: is a patch, {HINT}",
        "x.yml:40: error: VirtualMachine shop/web",
        "x.yml:41: error: VirtualMachine shop/web-x",
        f"x.yml:42: note: VirtualMachine shop/web: has a template in spec.template.spec, {REST}",
        f"x.yml:43: note: VirtualMachine old: the options of community.kubevirt are not known, {HINT}",
    ]
    assert summary == f"6 objects {CHECKED}: 5 errors, 5 notes; not checked: 4 VirtualMachine"


LINKED = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: "{{ name }}"}
spec: {runStrategy: Always, instancetype: {name: u1.none}, template: {spec: {domain: {devices: {}}}}}
"""


PLAY = """\
- hosts: localhost
  module_defaults: {kubevirt.core.kubevirt_vm: {namespace: shop, instancetype: {name: u1.none}}}
  tasks:
    - redhat.openshift.k8s: {template: vm.yml.j2, namespace: lab}
    - k8s: {src: templates/later.yml.j2, state: patched}
"""


def test_files_that_tasks_take_are_checked(check: Callable[..., tuple[int, list[str]]]) -> None:
    files = {"templates/vm.yml.j2": LINKED, "templates/later.yml.j2": LINKED, "play.yml": PLAY}
    check(files)
    for path in ("play.yml", "."):
        _code, found = check({}, paths=[path])
        assert any(
            line.endswith(f"later.yml.j2:1: note: VirtualMachine {{{{ name }}}}: is a patch, {HINT}") for line in found
        )
        error = "templates/vm.yml.j2:4: error: VirtualMachine lab/{{ name }}: spec.instancetype.name: "
        assert any(line.startswith(error) for line in found) and len(found) == 3


TEMPLATE = """\
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: web}
objects:
  - apiVersion: kubevirt.io/v1
    kind: VirtualMachine
    metadata: {name: "${NAME}", namespace: shop}
    spec:
      runStrategy: Always
      instancetype: {name: "${SIZE}"}
      template: {spec: {domain: {devices: {}}, terminationGracePeriodSeconds: "${{SECONDS}}"}}
  - {apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: "${OTHER}"}, spec: {}}
  - {apiVersion: v1, kind: Secret, metadata: {name: "${OTHER}"}}
parameters:
  - {name: NAME, generate: expression, from: "web-[a-z0-9]{4}"}
  - {name: SIZE, value: u1.medum}
  - {name: SECONDS, value: "30"}
  - {name: OTHER, required: true}
"""


def test_templates_with_the_default_values(lines: Lines) -> None:
    first, second, summary = lines(TEMPLATE)
    assert first.startswith("x.yml:10: error: VirtualMachine shop/web-4i3i: spec.instancetype.name: ")
    assert second == (
        "x.yml:12: note: VirtualMachine ${OTHER}: the parameter OTHER of the Template has no value, so the object is"
        " not checked [unchecked]"
    )
    assert summary == f"1 object {CHECKED}: 1 error, 1 note; not checked: 1 VirtualMachine"


def test_each_parameter_without_value_is_one_note(lines: Lines) -> None:
    notes = [line for line in lines("---\n".join([TEMPLATE] * 3)) if "has no value" in line]
    assert [note.partition("not checked; ")[2] for note in notes] == ["nor 2 others of the file [unchecked]"]


def test_values_of_parameters() -> None:
    parameters = [
        {"name": "A", "value": "x"},
        {"name": "B"},
        {"name": "C", "value": "true"},
        {"name": "D", "generate": "expression", "from": r"[\w]{2}-[\d]{1}-[A-Z]{1}"},
        {"name": "E", "value": "not: json"},
    ]
    item = {"${A}": ["${A}-${B}-${D}", "${{C}}", "${{E}}", "${UNKNOWN}", "${{UNKNOWN}}", 5]}
    ((index, result, missing),) = template_objects({"parameters": parameters, "objects": [item]})
    assert (index, missing) == (0, "")
    assert result == {"x": ["x--VR-5-E", True, "not: json", "${UNKNOWN}", "${UNKNOWN}", 5]}


@pytest.mark.parametrize(
    "parameter", [{"value": "null"}, {"generate": "expression", "from": "[b-a]{1}", "required": 1}]
)
def test_parameter_without_usable_value_is_named(parameter: dict[str, Any]) -> None:
    template = {"parameters": [{"name": "A", **parameter}], "objects": [{"a": "${{A}}"}]}
    assert list(template_objects(template)) == [(0, {"a": "${{A}}"}, "A")]


OTHERS = """\
apiVersion: v1
kind: List
items:
  - {apiVersion: kubevirt.io/v1, kind: VirtualMachineInstanceReplicaSet, metadata: {name: small}}
  - {apiVersion: kubevirt.io/v1, kind: VirtualMachineInstanceReplicaSet, metadata: {name: large}}
  - {apiVersion: pool.kubevirt.io/v1beta1, kind: VirtualMachinePool, metadata: {name: web}}
  - {apiVersion: v1, kind: Secret, metadata: {name: web}}
"""


def test_unchecked_objects_are_counted(lines: Lines) -> None:
    *notes, nothing, summary = lines(OTHERS)
    assert [note.partition(": is not")[0] for note in notes] == [
        "x.yml:4: note: VirtualMachineInstanceReplicaSet small",
        "x.yml:5: note: VirtualMachineInstanceReplicaSet large",
        "x.yml:6: note: VirtualMachinePool web",
    ]
    assert nothing.startswith("x.yml: warning: nothing checked: ")
    assert summary == (
        f"0 objects {CHECKED}: 1 warning, 3 notes;"
        " not checked: 2 VirtualMachineInstanceReplicaSet, 1 VirtualMachinePool"
    )
    data = json.loads("\n".join(lines(OTHERS, "--format", "json")))
    assert data["unchecked"] == {"VirtualMachineInstanceReplicaSet": 2, "VirtualMachinePool": 1}


def test_nothing_checked_is_a_warning(lines: Lines) -> None:
    assert lines("a: b")[0].startswith("x.yml: warning: nothing checked: ")
    assert lines("a: b", "--ignore", "unchecked") == [f"0 objects {CHECKED}: nothing found"]
    # An error says more.
    assert "nothing checked" not in "".join(lines("a: ["))
