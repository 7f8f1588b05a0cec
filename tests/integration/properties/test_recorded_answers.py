"""The recorded answers to the cases of tests/virt_api are those of the running virt-api and virt-controller.

``VIRTSHAPE_RECORD=1`` records them anew; with ``VIRTSHAPE_TEST_RELEASES=all`` those of all releases.
"""

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from asked import ConfigurableKubeVirt, asked_configured, asked_pods

from chosen_releases import ALL as ALL_RELEASES
from local_cluster import versions
from plugins.module_utils._cluster.client.session import Session
from virt_api import answer
from virt_api.answer import Recording, question_digest
from virt_api.cases import ALL
from virt_api.pods import PODS

NEWEST, *OTHERS = versions.kubevirt()
CHOSEN = OTHERS if ALL_RELEASES else OTHERS[-1:]


@pytest.mark.own_cluster
@pytest.mark.nightly("a release does not change its answers; test_admission_cases asks the newest each day")
@pytest.mark.parametrize("release", [NEWEST, *CHOSEN])
def test_recorded_answers_are_the_servers(launch: Callable[..., dict[str, Any]], tmp_path: Path, release: str) -> None:
    where = ("--name", f"answers-{release.replace('.', '-')}", "--dir", str(tmp_path / "cluster"))
    try:
        kubeconfig = launch("start", "--kubevirt-version", release, *where)["kubeconfig"]
        given = ask_all(Session({"kubeconfig": kubeconfig, "retry_timeout": 30}), release)
    finally:
        launch("stop", "--remove", *where, check=False)
    if os.environ.get("VIRTSHAPE_RECORD"):
        answer.save(given)
    known = answer.load(release)
    assert given.pods == known.pods
    assert [name for name in ALL if comparable(given.answers[name]) != comparable(known.answers[name])] == []
    assert given == known._replace(answers=given.answers)


def comparable(answers: Sequence[answer.Answer]) -> list[Any]:
    """Answers without what differs from run to run: the ports of webhooks, and the order of Go's maps in texts."""
    return [
        None if given.stored is not None else [given.code, given.webhook, _words(given.messages), sorted(given.fields)]
        for given in answers
    ]


def _words(messages: Sequence[str]) -> list[str]:
    return sorted(re.sub(r":\d+/", ":0/", " ".join(messages)).replace(",", " ").split())


def ask_all(session: Session, release: str) -> Recording:
    """The answers of a cluster to all cases."""
    configuration = ConfigurableKubeVirt(session).configuration
    digests = {name: question_digest(case) for name, case in {**ALL, **PODS}.items()}
    pods = asked_pods(session, "default", PODS)
    return Recording(release, configuration, asked_configured(session, ALL), pods, digests)
