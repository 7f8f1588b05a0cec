"""Our errors and warnings in virtctl's words.

Every error that the module's options or the resolver have for a virtual machine has one line here, by which it is known
to be about the same thing as virtctl's. An error without a line stays as it is, and so is seen to differ.
"""

import ast
import re
from collections.abc import Callable
from typing import Any

from vm_flags import Stage

Words = Callable[[re.Match[str], Stage], str]

_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with"
    " an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is"
    " '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_COMPLAINTS = {
    "is longer than 63 characters": "must be no more than 63 characters",
    "has dots": "must not contain dots",
    "must consist of a-z, 0-9 and -, with a letter or digit at both ends": _LABEL,
}
_VDDK = {
    "url": "url",
    "uuid": "uuid",
    "thumbprint": "thumbprint",
    "secret_ref": "secretref",
    "backing_file": "backingfile",
}
# These are about more than one flag and name none.
_SUFFIX = "unable to parse quantity's suffix"
_BARE = (
    "at least one volume is needed to infer an instance type or preference",
    "there is no volume with name",
    "inference of instancetype or preference works only",
    "this datavolume is not valid to infer",
    'there is already a volume with name "cloudinitdisk"',
)


def said(text: str, stage: Stage) -> str:
    """virtctl's text about a stage for our `text`."""
    words = _words(text, stage)
    if words is None:
        return text
    if words.startswith(_BARE[:4]) or (words == _BARE[4] and stage.flag == "cloud-init"):
        return words
    return f'failed to parse "--{stage.flag}" flag: {words}'


def warned(text: str) -> str:
    """virtctl's warning for one of ours."""
    for pattern, words in _WARNINGS.items():
        if re.match(pattern, text):
            return words
    return text


_WARNINGS = {
    "cloud_init: the VM stores the password in clear text": (
        "WARNING: --password-file: The password is stored in cleartext in the VM definition!"
    ),
    "cloud_init: type is none, so": (
        "WARNING: --cloud-init: was set to none, not creating a data source although other cloud-init options were set"
    ),
}


def _words(text: str, stage: Stage) -> str | None:
    for pattern, words in _RULES:
        match = re.match(pattern, text, re.DOTALL)
        if match:
            return words if isinstance(words, str) else words(match, stage)
    return None


def _unsupported(match: re.Match[str], stage: Stage) -> str:
    if stage.flag == "volume-import" and ":" not in match[2]:
        return f'invalid volume import type "{match[2]}", see help for supported values'
    if stage.flag == "volume-sysprep" and ":" not in match[2]:
        return f'invalid sysprep source type "{match[2]}", supported values are: configmap, secret'
    return "unknown param(s): " + match[2].replace(f", {match[1]}", ",")


def _invalid_name(match: re.Match[str], _stage: Stage) -> str:
    faults = [result for fault, result in _COMPLAINTS.items() if fault in match[2]]
    # The name itself, not how Python would write it.
    return f'invalid name "{_literal(match[1])}": {",".join(faults)}'


def _literal(text: str) -> Any:
    return ast.literal_eval(text)


def _missing(match: re.Match[str], stage: Stage) -> str:
    """Parameters that a source needs."""
    kind, missing = match[2], match[1].split(", ")
    if kind == "imageio":
        return "url and diskid are both required with imageio volume source"
    if kind in ("pvc", "snapshot", "data_source"):
        if "name" in missing:
            return "src must be specified"
        name = stage.params["src"].rpartition("/")[2]
        return f'namespace of {kind} "{name}" must be specified'
    first = next(param for option, param in _VDDK.items() if option in missing)
    return f"{first} is required with {kind} volume source"


def _unreadable(match: re.Match[str], stage: Stage) -> str:
    path = stage.options["cloud_init"]["password_file"]
    return f"{'read' if match[1] == 'Is a directory' else 'open'} {path}: {match[1].lower()}"


def _choice(match: re.Match[str], stage: Stage) -> str:
    value, options = match[3], match[1]
    if options == "run_strategy":
        return f'invalid run strategy "{value}", supported values are: Always, Manual, Halted, Once, RerunOnFailure'
    if options == "kind":
        kinds = match[2].lower()
        return f'invalid {stage.flag} kind "{value}", supported values are: {kinds}'
    if options == "pull_method":
        return "pullmethod must be set to pod or node"
    if stage.flag == "access-cred" and options == "type":
        return f'invalid access credential type "{value}", supported values are: ssh, password'
    if options == "method" and stage.params.get("type", "").lower() == "password":
        return f'invalid access credentials password method "{value}", supported values are: ga'
    if options == "method":
        return f'invalid access credentials ssh method "{value}", supported values are: ga, nocloud, configdrive'
    return f'invalid cloud-init data source type "{value}", supported values are: nocloud, configdrive, none'


_SUITABLE = "source needs to be PVC, Registry or Snapshot, sourceRef needs to be DataSource"

