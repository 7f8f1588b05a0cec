"""The check and preflight agree with virt-api, virt-controller and kube-apiserver about VMs at the limits of admission.

The answers are in tests/virt_api/recorded. tests/integration/properties/test_recorded_answers.py asks the running
ones again, and records them.
"""

import pytest

from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt, kubevirt_of
from virt_api.agreement import all_disagreements, pod_disagreements
from virt_api.answer import Recording, merged, question_digest, recorded
from virt_api.case import Case
from virt_api.cases import ALL
from virt_api.pods import PODS

RECORDINGS = recorded()
each_recording = pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.release)


def known(recording: Recording, case: Case) -> KubeVirt:
    """The KubeVirt that answered a case."""
    configuration = merged(recording.configuration, case.configuration)
    return kubevirt_of({"spec": {"configuration": configuration}}, f"v{recording.release}")


def test_newest_and_oldest_release_are_recorded() -> None:
    assert {"1.9.0", "1.4.0"} <= {recording.release for recording in RECORDINGS}


@each_recording
def test_each_case_was_answered(recording: Recording) -> None:
    asked = {name: question_digest(case) for name, case in {**ALL, **PODS}.items()}
    unanswered = [name for name, digest in asked.items() if recording.digests.get(name) != digest]
    assert not unanswered, "run tests/integration/properties/test_recorded_answers.py with VIRTSHAPE_RECORD=1"
    assert set(recording.digests) == {*recording.answers, *recording.pods} == set(asked)


@each_recording
def test_findings_agree_with_recorded_answers(recording: Recording) -> None:
    known_of = {name: known(recording, case) for name, case in ALL.items()}
    assert all_disagreements(ALL, recording.answers, known_of) == []


@each_recording
def test_foreseen_pods_agree_with_recorded_answers(recording: Recording) -> None:
    assert pod_disagreements(PODS, recording.pods, known(recording, next(iter(PODS.values())))) == []
