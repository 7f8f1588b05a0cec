"""The check and preflight agree with the running KubeVirt, of any release, about VMs at the limits of its admission.

These cases need no configuration; test_recorded_answers.py asks a configurable KubeVirt for all.
"""

from asked import asked, asked_pods

from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._cluster.reads.kubevirt import kubevirt
from virt_api.agreement import all_disagreements, pod_disagreements
from virt_api.cases import ALL
from virt_api.pods import PODS

PLAIN = {name: case for name, case in ALL.items() if not case.configuration}


def test_check_and_preflight_agree_with_the_server(session: Session) -> None:
    known = dict.fromkeys(PLAIN, kubevirt(session))
    assert all_disagreements(PLAIN, asked(session, PLAIN), known) == []


def test_pods_are_refused_as_foreseen(session: Session, namespace: str) -> None:
    assert pod_disagreements(PODS, asked_pods(session, namespace, PODS), kubevirt(session)) == []
