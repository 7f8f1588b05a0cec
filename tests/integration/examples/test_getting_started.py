"""The newcomer's page, done step by step as it says: its files, its commands, the line that the first one prints."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_environment import played

from documented import CHECKOUT
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS

PAGE = (CHECKOUT / "docs" / "getting_started.md").read_text()
FILES = dict(re.findall(r"[Ss]ave this as `(\S+\.yml)`:\n\n```yaml\n(.*?)```", PAGE, re.DOTALL))
COMMANDS = re.findall(r"^\$ ansible-playbook (\S+)$", PAGE, re.MULTILINE)
LARGER = re.search(r"in `shop.yml`:\n\n```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def state(tmp_path: Path, launch: Callable[..., dict[str, Any]]) -> Iterator[Path]:
    """The state directory of the page's cluster, which is removed whatever happens."""
    yield tmp_path / "cluster"
    launch("stop", "--remove", "--dir", str(tmp_path / "cluster"), check=False)


@pytest.mark.own_cluster
@pytest.mark.nightly("the demo and the tests of each role do the same each day")
def test_the_page_step_by_step(state: Path, tmp_path: Path) -> None:
    shop = ["shop.yml"] * 3
    assert ["cluster.yml", *shop, "drift.yml", "refresh.yml", "drift.yml", "end.yml"] == COMMANDS
    assert set(FILES) == set(COMMANDS) and LARGER is not None
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    environment: dict[str, str] = {}

    def play(name: str) -> str:
        return played(tmp_path, name, "-e", f"local_cluster_directory={state}", bare=True, **environment)

    (line,) = re.findall(r"export (K8S_AUTH_KUBECONFIG=[^\s\"]+)", play("cluster.yml"))
    variable, _equals, path = line.partition("=")
    environment[variable] = path
    assert "changed=2 " in play("shop.yml")
    assert "changed=0 " in play("shop.yml")
    session = Session({"kubeconfig": path, "retry_timeout": 30})

    def guest() -> dict[str, Any]:
        vmi = session.get(KINDS["VirtualMachineInstance"], "shop", "database")
        assert vmi is not None
        return vmi

    old = "".join(re.findall(r"        (?:cpu|memory): {guest.*\n", FILES["shop.yml"]))
    larger = FILES["shop.yml"].replace(old, LARGER[1])
    assert larger != FILES["shop.yml"]
    (tmp_path / "shop.yml").write_text(larger)
    assert "changed=1 " in play("shop.yml")
    assert "database: 4Gi now, 8Gi after a refresh" in play("drift.yml")
    before = guest()
    assert "changed=1 " in play("refresh.yml")
    after = guest()
    # The page says that the guest is not restarted.
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert [vmi["spec"]["domain"]["memory"]["guest"] for vmi in (before, after)] == ["4Gi", "8Gi"]
    assert "after a refresh" not in play("drift.yml")
    assert "changed=1 " in play("end.yml") and not state.exists()
