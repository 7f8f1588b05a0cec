"""The arguments of the event source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from .._resolver.api.errors import FieldError
from .._resolver.api.label_selector import selector
from .._resolver.api.name_rules import did_you_mean, quoted
from .facts import BEGINNINGS, TRANSITIONS

Arguments = Mapping[str, Any]

AUTH: Final = (
    "kubeconfig",
    "context",
    "host",
    "api_key",
    "username",
    "password",
    "validate_certs",
    "ca_cert",
    "client_cert",
    "client_key",
    "proxy",
    "no_proxy",
    "proxy_headers",
    "impersonate_user",
    "impersonate_groups",
    "retry_timeout",
)
_LISTS: Final = ("label_selectors", "field_selectors", "transitions", "fields")
_SECONDS: Final = {"delay": 1.0, "resync": 600.0, "patience": 30.0}
_OTHERS: Final = (
    "clusters",
    "namespace",
    "report_existing",
    "state_directory",
    "state_config_map",
    # ansible-rulebook passes these.
    "feedback",
    "eda_feedback_queue",
)


class ClusterOptions(NamedTuple):
    """A cluster to watch.

    name: its name in events, "" for the address of the API server. auth: the options of a Session.
    """

    name: str
    auth: dict[str, Any]


class SourceOptions(NamedTuple):
    """The arguments, valid, with their defaults.

    namespace: None for all. label_selector, field_selector: "" for none. fields: paths in a VM. state_config_map:
    namespace and name, None without. delay, resync, patience: seconds.
    """

    clusters: tuple[ClusterOptions, ...]
    namespace: str | None
    label_selector: str
    field_selector: str
    transitions: tuple[str, ...]
    fields: tuple[tuple[str, ...], ...]
    report_existing: bool
    state_directory: str
    state_config_map: tuple[str, str] | None
    delay: float
    resync: float
    patience: float


def source_options(arguments: Arguments, environment: Mapping[str, str]) -> SourceOptions:
    """The options that arguments give. environment: variables, of which K8S_AUTH_* are defaults as for modules.

    Raises FieldError.
    """
    for key in arguments:
        known = (*AUTH, *_LISTS, *_SECONDS, *_OTHERS)
        if key not in known:
            raise FieldError(key, f"unknown argument{did_you_mean(key, known)}")
    lists = {name: _texts(name, arguments.get(name)) for name in _LISTS}
    for transition in lists["transitions"]:
        if transition not in TRANSITIONS:
            raise FieldError("transitions", f"{quoted(transition)} is unknown; choose from {', '.join(TRANSITIONS)}")
    for text in lists["label_selectors"]:
        try:
            selector(text)
        except FieldError as error:
            raise error.with_parent("label_selectors") from None
    if arguments.get("state_directory") and arguments.get("state_config_map"):
        raise FieldError("state_directory", "there is also state_config_map; remove one of the two")
    return SourceOptions(
        clusters=_clusters(arguments, environment),
        namespace=_text("namespace", arguments.get("namespace")) or None,
        label_selector=",".join(lists["label_selectors"]),
        field_selector=",".join(lists["field_selectors"]),
        transitions=lists["transitions"] or BEGINNINGS,
        fields=tuple(tuple(path.split(".")) for path in lists["fields"]),
        report_existing=_flag("report_existing", arguments.get("report_existing"), True),
        state_directory=_text("state_directory", arguments.get("state_directory")),
        state_config_map=_config_map(_text("state_config_map", arguments.get("state_config_map"))),
        **{name: _seconds(name, arguments.get(name), default) for name, default in _SECONDS.items()},
    )


def _clusters(arguments: Arguments, environment: Mapping[str, str]) -> tuple[ClusterOptions, ...]:
    common = {name: arguments[name] for name in AUTH if arguments.get(name) is not None}
    entries = arguments.get("clusters")
    if entries is None:
        return (ClusterOptions("", {**_from_environment(environment), **common}),)
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise FieldError("clusters", "expected a list of clusters; write - {name: east, kubeconfig: PATH}")
    result = []
    for number, entry in enumerate(entries):
        for key in entry:
            if key not in ("name", *AUTH):
                raise FieldError(f"clusters[{number}].{key}", f"unknown argument{did_you_mean(key, ('name', *AUTH))}")
        name = _text(f"clusters[{number}].name", entry.get("name"))
        if not name or "/" in name:
            raise FieldError(f"clusters[{number}].name", "write a name without a slash, which events will have")
        auth = {key: value for key, value in entry.items() if key != "name" and value is not None}
        result.append(ClusterOptions(name, {**common, **auth}))
    if len({cluster.name for cluster in result}) < len(result):
        raise FieldError("clusters", "two have the same name; give each its own")
    return tuple(result)


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """The variables that modules read, but the proxy's headers and lists."""
    names = {name: name.upper() for name in AUTH[:12]}
    names.update(validate_certs="VERIFY_SSL", ca_cert="SSL_CA_CERT", client_cert="CERT_FILE", client_key="KEY_FILE")
    found: dict[str, Any] = {
        name: environment[f"K8S_AUTH_{variable}"]
        for name, variable in names.items()
        if environment.get(f"K8S_AUTH_{variable}")
    }
    if "validate_certs" in found:
        found["validate_certs"] = found["validate_certs"].lower() not in ("false", "no", "0", "off")
    return found


def _config_map(text: str) -> tuple[str, str] | None:
    namespace, _slash, name = text.partition("/")
    if text and (not namespace or not name or "/" in name):
        raise FieldError("state_config_map", f"found {quoted(text)}; write NAMESPACE/NAME")
    return (namespace, name) if text else None


def _text(field: str, value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise FieldError(field, f"expected a text, found {quoted(value)}")
    return value or ""


def _texts(field: str, value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value or []
    if not isinstance(values, list) or not all(isinstance(item, str) and item.strip() for item in values):
        raise FieldError(field, f"expected a list of texts, found {quoted(value)}")
    return tuple(values)


def _flag(field: str, value: Any, default: bool) -> bool:
    if value is None:
        return default
    if not isinstance(value, bool):
        raise FieldError(field, f"expected true or false, found {quoted(value)}")
    return value


def _seconds(field: str, value: Any, default: float) -> float:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise FieldError(field, f"expected seconds above 0, found {quoted(value)}")
    return float(value)
