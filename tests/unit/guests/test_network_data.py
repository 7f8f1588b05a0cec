"""Network data become commands of the minimal guest."""

from pathlib import Path

from loaded_files import load

GUEST = Path(__file__).resolve().parents[3] / "tools" / "guests" / "minimal"
NETWORK_DATA = load(GUEST / "network_data.py")
MAC = "52:54:00:12:34:56"
LINKS = {"enp1s0": MAC, "enp2s0": "02:00:00:00:00:01"}


def _commands(data: object) -> list[str]:
    plan = NETWORK_DATA.plan(data, LINKS)
    assert plan.unknown == []
    return [" ".join(command) for command in plan.commands]


def _dhcp(link: str) -> str:
    return " ".join([*NETWORK_DATA.UDHCPC, link])


def test_first_nic_asks_without_data() -> None:
    assert _commands(None) == ["ip link set enp1s0 up", _dhcp("enp1s0")]
    assert NETWORK_DATA.plan(None, {}).commands == []


def test_version_2_sets_what_it_names() -> None:
    data = {
        "version": 2,
        "ethernets": {
            "lan": {
                "match": {"macaddress": MAC.upper()},
                "set-name": "lan0",
                "mtu": 1400,
                "addresses": ["192.0.2.7/24", {"2001:db8::7/64": {"lifetime": 0}}],
                "gateway4": "192.0.2.1",
                "gateway6": "2001:db8::1",
                "routes": [
                    {"to": "0.0.0.0/0", "via": "192.0.2.2", "metric": 50},
                    {"to": "198.51.100.0/24", "on-link": True},
                ],
                "nameservers": {"addresses": ["192.0.2.53"], "search": ["example.org"]},
            },
            "enp2s0": {"dhcp4": True},
        },
    }
    assert _commands({"network": data}) == [
        "ip link set enp1s0 down",
        "ip link set enp1s0 name lan0",
        "ip link set lan0 mtu 1400",
        "ip link set lan0 up",
        "ip addr replace 192.0.2.7/24 dev lan0",
        "ip addr replace 2001:db8::7/64 dev lan0",
        "ip route replace default via 192.0.2.1 dev lan0",
        "ip -6 route replace default via 2001:db8::1 dev lan0",
        "ip route replace default via 192.0.2.2 dev lan0 metric 50",
        "ip route replace 198.51.100.0/24 dev lan0 onlink",
        "ip link set enp2s0 up",
        _dhcp("enp2s0"),
    ]
    plan = NETWORK_DATA.plan(data, LINKS)
    assert (plan.servers, plan.search) == (["192.0.2.53"], ["example.org"])


def test_name_matches_by_pattern() -> None:
    data = {"version": 2, "ethernets": {"all": {"match": {"name": "enp2*"}, "addresses": ["192.0.2.7/24"]}}}
    assert _commands(data)[-1] == "ip addr replace 192.0.2.7/24 dev enp2s0"


def test_version_1_becomes_version_2() -> None:
    static = {
        "type": "static",
        "address": "192.0.2.7",
        "netmask": "255.255.255.0",
        "gateway": "192.0.2.1",
        "dns_nameservers": ["192.0.2.53"],
        "routes": [{"network": "198.51.100.0", "netmask": "255.255.255.0", "gateway": "192.0.2.9"}],
    }
    data = {
        "version": 1,
        "config": [
            {"type": "physical", "name": "lan0", "mac_address": MAC, "subnets": [static]},
            {"type": "physical", "name": "enp2s0", "subnets": [{"type": "dhcp"}]},
            {"type": "nameserver", "address": "192.0.2.54", "search": ["example.org"]},
        ],
    }
    assert _commands(data) == [
        "ip link set enp1s0 down",
        "ip link set enp1s0 name lan0",
        "ip link set lan0 up",
        "ip addr replace 192.0.2.7/24 dev lan0",
        "ip route replace default via 192.0.2.1 dev lan0",
        "ip route replace 198.51.100.0/24 via 192.0.2.9 dev lan0",
        "ip link set enp2s0 up",
        _dhcp("enp2s0"),
    ]
    assert NETWORK_DATA.plan(data, LINKS).servers == ["192.0.2.53", "192.0.2.54"]


def test_what_is_not_done_is_named() -> None:
    data = {"version": 2, "bonds": {}, "ethernets": {"eth9": {"dhcp4": True}, "enp1s0": {"dhcp6": True}}}
    assert NETWORK_DATA.plan(data, LINKS).unknown == [
        "network data: bonds is not known",
        "network data: no NIC matches eth9; there are enp1s0, enp2s0",
        "network data: dhcp6 of enp1s0 is not known; the router's announcements are used",
    ]
    plan = NETWORK_DATA.plan({"links": []}, LINKS)
    assert plan.unknown == ["network data without version 1 or 2: the first NIC asks for an address by DHCP"]
    assert plan.commands[-1] == [*NETWORK_DATA.UDHCPC, "enp1s0"]
    assert NETWORK_DATA.plan({"version": 1, "config": [{"type": "bond"}]}, LINKS).unknown == [
        "network data: type bond is not known"
    ]
