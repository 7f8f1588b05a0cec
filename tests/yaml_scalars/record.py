"""Records what Go's reader of YAML and a real server make of the scalars in the fields.

`PYTHONPATH=tests python -m yaml_scalars.record KUBECONFIG`, with Go and a cluster for tests. In the recording, `read`
has for each scalar what is read of it as a value and as a key, or the error. `accepted` has for each field and each
scalar, in order, whether the server would create the VM.
"""

import http.client
import json
import ssl
import subprocess
import sys
import threading
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from yaml_scalars.cases import FIELDS, SCALARS, manifest

FOLDER = Path(__file__).parent
RECORDED = FOLDER / "recorded.json"
_PATH = "/apis/kubevirt.io/v1/namespaces/default/virtualmachines?dryRun=All"
_BODIES = ("application/json", "application/yaml")


def go_reads(texts: list[str]) -> list[Any]:
    """The JSON that kubectl and servers make of each text; for an error, a mapping of `!error` to the reason."""
    lines = "".join(f"{json.dumps(text)}\n" for text in texts)
    done = subprocess.run(
        ["go", "run", "."], cwd=FOLDER / "go", input=lines, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


class Server:
    """The server of a kubeconfig with a token."""

    def __init__(self, kubeconfig: str) -> None:
        content = yaml.safe_load(Path(kubeconfig).read_text(encoding="utf-8"))
        cluster, user = content["clusters"][0]["cluster"], content["users"][0]["user"]
        self._address, self._own = urlsplit(cluster["server"]).netloc, threading.local()
        self._tls = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())
        self._headers = {"Authorization": f"Bearer {user['token']}"}

    def refusal(self, body: str, content_type: str) -> str:
        """The reason why the server would not create the VM; "" if it would."""
        if not hasattr(self._own, "connection"):
            self._own.connection = http.client.HTTPSConnection(self._address, context=self._tls)
        self._own.connection.request("POST", _PATH, body.encode(), {**self._headers, "Content-Type": content_type})
        answer = self._own.connection.getresponse()
        content = answer.read()
        if answer.status in (429, 500, 503):
            message = json.loads(content).get("message", "")
            if "unmarshal" not in message and "json" not in message:
                raise RuntimeError(f"{answer.status}: {content.decode()}")
        return "" if answer.status == 201 else json.loads(content)["message"]


def main(kubeconfig: str) -> None:
    server = Server(kubeconfig)
    values, keys = (go_reads([form.format(scalar) for scalar in SCALARS]) for form in ("v: {}\n", "{}: v\n"))
    if reason := server.refusal(manifest("name", FIELDS["name"]), _BODIES[1]):
        raise RuntimeError(reason)
    questions = [(field, scalar) for field in FIELDS for scalar in SCALARS]
    as_json = go_reads([manifest(*question) for question in questions])

    def asked(index: int) -> tuple[str, str]:
        read = as_json[index]
        sent = "go: " + read["!error"] if "!error" in read else server.refusal(json.dumps(read), _BODIES[0])
        return sent, server.refusal(manifest(*questions[index]), _BODIES[1])

    with ThreadPoolExecutor(6) as threads:
        refusals = list(threads.map(asked, range(len(questions))))
    for question, (sent, direct) in zip(questions, refusals):
        if bool(sent) != bool(direct):
            print(question, sent, direct, sep="\n  ")
    accepted = {
        field: "".join("01"[not refusals[index][0]] for index, question in enumerate(questions) if question[0] == field)
        for field in FIELDS
    }
    write(dict(zip(SCALARS, zip(values, keys))), accepted)


def write(read: dict[str, Any], accepted: dict[str, str]) -> None:
    """Writes the recording, a line for each scalar and field."""
    parts = {"read": read, "accepted": accepted}
    text = ",\n".join(
        f'"{name}": {{\n' + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in part.items()) + "\n}"
        for name, part in parts.items()
    )
    RECORDED.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
