"""Values that an engine fills in are unknown, and the rest of a file is judged."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from yaml_scalars.cases import FIELDS, manifest

Findings = Callable[..., list[dict[str, Any]]]
FORMS = (
    *("${X}", "$X", "${X:=}", "${X^^}", "${X:0:8}", "${X/a/b}", "$${X}", "${var.x}", "${X}Gi", "a-${X}"),
    *("{{ x }}", "{{ x | default('a: b') }}", "{{ 'a' if b else 'c' }}", "{{ x['y'] }}{{ z }}", "a-{{ x }}-b"),
    *("{{ .Values.x }}", "{{- .Values.x | quote -}}", '{{ include "a" (dict "b" .) }}', "{{$x}}", "{{ range(3) }}"),
    *("${{X}}", "${{ matrix.x }}", "$(params.x)", "$[[ inputs.x ]]", "<%= x %>", "((x))", "{{inputs.parameters.x}}"),
    "ENC[AES256_GCM,data:abc=,iv:x=,tag:y=,type:str]",
)
VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: {{ name }}
spec:
  runStrategy: Always
  instancetype: {name: u1.none}
  template:
    spec:
      domain: {devices: {}}
"""
CHART = """\
{{- if .Values.enabled }}
{{- $name := .Release.Name }}
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: {{ include "name" . }}
  labels:
    {{- include "labels" . | nindent 4 }}
    app: web
  {{- with .Values.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{/* a comment
       in two lines */}}
  runStrategy: Always
  preference: {name: fedoro}
  {{- if .Values.size }}
  instancetype: {name: {{ .Values.size }}}
  {{- else }}
  instancetype: {name: other}
  {{- end }}
  template:
    spec:
      domain:
        {{- if not .Values.size }}
        cpu: {cores: {{ .Values.cores }}}
        memory: {guest: {{ .Values.memory | quote }}}
        {{- end }}
        devices:
          disks:
            {{- range .Values.disks }}
            - {name: {{ .name }}, disk: {}}
            {{- end }}
      volumes:
        {{- range .Values.disks }}
        - {name: {{ .name }}, containerDisk: {image: x}}
        {{- end }}
        {{- toYaml .Values.volumes | nindent 8 }}
{{- end }}
{{ define "unused" }}
kind: VirtualMachine
{{ end }}
"""
JINJA = """\
{# Two lines
   of a comment #}
{% macro label(x) %}
{{ x }}
{% endmacro %}
{% for vm in vms %}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: {{ vm.name }}, namespace: "{{
  namespace }}"}
spec:
{% if vm.running %}
  runStrategy: Always
{% else %}
  runStrategy: Halted
{% endif %}
  instancetype: {name: u1.none}
  template:
    spec:
      {% include "node.yml" %}
      domain: {devices: {}}
{% endfor %}
"""


def errors(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(item["file"], item["line"], item["rule"], item["field"]) for item in found if item["level"] != "note"]


@pytest.mark.parametrize(
    "written", [f"{quote}{form}{quote}" for form in FORMS for quote in ("", "'", '"') if not quote or quote not in form]
)
def test_no_field_with_a_placeholder_is_wrong(written: str, findings: Findings) -> None:
    files = {f"{field}.yaml": manifest(field, written) for field in FIELDS}
    found = findings(files)
    assert errors(found) == []
    noted = {item["file"] for item in found if "has a template" in item["message"]}
    assert noted == set(files) - {"name.yaml", "annotation.yaml", "annotation_key.yaml"}


@pytest.mark.parametrize(("name", "text", "line"), [("vm.yaml", VM, 7), ("vm.yml.j2", VM, 7), ("a/vm.j2.yml", VM, 7)])
def test_the_rest_of_a_file_is_judged(name: str, text: str, line: int, findings: Findings) -> None:
    assert errors(findings({name: text})) == [(name, line, "not-found", "spec.instancetype.name")]


