"""`virtctl create vm`: flags → options of the module virtual_machine.

virtctl looks at its flags one after the other and stops at the first error, where the module tells all of them. So the
options come in stages, in virtctl's order, each with one flag more: the first stage that fails tells virtctl's error.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import Any, NamedTuple

import collection_path  # noqa: F401  # pylint: disable=unused-import
from command_line import Flags, Syntax, named, number, params, unused

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import FieldError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.validation import (
    canonical_quantity,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.vm.volumes import generated_name
from ansible_collections.virtshape.instancetypes.plugins.module_utils._vm_options import VM_OPTIONS

Options = dict[str, Any]

# Flags of which only one may be given.
GROUPS = (
    *(f"cloud-init-user-data {flag}" for flag in ("ga-manage-ssh", "password-file", "ssh-key", "user")),
    "memory instancetype infer-instancetype infer-instancetype-from",
    "preference infer-preference infer-preference-from",
)
# virtctl puts each of these in front of the imports.
_DEPRECATED = {"volume-datasource": "ds", "volume-clone-pvc": "pvc", "volume-blank": "blank"}
_CLOUD_INIT = {
    "user": "user",
    "password-file": "password_file",
    "cloud-init-user-data": "user_data_base64",
    "cloud-init-network-data": "network_data_base64",
}
_SOURCES = {"ds": "data_source"}
_OBJECTS = ("pvc", "snapshot", "ds")
_LISTS = {"extraheaders": "extra_headers", "secretextraheaders": "secret_extra_headers"}
_PARAMS = {
    "gcs": {"url": "url", "secretref": "secret_ref"},
    "http": {"url": "url", "secretref": "secret_ref", "certconfigmap": "cert_config_map", **_LISTS},
    "imageio": {"url": "url", "diskid": "disk_id", "secretref": "secret_ref", "certconfigmap": "cert_config_map"},
    "registry": {
        "url": "url",
        "imagestream": "image_stream",
        "pullmethod": "pull_method",
        "secretref": "secret_ref",
        "certconfigmap": "cert_config_map",
    },
    "s3": {"url": "url", "secretref": "secret_ref", "certconfigmap": "cert_config_map"},
    "vddk": {
        "url": "url",
        "uuid": "uuid",
        "thumbprint": "thumbprint",
        "secretref": "secret_ref",
        "backingfile": "backing_file",
        "initimageurl": "init_image_url",
    },
}


class Stage(NamedTuple):
    """options: all so far. flag: the one that came last. params: what was in its value, where it has params.
    syntax: what is wrong with the flag itself; the options are without it then."""

    flag: str
    options: Options
    params: Mapping[str, str] = MappingProxyType({})
    syntax: str | None = None


def deprecations(flags: Flags) -> list[str]:
    """The command line's own warnings."""
    return [
        f"Flag --{flag} has been deprecated, use flag --volume-import instead"
        for flag in _DEPRECATED
        if flags.any(flag)
    ]


def exclusive(flags: Flags) -> Options:
    """The flags that exclude each other, as options; nothing else about them is looked at."""
    options: Options = {}
    for matcher_field in ("instancetype", "preference"):
        given = {"name": flags.last(matcher_field), "infer": flags.last(f"infer-{matcher_field}")}
        given["infer_from_volume"] = flags.last(f"infer-{matcher_field}-from")
        if any(value is not None for value in given.values()):
            options[matcher_field] = {option: value for option, value in given.items() if value is not None}
    if flags.any("memory"):
        options["memory"] = flags.last("memory")
    return {**options, **_cloud_init(flags)}


def stages(flags: Flags, seed: str) -> Iterator[Stage]:
    """The stages of a command line; the last one has all of it. seed: makes up a name where virtctl does."""
    options: Options = {"name": flags.last("name") or generated_name("vm", seed), "termination_grace_period": 180}
    if flags.last("namespace"):
        options["namespace"] = flags.last("namespace")
    if flags.any("termination-grace-period"):
        options["termination_grace_period"] = flags.last("termination-grace-period")
    for step in (_frame, _volumes, _sysprep, _credentials, _cloud_init_stages, _inference):
        for stage in step(flags, options):
            yield stage._replace(options=deepcopy(stage.options))
            if stage.syntax is not None:
                return


