"""Names, probes, DNS and credentials of the guest (vmi-create-admitter.go)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..config.cluster import KubeVirt
from . import name_errors
from .interfaces import is_ip
from .rule import INVALID, NOT_SUPPORTED, REQUIRED, Cause, Spec, items

PROBES: Final = ("readinessProbe", "livenessProbe")
_HANDLERS: Final = ("httpGet", "tcpSocket", "exec", "guestAgentPing")
# The kinds of credentials, each with its propagation methods.
_CREDENTIALS: Final = {
    "sshPublicKey": ("noCloud", "configDrive", "qemuGuestAgent"),
    "userPassword": ("qemuGuestAgent",),
}
_DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None", "")
_MAX_NAMESERVERS: Final = 3
_MAX_SEARCHES: Final = 6
_MAX_SEARCHES_LENGTH: Final = 256


def names(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateHostNameNotConformingToDNSLabelRules, validateSubdomainDNSSubdomainRules."""
    for name, words, errors_of in (
        ("hostname", "DNS_LABEL", name_errors.dns_label),
        ("subdomain", "DNS_SUBDOMAIN", name_errors.dns_subdomain),
    ):
        errors = errors_of(spec[name]) if name in spec else []
        if errors:
            field = f"{path}.{name}"
            yield Cause(
                INVALID, f"{field} does not conform to the kubernetes {words} rules : {', '.join(errors)}", field
            )


def service_account(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateServiceAccountName."""
    name, field = spec.get("serviceAccountName", ""), f"{path}.serviceAccountName"
    if not name:
        return
    errors = name_errors.dns_subdomain(name)
    if errors:
        yield Cause(INVALID, f"{field} is not a valid service account name: {'; '.join(errors)}", field)
    for volume in spec.get("volumes", ()):
        other = (volume.get("serviceAccount") or {"serviceAccountName": name}).get("serviceAccountName", "")
        if other != name:
            about = f'spec.serviceAccountName "{name}" and serviceAccount volume "{other}"'
            yield Cause(INVALID, f"{about} must reference the same service account", field)
            return


def probes(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateProbe, and the rule that network probes need the pod network."""
    defined = [(f"{path}.{name}", spec[name]) for name in PROBES if name in spec]
    for field, probe in defined:
        count = sum(handler in probe for handler in _HANDLERS)
        if count > 1:
            yield Cause(INVALID, f"{field} must have exactly one probe type set", field)
        elif not count:
            ways = f"either {field}.tcpSocket, {field}.exec or {field}.httpGet"
            yield Cause(REQUIRED, f"{ways} must be set if a {field} is specified", field)
    if any("pod" in network for network in spec.get("networks", ())):
        return
    for field, probe in defined:
        for handler in ("httpGet", "tcpSocket"):
            if handler in probe:
                message = f"{field}.{handler} is only allowed if the Pod Network is attached"
                yield Cause(INVALID, message, f"{field}.{handler}")


def dns(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateDNSPolicy, validatePodDNSConfig."""
    policy, dns_config = spec.get("dnsPolicy", ""), spec.get("dnsConfig")
    if policy not in _DNS_POLICIES:
        message = f"DNSPolicy: {policy} is not supported, valid values: [{' '.join(_DNS_POLICIES)}]"
        yield Cause(NOT_SUPPORTED, message, f"{path}.dnsPolicy")
    if dns_config is None:
        if policy == "None":
            yield Cause(REQUIRED, "must provide `dnsConfig` when `dnsPolicy` is None", f"{path}.dnsConfig")
    elif policy == "None" and not dns_config.get("nameservers"):
        yield Cause(REQUIRED, "must provide at least one DNS nameserver when `dnsPolicy` is None", "nameservers")
    else:
        yield from _dns_config(dns_config)


def _dns_config(dns_config: Spec) -> Iterator[Cause]:
    servers, searches = dns_config.get("nameservers", []), dns_config.get("searches", [])
    if len(servers) > _MAX_NAMESERVERS:
        message = f"must not have more than {_MAX_NAMESERVERS} nameservers: [{' '.join(servers)}]"
        yield Cause(INVALID, message, "nameservers")
    for server in servers:
        if not is_ip(server):
            yield Cause(INVALID, f"must be valid IP address: {server}", "nameservers")
    if len(searches) > _MAX_SEARCHES:
        yield Cause(INVALID, f"must not have more than {_MAX_SEARCHES} search paths", "searchDomains")
    if len(" ".join(searches).encode()) > _MAX_SEARCHES_LENGTH:
        message = f"must not have more than {_MAX_SEARCHES_LENGTH} characters (including spaces) in the search list"
        yield Cause(INVALID, message, "searchDomains")
    for search in searches:
        for message in name_errors.dns_subdomain(search):
            yield Cause(INVALID, message, "searchDomains")
    for option in dns_config.get("options", ()):
        if not option.get("name"):
            yield Cause(INVALID, "Option.Name must not be empty", "options")


def access_credentials(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateAccessCredentials."""
    volumes = spec.get("volumes", ())
    for credential, field in items(spec, path, "accessCredentials"):
        if "sshPublicKey" in credential:
            method = credential["sshPublicKey"].get("propagationMethod") or {}
            for name, source in (("noCloud", "cloudInitNoCloud"), ("configDrive", "cloudInitConfigDrive")):
                if name in method and not any(source in volume for volume in volumes):
                    message = f"requires a {name} volume to exist when the {name} propagationMethod is in use."
                    yield Cause(INVALID, f"{field} {message}", f"{field}.sshPublicKey.propagationMethod")
            if "qemuGuestAgent" in method and not method["qemuGuestAgent"].get("users"):
                users = f"{field}.sshPublicKey.propagationMethod.qemuGuestAgent.users"
                yield Cause(INVALID, f"{field} requires at least one user to be present in the users list", users)
        for kind, methods in _CREDENTIALS.items():
            if kind not in credential:
                continue
            if "secret" not in (credential[kind].get("source") or {}):
                yield Cause(INVALID, f"{field} must have exactly one source set", f"{field}.{kind}.source")
            chosen = credential[kind].get("propagationMethod") or {}
            if sum(method in chosen for method in methods) != 1:
                message = f"{field} must have exactly one propagationMethod set"
                yield Cause(INVALID, message, f"{field}.{kind}.propagationMethod")
        if sum(kind in credential for kind in _CREDENTIALS) != 1:
            yield Cause(INVALID, f"{field} must have exactly one access credential type set", field)
