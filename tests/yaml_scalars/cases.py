"""Scalars without quotes, and the fields of manifests that they are written into."""

from typing import Final


def _words(text: str) -> list[str]:
    return text.split()


SCALARS: Final = (
    # Booleans and null of YAML 1.1, and what looks like them.
    *_words("y Y n N yes Yes YES yEs no No NO nO on On ON oN off Off OFF oFF true True TRUE tRUE false False FALSE"),
    *_words("~ null Null NULL nULL None none nil t f yes. no1 y1 Yn ye truee"),
    # Numbers.
    *_words("0 1 2 7 10 100 1024 4096 65536 -1 +1 -0 +0 00 01 07 08 09 010 017 018 0100 -010 +010 0010 0644"),
    *_words("0x1F 0X1F 0x1f 0xg 0x -0x1F +0x10 0x_1F 0x1_F 0o17 0O17 0o8 0o -0o17 +0o7 0o1_7 0b101 0B101 0b2 0b"),
    *_words("-0b101 +0b11 0b1_1 1_000 1_0 1__0 _1 1_ 0_8 0_7 1_000.5 2_048 1,000 1.000"),
    *_words("1. 1.0 2.0 1.5 .5 -.5 +.5 -1.5 . .. ... 1.2.3 1.25.0 1.30 v1.30 0.5 00.5 01.5 4.0"),
    *_words("1e3 1E3 1e+3 1e-3 1.e3 1.0e3 .5e1 5E-1 5E+1 1e 1e+ e3 1e3e 2e0 1e400 1e21 1.5e3 12e03 685.230_15e+03"),
    *_words(".inf .Inf .INF +.inf -.inf .nan .NaN .NAN .iNF inf nan Inf NaN Infinity .infinity"),
    *_words("2147483647 2147483648 4294967296 9223372036854775807 9223372036854775808 18446744073709551615"),
    *_words("18446744073709551616 -9223372036854775808 -9223372036854775809 123456789012345678901234567890"),
    *_words("0.1 1.10 100000000000000000000.0 1234567.0 16777217.0 3.0000001 1e-7 123456789.125"),
    # Dates and times.
    *_words("2025-03-01 2025-3-1 2025-03 2025-13-40 2025-02-30 2025-03-01T10:00:00Z 2025-03-01t10:00:00z"),
    *_words("2025-03-01T10:00:00 2025-03-01T10:00:00+01:00 2025-03-01T10:00:00.5Z 2025-3-1T1:2:3Z 20250301"),
    "2025-03-01 10:00:00",
    "2001-12-14 21:59:43.10 -5",
    # Base 60, MAC addresses and what else has colons.
    *_words("22:30 12:30:45 1:20 190:20:30 190:20:30.15 +1:30 -1:30 08:30 00:00 60:60 1:60 10:0"),
    *_words("00:11:22:33:44:55 02:00:00:00:00:01 12:34:56:12:34:56 52:54:00:12:34:56 0a:1b:2c:3d:4e:5f ::1 fd00::1"),
    *_words("00-11-22-33-44-55 02-00-00-00-00-01 10.0.0.1 10.0.0.0/8 80/tcp"),
    # Quantities and durations.
    *_words("1Gi 1024Mi 0.5Gi .5Gi 1.Gi 1e3Mi 2E 1Ei 1k 1K 1m 100m 500M 1_0Gi 010Gi +1Gi 1gi 30s 1h 1h30m 5min 10%"),
    # Marks of YAML.
    *_words("= << < > - ? a=b -- --- -a ?a :a a: 1: !x !!str !!int& %x @x `x` *x"),
    '"1"', "'010'", '"y"', "!!str 1", "!!str y", "!!int '1'", "!!int 010", "!!float 1", "!!float '1'", "!!bool yes",
    "!!bool 'true'", "!!null ''", "!!binary aGVsbG8=", "!!binary aGV", "!!timestamp 2025-03-01", "! 1", "! y",
    "!other 1", "!other y", "&a 1", "&a y", "[]", "{}", "", "# only a comment", "a # comment", "a#b", "a  b",
    "\u00e9", "\uff11", "\u0661",
)  # fmt: skip
"""Texts as they stand after the colon of a field."""

VM: Final = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: {name}
  namespace: default
  creationTimestamp: {created}
  annotations:
    note: {annotation}
    {annotation_key}: x
  labels:
    release: {label}
    {label_key}: x
spec:
  runStrategy: {strategy}
  dataVolumeTemplates:
  - metadata: {{name: disk}}
    spec:
      source: {{blank: {{}}}}
      storage:
        resources:
          requests:
            storage: {storage}
  template:
    metadata:
      labels:
        app: {template_label}
    spec:
      hostname: {hostname}
      terminationGracePeriodSeconds: {grace}
      nodeSelector:
        zone: {zone}
      tolerations:
      - key: x
        operator: Exists
        effect: NoExecute
        tolerationSeconds: {toleration}
      livenessProbe:
        tcpSocket:
          port: {port}
        initialDelaySeconds: {delay}
      domain:
        cpu:
          cores: {cores}
          model: {model}
          numa: {numa}
        features:
          acpi:
            enabled: {acpi}
        memory:
          guest: {memory}
        resources:
          requests:
            memory: {request}
        devices:
          autoattachGraphicsDevice: {graphics}
          disks:
          - name: root
            bootOrder: {boot_order}
            serial: {serial}
            disk: {{bus: virtio}}
          interfaces:
          - name: default
            masquerade: {{}}
            macAddress: {mac}
      networks:
      - name: default
        pod: {{}}
      volumes:
      - name: root
        dataVolume: {{name: disk}}
"""
FIELDS: Final = {
    "name": "web",
    "created": "null",
    "annotation": "text",
    "annotation_key": "key",
    "label": "text",
    "label_key": "key",
    "strategy": "Halted",
    "storage": "1Gi",
    "template_label": "text",
    "hostname": "web",
    "grace": "30",
    "zone": "text",
    "toleration": "30",
    "port": "80",
    "delay": "30",
    "cores": "1",
    "model": "host-model",
    "numa": "null",
    "acpi": "true",
    "memory": "1Gi",
    "request": "1Gi",
    "graphics": "true",
    "boot_order": "1",
    "serial": "text",
    "mac": '"02:00:00:00:00:01"',
}
"""Field of the VM → its value when another field is asked about."""


def manifest(field: str, scalar: str) -> str:
    """The VM with a scalar in a field."""
    return VM.format(**{**FIELDS, field: scalar})