def _frame(flags: Flags, options: Options) -> Iterator[Stage]:
    if flags.any("memory"):
        options["memory"] = flags.last("memory")
    yield Stage("memory", options)
    if flags.any("run-strategy"):
        options["run_strategy"] = _spelled(flags.last("run-strategy"), VM_OPTIONS.spec["run_strategy"]["choices"])
    yield Stage("run-strategy", options)
    for matcher_field in ("instancetype", "preference"):
        if flags.any(matcher_field):
            kind, _slash, name = flags.last(matcher_field).rpartition("/")
            if "/" in kind:
                try:
                    named(flags.last(matcher_field))
                except Syntax as error:
                    yield Stage(matcher_field, options, syntax=str(error))
            options[matcher_field] = {"name": name}
            if kind:
                options[matcher_field]["kind"] = _spelled(
                    kind.lower(), VM_OPTIONS.spec[matcher_field]["options"]["kind"]["choices"]
                )
        yield Stage(matcher_field, options)


def _volumes(flags: Flags, options: Options) -> Iterator[Stage]:
    options["volumes"] = []
    imports = flags.all("volume-import")
    for flag, kind in _DEPRECATED.items():
        for value in flags.all(flag):
            imports = [value and f"type:{kind},{value}", *imports]
    for flag, values, read in (
        ("volume-containerdisk", flags.all("volume-containerdisk"), _container_disk),
        ("volume-pvc", flags.all("volume-pvc"), _pvc),
        ("volume-import", imports, _import),
    ):
        for value in values:
            given: dict[str, str] = {}
            try:
                given = params(value)
                options["volumes"].append(read(dict(given)))
            except Syntax as error:
                yield Stage(flag, options, given, syntax=str(error))
            yield Stage(flag, options, given)


def _container_disk(given: dict[str, str]) -> Options:
    volume = _boot_order(given)
    volume |= _taken(given, {"src": "container_disk", "name": "name"})
    return volume | unused(given)


def _pvc(given: dict[str, str]) -> Options:
    volume = _boot_order(given)
    src = given.pop("src", "")
    volume |= _taken(given, {"name": "name"}) | unused(given)
    if src and len(volume) == len(volume.keys() & {"name", "boot_order"}):
        namespace, claim = _source(src)
        if namespace:
            raise Syntax(f'not allowed to specify namespace of pvc "{claim}"')
        volume["persistent_volume_claim"] = claim
    return volume


def _import(given: dict[str, str]) -> Options:
    kind = given.pop("type", None)
    if kind is None:
        return {"import": {}}
    if kind not in (*_PARAMS, *_OBJECTS, "blank"):
        return {"import": {kind: {}}}
    described: Options = {}
    if "size" in given:
        described["size"] = _size(given.pop("size"))
    volume = _boot_order(given)
    name = given.pop("name", None)
    if name is not None:
        volume["name"] = described["name"] = name
    described[_SOURCES.get(kind, kind)] = _described(kind, given)
    described |= unused(given)
    if not name:
        # virtctl makes a name up only where there is none; an empty one is an error, not this DataVolume's name.
        described.pop("name", None)
    return {**volume, "import": described}


def _described(kind: str, given: dict[str, str]) -> Any:
    """The options of an import's source; what was used is taken out of given."""
    if kind == "blank":
        return True
    if kind in _OBJECTS:
        src = given.pop("src", "")
        if not src or given:
            return {}
        namespace, name = _source(src)
        return {"name": name, **({"namespace": namespace} if namespace else {})}
    described: Options = {}
    for param, option in _PARAMS[kind].items():
        if param in given:
            value = given.pop(param)
            # An empty text is as good as none, but for lists, where it is an entry.
            if param in _LISTS:
                described[option] = value.split(";")
            elif value or param not in ("pullmethod",):
                described[option] = value
    if kind == "registry":
        described = {option: value for option, value in described.items() if value}
    return described


def _source(src: str) -> tuple[str, str]:
    try:
        return named(src)
    except Syntax as error:
        raise Syntax(f"src invalid: {error}") from error


def _size(text: str) -> str:
    try:
        canonical_quantity("size", text)
    except FieldError as error:
        raise Syntax(f'failed to parse param "size": {error.__cause__}') from error
    return text


def _boot_order(given: dict[str, str]) -> Options:
    return {"boot_order": number("bootorder", given.pop("bootorder"))} if "bootorder" in given else {}


def _taken(given: dict[str, str], names: dict[str, str]) -> Options:
    return {option: given.pop(param) for param, option in names.items() if param in given}


