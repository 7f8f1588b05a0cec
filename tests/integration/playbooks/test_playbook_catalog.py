"""Sources of catalogs and the report, as users run them: with ansible-playbook."""

import functools
import hashlib
import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from ansible_environment import surroundings

from fleet_support import flat

Deploy = Callable[..., subprocess.CompletedProcess[str]]

CATALOG = """\
series:
  web:
    sizes:
      small: {cpu: 1, memory: 2Gi}
      large: {cpu: 2, memory: 4Gi}
"""
MANIFEST = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterInstancetype
metadata: {name: db}
spec:
  cpu: {guest: 4}
  memory: {guest: 8Gi}
"""


@pytest.fixture
def play(cluster: Path, tmp_path: Path) -> Deploy:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = surroundings(cluster, no_proxy="127.0.0.1")
        command = [str(Path(sys.executable).parent / "ansible-playbook"), *arguments]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def deploy(play: Deploy, namespace: str, tmp_path: Path) -> Deploy:
    """deploy(**options): the play of the role with these variables, in the test's namespace."""

    def run(**options: Any) -> subprocess.CompletedProcess[str]:
        result = {"namespace": namespace, "cache_dir": str(tmp_path / "cache"), **options}
        role = {
            "ansible.builtin.include_role": {"name": "virtshape.instancetypes.common_instancetypes"},
            "vars": {f"common_instancetypes_{name}": value for name, value in result.items()},
        }
        path = tmp_path / "play.yml"
        path.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": [role]}]))
        return play(str(path))

    return run


def said(done: subprocess.CompletedProcess[str]) -> str:
    return flat(done.stdout + done.stderr)


def test_a_directory_is_one_catalog(deploy: Deploy, tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    (folder / "more").mkdir(parents=True)
    (folder / "a.yml").write_text(CATALOG)
    (folder / "more" / "b.yaml").write_text(MANIFEST)
    options = {"source": "path", "path": "acme", "catalog": "acme", "catalog_version": "7", "prune": "unused"}
    assert "catalog acme 7: 3 instancetypes, 0 preferences: 3 created" in said(deploy(**options))
    (folder / "more" / "b.yaml").unlink()
    assert "2 unchanged, 1 deleted" in said(deploy(**options))


@pytest.mark.skipif(not (which("kustomize") or which("kubectl")), reason="no program renders kustomizations")
def test_kustomization_is_rendered_and_deployed(deploy: Deploy, tmp_path: Path) -> None:
    base, overlay = tmp_path / "base", tmp_path / "overlay"
    for folder, text in ((base, "resources: [size.yaml]"), (overlay, "resources: [../base]\nnamePrefix: acme-")):
        folder.mkdir()
        (folder / "kustomization.yaml").write_text(text)
    (base / "size.yaml").write_text(MANIFEST)
    done = deploy(source="path", path=str(overlay), catalog="kustomized")
    assert "catalog kustomized: 1 instancetype, 0 preferences: 1 created" in said(done)
    assert "1 unchanged" in said(deploy(source="path", path=str(overlay), catalog="kustomized"))


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("cut.yml", CATALOG[:-10], {}, "line 6"),
        ("cut.yml", CATALOG, {"checksum": "sha256:" + "0" * 64}, "the file was changed or truncated"),
        ("a.yml", CATALOG, {"prune": "unused"}, "required with prune"),
        ("a.yml", CATALOG + "---\nkind: Secret\n", {}, "kind: 'Secret' is neither an instancetype nor a preference"),
    ],
)
def test_a_wrong_file_deploys_nothing(
    deploy: Deploy, tmp_path: Path, name: str, content: str, options: dict[str, str], message: str
) -> None:
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / name).write_text(content)
    done = deploy(source="path", path=str(folder / name), **options)
    assert done.returncode != 0
    assert message in said(done)
    assert "created" not in done.stdout


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a web server and its folder."""
    folder = tmp_path / "web"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_arguments: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    server.server_close()
    thread.join()


def publish(folder: Path, version: str, text: str) -> None:
    name = f"common-clusterinstancetypes-bundle-{version}.yaml"
    (folder / version).mkdir()
    (folder / version / name).write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    (folder / version / "CHECKSUMS.sha256").write_text(f"{digest}  {name}\n")


def test_a_release_is_deployed_and_upgraded(deploy: Deploy, web: tuple[str, Path]) -> None:
    address, folder = web
    publish(folder, "v1", MANIFEST)
    publish(folder, "v2", MANIFEST.replace("guest: 4", "guest: 6"))
    release = {"source": "url", "url": address, "kinds": ["instancetype"]}
    assert "catalog common v1: 1 instancetype, 0 preferences: 1 created" in said(deploy(**release, version="v1"))
    bundle = folder / "v2" / "common-clusterinstancetypes-bundle-v2.yaml"
    whole = bundle.read_text()
    bundle.write_text(whole[:-5])
    cut = deploy(**release, version="v2")
    assert cut.returncode != 0 and "the file was changed or truncated, so nothing was deployed" in said(cut)
    bundle.write_text(whole)
    assert "catalog common v2: 1 instancetype, 0 preferences: 1 changed" in said(deploy(**release, version="v2"))


@pytest.mark.parametrize(("version", "numbers"), [("", (65, 54)), ("v1.2.1", (48, 37))])
def test_the_report_of_the_builtin_catalog(
    play: Deploy, tmp_path: Path, version: str, numbers: tuple[int, int]
) -> None:
    options = ["-e", "catalog_report_source=builtin", "-e", f"catalog_report_version={version}", "-e"]
    done = play("virtshape.instancetypes.catalog_report", *options, f"catalog_report_file={tmp_path}/catalog.html")
    assert done.returncode == 0, said(done)
    page = (tmp_path / "catalog.html").read_text()
    assert f"{numbers[0]} instancetypes, {numbers[1]} preferences" in page and "<svg" in page


def test_the_report_of_a_cluster(play: Deploy, deploy: Deploy, namespace: str, tmp_path: Path) -> None:
    assert deploy(series=["u1"], preferences=["fedora"]).returncode == 0
    chosen = ["-e", f"catalog_report_namespace={namespace}", "-e", f"catalog_report_file={tmp_path}/catalog.md"]
    done = play("virtshape.instancetypes.catalog_report", *chosen)
    assert done.returncode == 0, said(done)
    assert f"| {namespace}/u1.nano | 1 | 512Mi |" in (tmp_path / "catalog.md").read_text()
