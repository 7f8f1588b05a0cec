"""A whole site is checked before any of it exists, then made, then unchanged."""

import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_environment import played
from kubernetes import client, config

CATALOG = """\
series:
  site:
    sizes:
      small: {cpu: 1, memory: 512Mi}
"""


@pytest.fixture
def site(cluster: Path) -> Iterator[str]:
    """A name for a site of which nothing is there: its namespace, and what its instancetypes' names begin with."""
    name = f"site-{uuid.uuid4().hex[:8]}"
    yield name
    with config.new_client_from_config(str(cluster)) as connection:
        objects = client.CustomObjectsApi(connection)
        plural = "virtualmachineclusterinstancetypes"
        labels = f"instancetypes.virtshape.io/catalog={name}"
        objects.delete_collection_cluster_custom_object(
            "instancetype.kubevirt.io", "v1beta1", plural, label_selector=labels
        )
        for item in client.CoreV1Api(connection).list_namespace().items:
            if item.metadata.name == name:
                client.CoreV1Api(connection).delete_namespace(name)


def play(cluster: Path, tmp_path: Path, site: str, *arguments: str) -> str:
    catalog = tmp_path / "catalog.yml"
    catalog.write_text(CATALOG)
    vm: dict[str, Any] = {
        "namespace": site,
        "instancetype": {"name": f"{site}-site.small"},
        "volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}],
        "run_strategy": "Halted",
    }
    hosts = {name: {"virtual_machine": {**vm, "name": name}} for name in ("web", "db")}
    inventory = tmp_path / "hosts.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts}}))
    variables = {
        "common_instancetypes_source": "path",
        "common_instancetypes_path": str(catalog),
        "common_instancetypes_catalog": site,
        "common_instancetypes_name_prefix": f"{site}-",
    }
    options: dict[str, Any] = {"variables": variables, "kubeconfig": cluster, "no_proxy": "127.0.0.1"}
    return played(tmp_path, "virtshape.instancetypes.site", "-i", str(inventory), *arguments, **options)


def test_check_of_a_new_site_succeeds(cluster: Path, tmp_path: Path, site: str) -> None:
    result = play(cluster, tmp_path, site, "--check", "--diff")
    assert f'namespaces "{site}" not found; check mode cannot tell whether an earlier task' in result
    # The suggestion depends on what other tests have on the cluster.
    assert re.search(f'"{site}-site.small" not found; (the cluster has|did you mean) ', result), result
    assert "failed=0" in result and "changed=2" in result
    with config.new_client_from_config(str(cluster)) as connection:
        client.CoreV1Api(connection).create_namespace({"metadata": {"name": site}})
    play(cluster, tmp_path, site)
    assert "changed=0" in play(cluster, tmp_path, site, "--check")
