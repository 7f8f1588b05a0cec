"""Answers of the agent in a guest, in KubeVirt's words."""

from node.guests.report import Told, told


def test_agents_answers_are_reported_as_kubevirt_does() -> None:
    loopback = {"name": "lo", "hardware-address": "00:00:00:00:00:00", "ip-addresses": [{"ip-address": "127.0.0.1"}]}
    addresses = [{"ip-address": "fe80::1"}, {"ip-address": "10.0.2.2"}]
    result = told(
        {
            "info": {"version": "10.0.13"},
            "get-osinfo": {"id": "debian", "pretty-name": "Debian 13", "version-id": "13", "variant": "x"},
            "network-get-interfaces": [
                loopback,
                {"name": "enp1s0", "hardware-address": "02:00:00:00:00:0A", "ip-addresses": addresses},
                {"name": "enp2s0", "hardware-address": "02:00:00:00:00:0b"},
                {"name": "tunl0"},
            ],
            "get-host-name": {"host-name": "web"},
            "get-timezone": {"zone": "UTC", "offset": 0},
            "get-users": [{"user": "debian", "login-time": 1.5}, {"user": "a", "login-time": 2, "domain": "AD"}],
            "get-fsinfo": [
                {"name": "vda1", "mountpoint": "/", "type": "ext4", "used-bytes": 1, "total-bytes": 2, "disk": []}
            ],
        }
    )
    assert result.system == {"id": "debian", "prettyName": "Debian 13", "versionId": "13"}
    assert result.interfaces == {
        "02:00:00:00:00:0a": {"name": "enp1s0", "addresses": ["10.0.2.2", "fe80::1"]},
        "02:00:00:00:00:0b": {"name": "enp2s0", "addresses": []},
    }
    assert (result.version, result.hostname, result.timezone) == ("10.0.13", "web", "UTC, 0")
    assert result.users == [
        {"userName": "debian", "loginTime": 1.5},
        {"userName": "a", "loginTime": 2, "domain": "AD"},
    ]
    assert result.filesystems == [
        {"diskName": "vda1", "mountPoint": "/", "fileSystemType": "ext4", "usedBytes": 1, "totalBytes": 2}
    ]


def test_agent_that_knows_little_is_an_agent() -> None:
    assert told({"info": None, "get-osinfo": None, "get-timezone": {}}) == Told()
