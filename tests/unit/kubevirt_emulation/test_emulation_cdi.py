"""What the local cluster's CDI decides without a cluster."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from kubevirt_emulation.cdi import cron_rules, labels
from kubevirt_emulation.cdi.tokens import LIFETIME, Tokens


def test_a_token_is_good_for_one_claim_and_five_minutes() -> None:
    time = 1000.0
    tokens = Tokens(lambda: time)
    token = tokens.sign("golden", "disk")
    assert tokens.read(token) == ("golden", "disk")
    assert Tokens(lambda: time).read(token) is None, "signed by somebody else"
    head, body, signature = token.split(".")
    assert tokens.read(f"{head}.{body}x.{signature}") is None
    assert tokens.read("x") is None
    time += LIFETIME + 11
    assert tokens.read(token) is None


def cron(**spec: Any) -> dict[str, Any]:
    source = {"registry": {"url": "docker://host:5000/a/b:v1"}}
    template = {"spec": {"source": source}}
    metadata = {"name": "poller", "namespace": "golden", "labels": {"kubevirt.io/a": "b", "app": "x"}}
    given = {"managedDataSource": "disk", "template": template, **spec}
    return {"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "DataImportCron", "metadata": metadata, "spec": given}


def test_a_cron_imports_by_digest_without_the_tag() -> None:
    made = cron_rules.volume(cron(retentionPolicy="None"), f"sha256:{'ab' * 32}", "now")
    assert made["metadata"]["name"] == "disk-abababababab"
    assert made["spec"]["source"]["registry"]["url"] == f"docker://host:5000/a/b@sha256:{'ab' * 32}"
    assert made["metadata"]["labels"] == {
        "kubevirt.io/a": "b",
        "cdi.kubevirt.io/dataImportCron": "poller",
        "cdi.kubevirt.io/dataImportCron.cleanup": "true",
    }


@pytest.mark.parametrize(
    ("spec", "gone"),
    [
        ({}, ["a"]),
        ({"importsToKeep": 2}, ["b", "a"]),
        ({"importsToKeep": 0}, ["d", "c", "b", "a"]),
        ({"garbageCollect": "Never", "importsToKeep": 0}, []),
    ],
)
def test_what_was_used_last_stays_longest(spec: dict[str, Any], gone: list[str]) -> None:
    used = "cdi.kubevirt.io/storage.import.lastUseTime"
    own = {"cdi.kubevirt.io/dataImportCron": "poller"}
    claims = [{"metadata": {"name": name, "annotations": {used: name}, "labels": own}} for name in "badc"]
    other = {"metadata": {"name": "other", "labels": {"cdi.kubevirt.io/dataImportCron": "x"}}}
    assert cron_rules.outdated(cron(**spec), [*claims, other]) == gone


def test_when_a_cron_polls_next() -> None:
    now = datetime(2026, 1, 1, 12, 30, tzinfo=timezone.utc)
    assert cron_rules.next_poll(cron(), now) is None
    assert cron_rules.next_poll(cron(schedule="@hourly"), now) == datetime(2026, 1, 1, 13, tzinfo=timezone.utc)
    tokyo = cron_rules.next_poll(cron(schedule="TZ=Asia/Tokyo 0 0 * * *"), now)
    assert tokyo == datetime(2026, 1, 1, 15, tzinfo=timezone.utc)


def test_a_volume_with_one_of_the_defaults_gets_none_of_the_others() -> None:
    source = dict.fromkeys((*labels.VOLUME_LABELS, "kubevirt.io/os"), "x")
    assert labels.defaults({"app": "y"}, source) == dict.fromkeys(labels.VOLUME_LABELS, "x")
    assert labels.defaults({labels.VOLUME_LABELS[3]: "y"}, source) == {}
    assert labels.allowed({"kubevirt.io/a": "b", "a.b.kubevirt.io/c-d": "e", "app": "x", "kubevirt.io/": ""}) == {
        "kubevirt.io/a": "b",
        "a.b.kubevirt.io/c-d": "e",
    }