def test_a_chart_is_judged_without_its_conditions(findings: Findings) -> None:
    found = findings({"chart/templates/vm.yaml": CHART}, "--fail-on=note")
    assert errors(found) == [("chart/templates/vm.yaml", 18, "not-found", "spec.preference.name")]
    assert found[0]["object"] == 'VirtualMachine default/{{ include "name" . }}'


def test_loops_of_jinja_are_judged_once(findings: Findings) -> None:
    assert errors(findings({"vm.yml.j2": JINJA})) == [("vm.yml.j2", 18, "not-found", "spec.instancetype.name")]


def test_a_default_counts(findings: Findings) -> None:
    text = VM.replace("{{ name }}", "${name}").replace("u1.none", "${size:=u1.none}").replace("Always", "${x:-Alway}")
    assert [error[-1] for error in errors(findings({"vm.yaml": text}))] == [
        "spec.runStrategy",
        "spec.instancetype.name",
    ]


def test_a_number_that_may_suffice_is_no_problem(findings: Findings) -> None:
    preference = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "own"},
        "spec": {"requirements": {"cpu": {"guest": 2}}},
    }
    sized = VM.replace("instancetype: {name: u1.none}", "preference: {name: own}")
    text = sized.replace("domain: {", "domain: {cpu: {sockets: ${CPUS}}, memory: {guest: 4Gi}, ")
    assert errors(findings({"p.yaml": preference, "vm.yaml": text})) == []
    assert errors(findings({"p.yaml": preference, "vm.yaml": text.replace("${CPUS}", "1")}))


def test_names_of_placeholders_do_not_collide(findings: Findings) -> None:
    disk = "  dataVolumeTemplates: [{metadata: {name: 'd-%s'}, spec: {source: {blank: {}}, storage: {}}}]\n"
    volume = "      volumes: [{name: a, dataVolume: {name: 'd-%s'}}]\n"
    sized = VM.replace("u1.none", "u1.small").replace("devices: {}", "devices: {disks: [{name: a, disk: {}}]}")
    one, other, same = (
        sized.replace("{{ name }}", name) + volume % disk_name + disk % disk_name
        for name, disk_name in (("${A}", "${A}"), ("${B}", "${B}"), ("web", "${B}"))
    )
    assert errors(findings({"vm.yaml": f"{one}---\n{other}"})) == []
    assert errors(findings({"vm.yaml": f"{other}---\n{same}"})) == []


def test_names_in_other_words_may_be_the_same(findings: Findings) -> None:
    disk = "  dataVolumeTemplates: [{metadata: {name: '{{ $name }}-d'}, spec: {source: {blank: {}}, storage: {}}}]\n"
    volume = "      volumes: [{name: a, dataVolume: {name: '{{ .name }}-d'}}]\n"
    text = VM.replace("u1.none", "u1.small").replace("devices: {}", "devices: {disks: [{name: a, disk: {}}]}")
    assert errors(findings({"vm.yaml": text + volume + disk})) == []


def test_a_fragment_without_metadata_is_a_note(findings: Findings) -> None:
    text = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nspec: {runStrategy: Halted}\n"
    found = findings({"patch.yaml": text})
    assert ("note", "patch.yaml", 1) in [(item["level"], item["file"], item["line"]) for item in found]
    assert not [item for item in found if item["level"] == "error"]


def test_a_secret_of_sops_is_unknown(findings: Findings) -> None:
    value = "ENC[AES256_GCM,data:abc=,iv:x=,tag:y=,type:str]"
    text = VM.replace("{{ name }}", "web").replace("u1.none", value) + f"sops: {{mac: '{value}', version: 3.9.0}}\n"
    assert errors(findings({"vm.yaml": text})) == []


def test_scripts_are_not_read_for_placeholders(findings: Findings) -> None:
    volume = (
        "      volumes:\n      - name: a\n        cloudInitNoCloud:\n          userData: |\n            echo ${X}\n"
    )
    volume += "            echo {{ ds.x }}\n"
    disk = VM.replace("devices: {}", "devices: {disks: [{name: a, disk: {}}]}").replace("u1.none", "u1.small")
    assert findings({"vm.yaml": disk.replace("{{ name }}", "web") + volume}) == []


