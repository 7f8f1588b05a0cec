"""The launcher's requests to the API server."""

from pathlib import Path
from typing import Any

import pytest

from local_cluster.api import ApiServer, path_of

Manifest = dict[str, Any]


@pytest.mark.parametrize(
    ("manifest", "path"),
    [
        (("v1", "Namespace", {"name": "a"}), "/api/v1/namespaces/a"),
        (("cdi.kubevirt.io/v1beta1", "CDI", {"name": "a"}), "/apis/cdi.kubevirt.io/v1beta1/cdis/a"),
        (("storage.k8s.io/v1", "StorageClass", {"name": "a"}), "/apis/storage.k8s.io/v1/storageclasses/a"),
        (
            ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", {"name": "a"}),
            "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/a",
        ),
        (("v1", "ConfigMap", {"name": "a", "namespace": "b"}), "/api/v1/namespaces/b/configmaps/a"),
    ],
)
def test_the_path_of_an_object(manifest: tuple[str, str, Manifest], path: str) -> None:
    version, kind, metadata = manifest
    assert path_of({"apiVersion": version, "kind": kind, "metadata": metadata}) == path


def test_kinds_that_were_never_established_are_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    def definition(name: str, *established: str) -> Manifest:
        conditions = [{"type": "Established", "status": status} for status in established]
        return {"metadata": {"name": name}, "status": {"conditions": conditions}}

    kinds = [definition("served", "True"), definition("stuck", "False"), definition("new")]
    touched = []

    def done(_api: ApiServer, method: str, path: str, body: Any = None, _content_type: str = "") -> Manifest:
        if method == "GET":
            return {"items": kinds}
        touched.append(path.rpartition("/")[2])
        assert list(body["metadata"]) == ["annotations"]
        return {}

    monkeypatch.setattr(ApiServer, "_done", done)
    api = ApiServer(1, Path("ca.crt"), "token")
    assert not api.establish_kinds()
    assert touched == ["stuck", "new"]
    kinds[1:] = []
    assert api.establish_kinds()
