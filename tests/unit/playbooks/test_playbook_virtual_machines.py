"""VMs that are the hosts of an inventory: declared once, in the inventory's order, with a failure that names them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_environment import ansible

from scripted_server import Store, session_with, status

CHECKOUT = Path(__file__).parents[3]
KUBEVIRT = "/apis/kubevirt.io/v1/namespaces/shop"
# In order, one after the other.
SLOWLY = '{"virtual_machines_concurrency": 1, "virtual_machines_wait": false}'
HOSTS = ("web-9", "db", "web-1", "cache")


def shop(*refused: str) -> Store:
    lists: dict[str, list[Any]] = {f"{KUBEVIRT}/virtualmachines": [], f"{KUBEVIRT}/virtualmachineinstances": []}
    lists["/apis/apps/v1/namespaces/shop/controllerrevisions"] = []
    answers = {("PATCH", f"/{name}"): status(422, f"no room for {name}", "Invalid") for name in refused}
    return Store(lists, answers)


def play(store: Store, folder: Path, playbook: str | list[Any], *arguments: str, **variables: str) -> tuple[int, str]:
    """Exit code and output of a playbook, or of a play, over HOSTS."""
    template = {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}}
    options = {"namespace": "shop", "run_strategy": "Halted", "template": template}
    hosts = {name: {"virtual_machine": {**options, "name": name}} for name in HOSTS}
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": {"ansible_connection": "local"}}}))
    if not isinstance(playbook, str):
        (folder / "play.yml").write_text(json.dumps(playbook))
        playbook = "play.yml"
    with session_with(store) as session:
        settings = {"K8S_AUTH_HOST": session.host, "K8S_AUTH_API_KEY": "scripted-token", **variables}
        return ansible(folder, "ansible-playbook", "-i", "hosts.json", playbook, *arguments, bare=True, **settings)


def written(store: Store) -> list[str]:
    return [path.rpartition("/")[2] for method, path in store.asked if method == "PATCH"]


def over_hosts(which: str, **more: Any) -> list[Any]:
    """The documented play that declares its hosts with one task."""
    listed = f"{{{{ {which} | map('extract', hostvars, 'virtual_machine') | list }}}}"
    task = {"virtshape.instancetypes.virtual_machine": {"virtual_machines": listed, "concurrency": 1}, "run_once": True}
    return [
        {
            "hosts": "all",
            "gather_facts": False,
            "vars": {"ansible_python_interpreter": sys.executable},
            "tasks": [task],
            **more,
        }
    ]


def test_failure_ends_with_failed_vms_and_counts(tmp_path: Path) -> None:
    store = shop("db", "cache")
    code, output = play(store, tmp_path, "virtshape.instancetypes.virtual_machines", "-e", SLOWLY)
    assert code == 2, output
    reason = "2 of 4 virtual machines failed: shop/db: no room for db; shop/cache: no room for cache; 2 created"
    last = [line for line in output.partition("PLAY RECAP")[0].splitlines() if line.startswith("fatal:")][-1]
    assert reason in last, output
    assert written(store) == list(HOSTS)


@pytest.mark.parametrize("strategy", ["linear", "free"])
def test_a_limit_keeps_the_order(tmp_path: Path, strategy: str) -> None:
    store = shop()
    code, output = play(
        store,
        tmp_path,
        "virtshape.instancetypes.virtual_machines",
        "--limit",
        "web-1,web-9,cache",
        "-e",
        SLOWLY,
        ANSIBLE_STRATEGY=strategy,
    )
    assert code == 0, output
    assert written(store) == ["web-9", "web-1", "cache"]


def test_each_batch_declares_its_hosts(tmp_path: Path) -> None:
    store = shop()
    code, output = play(store, tmp_path, over_hosts("ansible_play_batch", serial=2))
    assert code == 0, output
    assert written(store) == list(HOSTS)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"serial": 2}, "run_once: with serial, each batch would run the task for all 4 VMs; choose those of the"),
        ({"strategy": "free"}, "run_once: the strategy free ignores it for 4 hosts; set strategy: linear in the play"),
    ],
)
def test_a_fleet_is_not_declared_again_and_again(tmp_path: Path, how: Any, message: str) -> None:
    store = shop()
    code, output = play(store, tmp_path, over_hosts("ansible_play_hosts", **how))
    assert code == 2, output
    assert message in output and written(store) == []


def test_a_fleet_is_rendered_without_a_request(tmp_path: Path) -> None:
    store, folder = shop(), tmp_path / "fleet"
    rendering = json.dumps({"virtual_machines_state": "rendered", "virtual_machines_dest": str(folder)})
    arguments = ("virtshape.instancetypes.virtual_machines", "-e", rendering)
    code, output = play(store, tmp_path, *arguments)
    assert code == 0, output
    assert "4 virtual machines rendered; 4 of 4 files written" in output
    assert {path.name for path in folder.iterdir()} == {f"shop_virtualmachine_{name}.yaml" for name in HOSTS}
    assert "runStrategy: Halted" in (folder / "shop_virtualmachine_db.yaml").read_text()
    code, output = play(store, tmp_path, *arguments)
    assert "0 of 4 files written" in output and "changed=0" in output, output
    assert store.asked == []