def test_only_files_that_may_hold_objects_are_named(check: Callable[..., tuple[int, list[str]]]) -> None:
    files = {
        "all/tsconfig.json": "{\n// comment\n}",
        "all/text.yaml": "just\ntext",
        "all/values.yaml": "a: [",
        "all/templates/service.yaml": "kind: Service\n{{ if }}",
        "all/binary.yaml": "\x07",
        "all/a.yaml": "kubevirt: [",
        "all/b.yaml": "a: 1\n\nkubevirt: [",
        "all/c.yaml": "kubevirt: {{ x }}: y\n- {{ z }}\n",
        "all/d.yaml": "kubevirt: {{ x }}: y\n- {{ z }}\n",
    }
    code, lines = check(files, paths=["all"])
    assert code == 0 and lines[:2] == [
        "all/a.yaml:2: warning: did not find expected node content; check that the file is complete; the same in"
        " all/b.yaml:4 [unreadable]",
        "all/c.yaml:1: note: is YAML only when its engine has rendered it; check the result: RENDER |"
        " virtshape-check -; the same in all/d.yaml:1 [unchecked]",
    ]
    assert len(lines) == 4


def test_helm_is_named_only_for_charts(check: Callable[..., tuple[int, list[str]]]) -> None:
    text = "kubevirt: {{ x }}: y\n- {{ z }}\n"
    files = {"a/Chart.yaml": "name: a\n", "a/templates/vm.yaml": text, "b/werf.yaml": text}
    (chart, werf, *_others) = check(files, paths=["a", "b"])[1]
    assert chart.startswith("a/templates/vm.yaml:1: note: ") and "check the result: helm template . |" in chart
    assert werf.startswith("b/werf.yaml:1: note: ") and "helm" not in werf


def test_errors_of_yaml_need_no_engine(check: Callable[..., tuple[int, list[str]]]) -> None:
    good = VM.replace("{{ name }}", "${NAME}")
    code, lines = check({"all/vm.yaml": f"{good}timeout: 1s---\nkind: VirtualMachine\n"}, paths=["all"])
    assert code == 0 and "all/vm.yaml:" in lines[0] and lines[0].endswith("[unreadable]")
    assert "engine" not in "".join(lines) and "warning" in lines[0]


def test_documents_beside_a_broken_one_are_judged(check: Callable[..., tuple[int, list[str]]]) -> None:
    good = VM.replace("{{ name }}", "web")
    code, lines = check({"all/vm.yaml": f"{good}---\nkind: VirtualMachine\nx: [\n--- # more\n{good}"}, paths=["all"])
    places = [line.partition(": ")[0] for line in lines]
    assert (code, places[:3]) == (1, ["all/vm.yaml:7", "all/vm.yaml:14", "all/vm.yaml:21"])
    assert lines[-1].endswith("2 errors, 1 warning; not checked: 1 VirtualMachine")


def test_a_template_leaves_its_own_parameters(findings: Findings) -> None:
    template = {
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": {"name": "{{ name }}"},
        "objects": [json.loads(json.dumps({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine"}))],
        "parameters": [{"name": "NAME", "value": "web"}],
    }
    template["objects"][0] |= {
        "metadata": {"name": "${NAME}"},
        "spec": {
            "runStrategy": "{{ strategy }}",
            "instancetype": {"name": "u1.none"},
            "template": {"spec": {"domain": {"devices": {}}}},
        },
    }
    found = findings({"template.yaml": template})
    assert [item["object"] for item in found if item["level"] == "error"] == ["VirtualMachine default/web"]


def test_loops_of_links_marks_and_line_ends(check: Callable[..., tuple[int, list[str]]]) -> None:
    Path("all").mkdir()
    (Path("all") / "loop").symlink_to(Path("../all").resolve())
    code, lines = check({"all/vm.yaml": "\ufeff" + VM.replace("\n", "\r\n")}, paths=["all"])
    assert code == 1 and lines[0].startswith(
        "all/vm.yaml:7: error: VirtualMachine default/{{ name }}: spec.instancetype"
    )
