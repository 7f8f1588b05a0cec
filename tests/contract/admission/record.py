"""Records what a real KubeVirt answers to the cases: `record.py --kubeconfig FILE [--release VERSION] [--print]`.

Nothing is stored (server-side dry runs), but the configuration of the KubeVirt object is changed for some cases, and
put back. recorded.json has the newest release's answers, releases/VERSION.json what another one answers otherwise. With
--print the answers go to standard output, to compare another cluster with recorded.json.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from admission_cases import CASES
from api import Api

RECORDED = Path(__file__).with_name("recorded.json")
RELEASES = Path(__file__).with_name("releases")
_KUBEVIRT = "/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts/kubevirt"
_DENIED = re.compile(r'admission webhook "([^"]+)" denied the request: ')
_PLURALS = {"VirtualMachine": "virtualmachines", "VirtualMachineInstance": "virtualmachineinstances"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Records what a KubeVirt answers to the cases.")
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--release", help="write what differs from recorded.json to releases/RELEASE.json")
    parser.add_argument("--print", action="store_true", help="do not write recorded.json")
    parser.add_argument("--pause", type=float, default=2, help="seconds until KubeVirt follows its configuration")
    options = parser.parse_args()
    api = Api(options.kubeconfig, connections=1)
    first = json.loads(api.send("GET", _KUBEVIRT).text)["spec"]["configuration"]
    answers: dict[str, Any] = {}
    try:
        for configuration in sorted({json.dumps(case.configuration, sort_keys=True) for case in CASES.values()}):
            _configure(api, {**first, **json.loads(configuration)}, options.pause)
            for name, case in CASES.items():
                if json.dumps(case.configuration, sort_keys=True) == configuration:
                    answers[name] = _answer(api, case.kind, case.manifest())
    finally:
        _configure(api, first, 0)
    newest = json.loads(RECORDED.read_text()) if options.release else {}
    kept = {name: answers[name] for name in CASES if answers[name] != newest.get(name)}
    text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
    if options.print:
        print(text, end="")
    else:
        (RELEASES / f"{options.release}.json" if options.release else RECORDED).write_text(text)


def _configure(api: Api, configuration: dict[str, Any], pause: float) -> None:
    body = [{"op": "replace", "path": "/spec/configuration", "value": configuration}]
    answer = api.send("PATCH", _KUBEVIRT, body=body, content_type="application/json-patch+json")
    if answer.code != 200:
        raise SystemExit(f"{configuration}: {answer.text}")
    time.sleep(pause)


def _answer(api: Api, kind: str, manifest: dict[str, Any]) -> dict[str, Any]:
    """code; of a refusal the webhook ("" for kube-apiserver itself), the message and the causes."""
    path = f"/apis/kubevirt.io/v1/namespaces/default/{_PLURALS[kind]}?dryRun=All"
    answer = api.send("POST", path, body=manifest)
    status = json.loads(answer.text)
    if answer.code == 201:
        return {"code": 201}
    denied = _DENIED.match(status["message"])
    result = {
        "code": answer.code,
        "webhook": denied[1] if denied else "",
        "message": status["message"][denied.end() if denied else 0 :],
    }
    causes = (status.get("details") or {}).get("causes")
    return {**result, "causes": causes} if causes else result


if __name__ == "__main__":
    main()