def _sysprep(flags: Flags, options: Options) -> Iterator[Stage]:
    if not flags.any("volume-sysprep"):
        return
    given: dict[str, str] = {}
    try:
        given = params(flags.last("volume-sysprep"))
        rest = dict(given)
        kind, src = rest.pop("type", ""), rest.pop("src", "")
        options["sysprep"] = unused(rest)
        if src and not rest:
            namespace, name = _source(src)
            if namespace:
                raise Syntax(f'not allowed to specify namespace of configmap or secret "{name}"')
            # The disk's name is looked at before its type.
            options["sysprep"] = {"config_map": src}
            yield Stage("volume-sysprep", options, given)
            if kind.lower() not in ("", "configmap"):
                options["sysprep"] = {kind.lower() if kind.lower() == "secret" else kind: src}
    except Syntax as error:
        options.pop("sysprep", None)
        yield Stage("volume-sysprep", options, given, syntax=str(error))
    yield Stage("volume-sysprep", options, given)


def _credentials(flags: Flags, options: Options) -> Iterator[Stage]:
    options["access_credentials"] = []
    result = _told(flags)
    for value in flags.all("access-cred"):
        given: dict[str, str] = {}
        try:
            given = params(value)
            options["access_credentials"].append(_credential(dict(given)))
        except Syntax as error:
            yield Stage("access-cred", options, given, syntax=str(error))
        yield Stage("access-cred", {**options, "cloud_init": result} if result else options, given)


# The part of cloud-init that concerns credentials.
_TOLD = ("type", "user", "manage_ssh", "quote")


def _told(flags: Flags) -> Options:
    """Their errors come before those of cloud-init itself, such as an unknown type."""
    given = _cloud_init(flags).get("cloud_init", {})
    known = VM_OPTIONS.spec["cloud_init"]["options"]["type"]["choices"]
    return {
        option: value for option, value in given.items() if option in _TOLD and (option != "type" or value in known)
    }


def _credential(given: dict[str, str]) -> Options:
    credential: Options = {}
    src, kind, method, user = (given.pop(param, "") for param in ("src", "type", "method", "user"))
    if src and not given:
        namespace, name = _source(src)
        if namespace:
            raise Syntax(f'not allowed to specify namespace of secret "{name}"')
        credential["secret"] = src
    choices = VM_OPTIONS.spec["access_credentials"]["options"]
    if kind:
        credential["type"] = _spelled(kind, choices["type"]["choices"])
    if method:
        credential["method"] = _spelled(method, choices["method"]["choices"])
    if user:
        credential["users"] = [user]
    return credential | unused(given)


def _cloud_init(flags: Flags) -> Options:
    given: Options = {option: flags.last(flag) for flag, option in _CLOUD_INIT.items() if flags.any(flag)}
    if flags.any("ssh-key"):
        given["ssh_keys"] = [key for keys in flags.all("ssh-key") for key in keys]
    if flags.any("ga-manage-ssh"):
        given["manage_ssh"] = flags.last("ga-manage-ssh")
    if flags.any("cloud-init"):
        choices = VM_OPTIONS.spec["cloud_init"]["options"]["type"]["choices"]
        given["type"] = _spelled(flags.last("cloud-init"), choices)
    # virtctl writes all values as they are.
    return {"cloud_init": {**given, "quote": False}} if given else {}


def _cloud_init_stages(flags: Flags, options: Options) -> Iterator[Stage]:
    given = _cloud_init(flags).get("cloud_init")
    if given is None:
        return
    # The disk's name is looked at before its type and the password.
    yield Stage("cloud-init", {**options, "cloud_init": _told(flags)})
    if flags.any("cloud-init"):
        without = {option: value for option, value in given.items() if option != "password_file"}
        yield Stage("cloud-init", {**options, "cloud_init": without})
    options["cloud_init"] = given
    yield Stage("password-file", options)


def _inference(flags: Flags, options: Options) -> Iterator[Stage]:
    for matcher_field in ("instancetype", "preference"):
        if flags.any(f"infer-{matcher_field}-from"):
            options[matcher_field] = {"infer_from_volume": flags.last(f"infer-{matcher_field}-from")}
        elif flags.any(f"infer-{matcher_field}"):
            options[matcher_field] = {"infer": "required" if flags.last(f"infer-{matcher_field}") else "none"}
        yield Stage(f"infer-{matcher_field}", options)
    for matcher_field in ("instancetype", "preference"):
        options.setdefault(matcher_field, {"infer": "auto"})
    yield Stage("", options)


def _spelled(text: str | None, choices: list[str]) -> str | None:
    """The choice that the text means in whatever case, else the text."""
    return next((choice for choice in choices if choice.lower() == (text or "").lower()), text)
