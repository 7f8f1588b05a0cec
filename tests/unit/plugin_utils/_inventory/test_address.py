"""Addresses of VMs: interfaces in order, Services that lead to the VM alone."""

from collections.abc import Callable
from typing import Any

import pytest

from growth import growth
from plugins.plugin_utils._inventory.address import (
    interface_address,
    is_loopback,
    service_endpoint,
    services_by_vmi,
)

PORTS = [{"name": "shell", "port": 22}]
REPORTED = [
    {"interfaceName": "docker0", "ipAddress": "172.17.0.1", "ipAddresses": ["172.17.0.1"]},
    {"name": "back", "interfaceName": "eth1", "ipAddresses": ["fe80::1", "2001:db8::7", "192.0.2.7/24"]},
    {"name": "front", "interfaceName": "eth0", "ipAddress": "10.0.0.5"},
]


def instance(name: str = "web", reported: Any = None, **labels: str) -> dict[str, Any]:
    interfaces = [{"name": "front", "masquerade": {}, "ports": PORTS}, {"name": "back", "bridge": {}}]
    return {
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "labels": labels},
        "spec": {"domain": {"devices": {"interfaces": interfaces}}},
        "status": {"interfaces": REPORTED if reported is None else reported, "nodeName": "node01"},
    }


@pytest.mark.parametrize(
    ("interface", "family", "address"),
    [
        (None, "prefer_ipv4", "10.0.0.5"),
        (None, "prefer_ipv6", "10.0.0.5"),
        (None, "ipv6", "2001:db8::7"),
        ("back", "prefer_ipv4", "192.0.2.7"),
        ("back", "prefer_ipv6", "2001:db8::7"),
        ("eth1", "ipv4", "192.0.2.7"),
        ("docker0", "ipv4", "172.17.0.1"),
        ("front", "ipv6", None),
        ("nothing", "prefer_ipv4", None),
    ],
)
def test_the_address_of_an_interface(interface: str | None, family: str, address: str | None) -> None:
    assert interface_address(instance(), interface, family) == address


@pytest.mark.parametrize("options", ["fe80::1", "127.0.0.1", "169.254.1.1", "0.0.0.0", "::1", "", "soon"])
def test_unusable_addresses_are_ignored(options: str) -> None:
    assert interface_address(instance(reported=[{"name": "front", "ipAddress": options}])) is None
    assert interface_address(instance(reported=[])) is None
    assert interface_address({"metadata": {"name": "web"}}) is None


def service(name: str, kind: str = "LoadBalancer", ingress: Any = (), selector: Any = None, **port: Any) -> Any:
    return {
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "type": kind,
            "selector": {"vm.kubevirt.io/name": "web"} if selector is None else selector,
            "ports": [{"port": 443}, {"port": 2222, "targetPort": 22, **port}],
        },
        "status": {"loadBalancer": {"ingress": list(ingress)}},
    }


def node(name: str) -> Any:
    addresses = {"node01": [("Hostname", "node01"), ("InternalIP", "10.1.0.1"), ("ExternalIP", "203.0.113.9")]}
    options = addresses.get(name)
    return options and {"status": {"addresses": [{"type": kind, "address": address} for kind, address in options]}}


def endpoint(*services: Any, others: Any = (), port: int = 22, nodes: Any = node, family: str = "prefer_ipv4") -> Any:
    web = instance(app="shop")
    result = service_endpoint(web, services_by_vmi(services, [web, *others]).get("web", []), nodes, port, family)
    return None if result is None else tuple(result)


BALANCED = service("balanced", ingress=[{"ip": "2001:db8::9"}, {"ip": "198.51.100.4"}])
ON_NODE = service("a-node", "NodePort", nodePort=30022)


def test_load_balancer_precedes_a_node_port() -> None:
    assert endpoint(ON_NODE, BALANCED) == ("198.51.100.4", 2222)
    assert endpoint(BALANCED, family="ipv6") == ("2001:db8::9", 2222)
    assert endpoint(service("named", ingress=[{"hostname": "lb.example.com"}])) == ("lb.example.com", 2222)


