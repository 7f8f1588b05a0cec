"""Names, probes, DNS and credentials of the guest (vmi-create-admitter.go)."""

from __future__ import annotations

from typing import Final

from ...api.name_rules import label, quoted, subdomain
from .interfaces import is_ip
from .rows import Check, Group, Place, Row, at_most, conforms, each, exactly_one, one_of
from .rule import Spec

_HANDLERS: Final = ("httpGet", "tcpSocket", "exec", "guestAgentPing")
_MAX_SEARCHES_LENGTH: Final = 256


def _on_pod_network(_handler: Spec, place: Place) -> str:
    on_pod = any("pod" in network for network in place.spec.get("networks", ()))
    return "" if on_pod else "needs the pod network; add it, or use another handler"


PROBES: Final = Group(  # validateProbe, and the rule that network probes need the pod network
    "",
    *(Row(probe, exactly_one(*_HANDLERS)) for probe in ("readinessProbe", "livenessProbe")),
    *(
        Row(f"{probe}.{handler}", _on_pod_network)
        for probe in ("readinessProbe", "livenessProbe")
        for handler in ("httpGet", "tcpSocket")
    ),
)
# validateHostNameNotConformingToDNSLabelRules, validateSubdomainDNSSubdomainRules
NAMES: Final = Group("", Row("hostname", conforms(label)), Row("subdomain", conforms(subdomain)))


def _same_account(name: str, place: Place) -> str:
    """The first volume with another service account counts."""
    accounts = [volume["serviceAccount"] for volume in place.spec.get("volumes", ()) if volume.get("serviceAccount")]
    others = [account.get("serviceAccountName", "") for account in accounts]
    other = next((account for account in others if account != name), None)
    return "" if not name or other is None else f"{name} is not the service account of a volume, {other}; use one"


# validateServiceAccountName
SERVICE_ACCOUNT: Final = Group(
    "",
    Row("serviceAccountName", lambda name, place: conforms(subdomain)(name, place) if name else ""),
    Row("serviceAccountName", _same_account),
)


def _dns_config(config: Spec | None, place: Place) -> str:
    missing = config is None and place.spec.get("dnsPolicy") == "None"
    return "is missing, which the dnsPolicy None needs; set it" if missing else ""


def _name_servers(config: Spec, place: Place) -> str:
    missing = place.spec.get("dnsPolicy") == "None" and not config.get("nameservers")
    return "needs a name server with the dnsPolicy None; add one to nameservers" if missing else ""


def _search_length(searches: list[str], _place: Place) -> str:
    size = len(" ".join(searches).encode())
    return f"has {size} characters; at most {_MAX_SEARCHES_LENGTH} are allowed" if size > _MAX_SEARCHES_LENGTH else ""


def _address(server: str, _place: Place) -> str:
    return "" if is_ip(server) else f"must be IP addresses, not {quoted(server)}"


def _option(option: Spec, _place: Place) -> str:
    return "" if option.get("name") else "has an entry without a name; set it"


DNS: Final = Group(  # validateDNSPolicy, validatePodDNSConfig; its fields have no path
    "",
    Row("dnsPolicy", one_of("", "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")),
    Row("dnsConfig", _dns_config, absent=True),
    Row("dnsConfig", _name_servers, at="nameservers"),
    Group(
        "dnsConfig",
        Row("nameservers", at_most(3), at="nameservers"),
        Row("nameservers", each(_address), at="nameservers"),
        Row("searches", at_most(6), at="searchDomains"),
        Row("searches", _search_length, at="searchDomains"),
        Row("searches", each(conforms(subdomain)), at="searchDomains"),
        Row("options", each(_option), at="options"),
        when=lambda place: not (place.spec.get("dnsPolicy") == "None" and not place.entry.get("nameservers")),
    ),
)


def _with_volume(method: str, source: str) -> Check:
    """The propagation method needs a volume."""

    def check(credential: Spec, place: Place) -> str:
        used = method in (credential.get("propagationMethod") or {})
        missing = used and not any(source in volume for volume in place.spec.get("volumes", ()))
        return f"has the propagationMethod {method}, which needs a volume of {source}; add one" if missing else ""

    return check


def _users(agent: Spec, _place: Place) -> str:
    return "" if agent.get("users") else "needs a user; add one to users"


def _credential(kind: str, *methods: str) -> tuple[Row, Row]:
    """The rules that the kinds share."""

    def method(credential: Spec, place: Place) -> str:
        return exactly_one(*methods)(credential.get("propagationMethod") or {}, place)

    def source(credential: Spec, _place: Place) -> str:
        return "" if "secret" in (credential.get("source") or {}) else "needs a source; name a secret"

    return (
        Row(kind, source, at=f"{{entry}}.{kind}.source"),
        Row(kind, method, at=f"{{entry}}.{kind}.propagationMethod"),
    )


_METHOD: Final = "{entry}.sshPublicKey.propagationMethod"

ACCESS_CREDENTIALS: Final = Group(  # validateAccessCredentials
    "accessCredentials[]",
    Row("sshPublicKey", _with_volume("noCloud", "cloudInitNoCloud"), at=_METHOD),
    Row("sshPublicKey", _with_volume("configDrive", "cloudInitConfigDrive"), at=_METHOD),
    Row("sshPublicKey.propagationMethod.qemuGuestAgent", _users, at=f"{_METHOD}.qemuGuestAgent.users"),
    *_credential("sshPublicKey", "noCloud", "configDrive", "qemuGuestAgent"),
    *_credential("userPassword", "qemuGuestAgent"),
    Row("", exactly_one("sshPublicKey", "userPassword")),
)