_RULES: tuple[tuple[str, str | Words], ...] = (
    # Ansible's own, in the order in which virtctl looks for them.
    (r"unknown option ((?:[a-z_]+\.)*)(.*)\. Supported parameters include: ", _unsupported),
    (
        r"one of the following is required: .* found in volumes -> import -> registry$",
        "exactly one of url or imagestream must be defined",
    ),
    (
        r"parameters are mutually exclusive: .* found in volumes -> import -> registry$",
        "exactly one of url or imagestream must be defined",
    ),
    (r"one of the following is required: .* found in volumes -> import$", "type must be specified"),
    (r"one of the following is required: ", "src must be specified"),
    (r"missing required arguments: secret found in access_credentials$", "src must be specified"),
    (r"missing required arguments: (.*) found in volumes -> import -> (\w+)$", _missing),
    (r"value of (\w+) must be one of: (.*), got: (.*?)(?: found in [a-z_ >-]+)?$", _choice),
    # The resolver's.
    # Go reads an exponent of 32 bits as one, and of more as a suffix that it does not know.
    (r"memory: .* is not a quantity; .* \[the exponent ", _SUFFIX),
    (r"memory: .* is not a quantity; .* \[(.*)\]$", lambda match, _stage: match[1]),
    (r"(?:instancetype|preference)\.name: is empty", "name cannot be empty"),
    (r"[^:]*\.name: (.*?) ((?:is longer|has dots|must consist).*); use a name", _invalid_name),
    (
        r"[^:]*: another volume is already named '(.*)'; ",
        lambda match, _stage: f'there is already a volume with name "{match[1]}"',
    ),
    (r"[^:]*\.boot_order: 0 is too small", "bootorder must be greater than 0"),
    (
        r"[^:]*\.boot_order: (\d+) is used more than once",
        lambda match, _stage: f"bootorder {match[1]} was specified multiple times",
    ),
    (r"[^:]*\.import\.size: required", "size must be specified"),
    (r"[^:]*\.import\.registry: requires exactly one", "exactly one of url or imagestream must be defined"),
    (r"[^:]*\.import\.(\w+)\.(\w+): required", lambda match, stage: _missing(_swapped(match), stage)),
    (r"volumes\[\d+\]\.\w+: is empty", "src must be specified"),
    (r"sysprep: requires exactly one", "src must be specified"),
    (r"access_credentials\[\d+\]\.secret: required", "src must be specified"),
    (
        r"access_credentials\[\d+\]\.users: required",
        'user must be specified with access credential ssh method ga ("--user" flag or param "user")',
    ),
    (
        r"access_credentials\[\d+\]\.users: only",
        "user cannot be specified with selected access credential type and method",
    ),
    (
        r"access_credentials\[\d+\]\.method: (\w+) does not work with passwords",
        lambda _match, stage: (
            f'invalid access credentials password method "{stage.params["method"]}", supported values are: ga'
        ),
    ),
    (
        r"access_credentials\[\d+\]\.method: is (\w+), but cloud_init.type is (\w+)",
        lambda match, _stage: f"method param and value passed to --cloud-init have to match: {match[1]} vs {match[2]}",
    ),
    (r"cloud_init\.password_file: cannot be read: (.*)$", _unreadable),
    (r"\w+\.infer: requires a volume", _BARE[0]),
    (
        r"\w+\.infer_from_volume: the VM has no volume named '(.*)'",
        lambda match, _stage: f'there is no volume with name "{match[1]}"',
    ),
    (
        r"\w+\.infer: .* is neither a PVC",
        "inference of instancetype or preference works only with datasources, datavolumes or pvcs",
    ),
    (
        r"\w+\.infer: .* has a source without labels",
        f"this datavolume is not valid to infer an instancetype or preference from ({_SUITABLE})",
    ),
)


def _swapped(match: re.Match[str]) -> re.Match[str]:
    """The groups of the resolver's wording in the order of Ansible's."""
    result = re.match(r"(.*) in (.*)", f"{match[2]} in {match[1]}")
    assert result
    return result


def said_of_catalog(text: str) -> str:
    """virtctl's text about an instancetype or preference for our `text`."""
    for pattern, words in _CATALOG_RULES:
        match = re.match(pattern, text, re.DOTALL)
        if match:
            return words.format(*match.groups(), flag=_DEVICE_FLAGS.get(match.groupdict().get("list", ""), ""))
    return text


_DEVICE_FLAGS = {"gpus": "gpu", "host_devices": "hostdevice", "hostDevices": "hostdevice"}
_PARSE = 'failed to parse "--{flag}" flag: '
_CATALOG_RULES = (
    (r"memory\.guest: .* is not a quantity; .* \[(.*)\]$", "{0}"),
    (r"spec\.cpu\.guest: 0 is too small", "cpu value must be greater than zero"),
    (r"missing required arguments: (?:.*, )?name found in (?P<list>\w+)", _PARSE + "name must be specified"),
    (r"missing required arguments: device_name found in (?P<list>\w+)", _PARSE + "deviceName must be specified"),
    (r"spec\.(?P<list>\w+)\[\d+\]\.(name|deviceName): required", _PARSE + "{1} must be specified"),
    (
        r"value of io_threads_policy must be",
        'failed to parse "--iothreadspolicy" flag: IOThread must be of value auto or shared',
    ),
    (
        r"value of preferred_cpu_topology must be",
        'failed to parse "--cpu-topology" flag: CPU topology must have a value of sockets, cores, threads or spread',
    ),
    (r"unknown option (?P<list>\w+)\.(.*)\. Supported parameters include: ", _PARSE + "unknown param(s): {1}"),
)
