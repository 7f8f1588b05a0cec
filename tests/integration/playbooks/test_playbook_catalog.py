"""Sources of catalogs and the report, as users run them: with ansible-playbook."""

import functools
import hashlib
import http.server
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from ansible_environment import played

Deploy = Callable[..., str]

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
def deploy(cluster: Path, namespace: str, tmp_path: Path) -> Deploy:
    """deploy(fails=False, **options): the output of the role with these variables, in the test's namespace."""

    def run(fails: bool = False, **options: Any) -> str:
        result = {"namespace": namespace, "cache_directory": str(tmp_path / "cache"), **options}
        role = {
            "ansible.builtin.include_role": {"name": "virtshape.instancetypes.common_instancetypes"},
            "vars": {f"common_instancetypes_{name}": value for name, value in result.items()},
        }
        book = [{"hosts": "localhost", "gather_facts": False, "tasks": [role]}]
        return played(tmp_path, book, fails=fails, kubeconfig=cluster, no_proxy="127.0.0.1")

    return run


def test_a_directory_is_one_catalog(deploy: Deploy, tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    (folder / "more").mkdir(parents=True)
    (folder / "a.yml").write_text(CATALOG)
    (folder / "more" / "b.yaml").write_text(MANIFEST)
    options = {"source": "path", "path": "acme", "catalog": "acme", "catalog_version": "7", "prune": "unused"}
    assert "catalog acme 7: 3 instancetypes, 0 preferences: 3 created" in deploy(**options)
    (folder / "more" / "b.yaml").unlink()
    assert "2 unchanged, 1 deleted" in deploy(**options)


@pytest.mark.skipif(not (which("kustomize") or which("kubectl")), reason="no program renders kustomizations")
def test_kustomization_is_rendered_and_deployed(deploy: Deploy, tmp_path: Path) -> None:
    base, overlay = tmp_path / "base", tmp_path / "overlay"
    for folder, text in ((base, "resources: [size.yaml]"), (overlay, "resources: [../base]\nnamePrefix: acme-")):
        folder.mkdir()
        (folder / "kustomization.yaml").write_text(text)
    (base / "size.yaml").write_text(MANIFEST)
    options = {"source": "path", "path": str(overlay), "catalog": "kustomized"}
    assert "catalog kustomized: 1 instancetype, 0 preferences: 1 created" in deploy(**options)
    assert "1 unchanged" in deploy(**options)


class _Git(http.server.BaseHTTPRequestHandler):
    """Serves the repositories below a folder, as git's own program for web servers does."""

    def __init__(self, root: Path, *arguments: Any) -> None:
        self._root = root
        super().__init__(*arguments)

    def do_GET(self) -> None:
        path, _mark, query = self.path.partition("?")
        length = int(self.headers.get("Content-Length") or 0)
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self._root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "",
            "CONTENT_LENGTH": str(length),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
        }
        command = ["git", "-c", "safe.directory=*", "http-backend"]
        body = self.rfile.read(length)
        answer = subprocess.run(command, env=environment, input=body, stdout=subprocess.PIPE, check=True).stdout
        head, _blank, content = answer.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET


@pytest.mark.skipif(not (which("kustomize") or which("kubectl")), reason="no program renders kustomizations")
def test_a_folder_in_git_is_deployed_by_ref(deploy: Deploy, tmp_path: Path) -> None:
    folder = tmp_path / "git" / "sizes" / "types"
    folder.mkdir(parents=True)
    (folder / "kustomization.yaml").write_text("resources: [size.yaml]\nnamePrefix: git-")
    git = ["git", "-C", str(folder.parent), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    for tag, memory in (("v1", "8Gi"), ("v2", "16Gi")):
        (folder / "size.yaml").write_text(MANIFEST.replace("8Gi", memory))
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", tag], check=True)
        subprocess.run([*git, "tag", tag], check=True)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Git, folder.parents[1])) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            url = f"http://127.0.0.1:{server.server_port}/sizes/.git//types"
            options = {"source": "url", "catalog": "git"}
            assert "1 instancetype, 0 preferences: 1 created" in deploy(url=f"{url}?ref=v1", **options)
            assert "1 unchanged" in deploy(url=f"{url}?ref=v1", **options)
            assert "1 changed" in deploy(url=f"{url}?ref=v2", **options)
            output = deploy(fails=True, url=f"{url}?ref=v3", **options)
            assert "cannot render" in output and "v3" in output
        finally:
            server.shutdown()


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
    output = deploy(fails=True, source="path", path=str(folder / name), **options)
    assert message in output and "created" not in output


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
    assert "catalog common v1: 1 instancetype, 0 preferences: 1 created" in deploy(**release, version="v1")
    bundle = folder / "v2" / "common-clusterinstancetypes-bundle-v2.yaml"
    whole = bundle.read_text()
    bundle.write_text(whole[:-5])
    cut = deploy(fails=True, **release, version="v2")
    assert "the file was changed or truncated, so nothing was deployed" in cut
    bundle.write_text(whole)
    assert "catalog common v2: 1 instancetype, 0 preferences: 1 changed" in deploy(**release, version="v2")


@pytest.mark.parametrize(("version", "numbers"), [("", (65, 54)), ("v1.2.1", (48, 37))])
def test_the_report_of_the_builtin_catalog(tmp_path: Path, version: str, numbers: tuple[int, int]) -> None:
    chosen = {"source": "builtin", "version": version, "file": "catalog.html"}
    options = {f"catalog_report_{name}": value for name, value in chosen.items()}
    played(tmp_path, "virtshape.instancetypes.catalog_report", variables=options)
    page = (tmp_path / "catalog.html").read_text()
    assert f"{numbers[0]} instancetypes, {numbers[1]} preferences" in page and "<svg" in page


def test_the_report_of_a_cluster(cluster: Path, deploy: Deploy, namespace: str, tmp_path: Path) -> None:
    deploy(series=["u1"], preferences=["fedora"])
    options = {"catalog_report_namespace": namespace, "catalog_report_file": "catalog.md"}
    played(tmp_path, "virtshape.instancetypes.catalog_report", variables=options, kubeconfig=cluster)
    assert f"| {namespace}/u1.nano | 1 | 512Mi |" in (tmp_path / "catalog.md").read_text()