def test_node_port_uses_the_guests_node_address() -> None:
    assert endpoint(ON_NODE) == ("203.0.113.9", 30022)
    assert endpoint(ON_NODE, nodes=lambda _name: None) == ("node01", 30022)
    # A load balancer that has no address yet has a port on the node, too.
    assert endpoint(service("pending", nodePort=30023)) == ("203.0.113.9", 30023)
    assert endpoint(service("pending")) is None


def test_target_port_selects_the_service_port() -> None:
    assert endpoint(BALANCED, port=443) == ("198.51.100.4", 443)
    assert endpoint(BALANCED, port=5986) is None
    ingress = [{"ip": "198.51.100.4"}]
    assert endpoint(service("named", ingress=ingress, targetPort="shell")) == ("198.51.100.4", 2222)
    assert endpoint(service("named", ingress=ingress, targetPort="unknown")) is None
    assert endpoint(service("udp", ingress=ingress, protocol="UDP")) is None


@pytest.mark.parametrize(
    ("selector", "result"),
    [
        ({"kubevirt.io": "virt-launcher", "kubevirt.io/created-by": "uid-web"}, True),
        ({"vmi.kubevirt.io/id": "web", "app": "shop"}, True),
        ({"app": "office"}, False),
        ({}, False),
    ],
)
def test_a_service_selects_the_pod_of_a_vmi(selector: dict[str, str], result: bool) -> None:
    assert bool(endpoint(service("one", ingress=[{"ip": "198.51.100.4"}], selector=selector))) is result


def test_service_for_several_guests_gives_no_endpoint() -> None:
    many = service("many", ingress=[{"ip": "198.51.100.4"}], selector={"app": "shop"})
    assert endpoint(many, others=[instance("other", app="shop")]) is None
    assert endpoint(many, others=[instance("other", app="office")]) == ("198.51.100.4", 2222)
    assert endpoint(service("inside", "ClusterIP")) is None


def test_invalid_address_does_not_hide_the_next() -> None:
    reported = [{"name": "front", "ipAddresses": ["soon", "127.0.0.1", "10.0.0.5"]}]
    assert interface_address(instance(reported=reported)) == "10.0.0.5"


def test_unrelated_service_does_not_hide_the_next() -> None:
    web, other = instance(tier="web"), instance("other", tier="web")
    services = [
        service("a", selector={"tier": "db"}, ingress=[{"ip": "192.0.2.1"}]),
        service("b", selector={"tier": "web"}, ingress=[{"ip": "192.0.2.2"}]),
        service("c", selector={"vm.kubevirt.io/name": "web"}, ingress=[{"ip": "192.0.2.3"}]),
        service("d", selector={"vm.kubevirt.io/name": "web"}, ingress=[{"ip": "192.0.2.4"}]),
    ]
    for order in (services, services[::-1]):
        assert service_endpoint(web, services_by_vmi(order, [web, other])["web"], {}.get) == ("192.0.2.3", 2222)


@pytest.mark.parametrize(
    ("name", "hostname", "label"),
    [("web", "", "web"), ("web.shop.example", "", "web"), ("web", "front", "front"), ("w" * 70, "", "w" * 63)],
)
def test_service_selects_pod_by_its_hostname_label(name: str, hostname: str, label: str) -> None:
    item = instance(name)
    if hostname:
        item["spec"]["hostname"] = hostname
    chosen = service("a", selector={"vm.kubevirt.io/name": label}, ingress=[{"ip": "192.0.2.1"}])
    assert service_endpoint(item, services_by_vmi([chosen], [item])[name], {}.get) == ("192.0.2.1", 2222)


@pytest.mark.parametrize("alone", [True, False])
def test_work_is_linear_in_services_and_vmis(alone: bool) -> None:
    def work(count: int) -> Callable[[], Any]:
        names = [f"vm-{number}" for number in range(count)]
        selectors = ({"app": "shop", **({"vmi.kubevirt.io/id": name} if alone else {})} for name in names)
        services = [service(name, selector=selector) for name, selector in zip(names, selectors)]
        instances = [instance(name, app="shop") for name in names]

        def find() -> None:
            assert list(services_by_vmi(services, instances)) == (sorted(names) if alone else [])

        return find

    assert growth(work) < 5


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("10.0.0.1", False),
        ("kube.example.com", False),
        ("", False),
    ],
)
def test_loopback_hosts_are_the_machine_itself(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
