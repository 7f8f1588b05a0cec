"""Recordings of `virtctl image-upload`: run through the collection's upload, compared.

Compared are whether it ends well, the requests in their order with their bodies, the objects at the end and, of what
fails, the message: our words are translated to virtctl's in `_SAID`. Each intended difference is a rule of `_mended`,
which changes the expected result. Left out are DataSources: the module declares one afterwards, as that of any boot
source.
"""

import hashlib
import re
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest import mock

import collection_path  # noqa: F401  # pylint: disable=unused-import
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from recorded_cdi import ADDRESS, HOST, RecordedSession
from upload_flags import Refused, Wish, wish

from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources.cluster import upload as act
from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources.cluster.boot_source import _SPEC
from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources.cluster.boot_source_state import (
    BootSourceState,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources.source import represented_object
from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources.upload_rules import UploadFailed
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.errors import ApiError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.task import Task
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import FieldError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.keys import BOOT_SOURCE_LABEL
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.matcher import ObjectKey
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.change.declared import declare_job

Case = dict[str, Any]

_NAMESPACE = "default"
_IMAGE = b"v" * 2**20
_FILES = {"disk.img": len(_IMAGE), "disk.qcow2": 3000, "empty.img": 0, "archive.tar": 10240}
_PVC = "/api/v1/namespaces/default/persistentvolumeclaims/"
_DV = "/apis/cdi.kubevirt.io/v1beta1/namespaces/default/datavolumes/"
_DAY = 86400
_TOKEN_NAME = {"token-for-upload-": "token-for-virtctl-"}
# Ours (a regular expression) and what virtctl says instead.
_SAID = (
    (
        r"upload.archive: an archive needs volume_mode .*",
        "In archive upload the volume mode should always be filesystem",
    ),
    (
        r"there is no PersistentVolumeClaim \S+/(\S+), and upload.create is false",
        r'persistentvolumeclaims "\1" not found',
    ),
    (r"size: required: .*", "when creating a resource, the size must be specified"),
    (
        r"value of access_modes must be one or more of: .* Got no match for: ReadOnlyMany",
        "cannot upload to a readonly volume, use either ReadWriteOnce or ReadWriteMany if supported",
    ),
    (r"size: '(.*?)': (quantities must|unable to)(.*)", r"validation failed for size=\1: \2\3"),
    (r"\S+ \S+/(\S+) is bound, so .*", r"PVC \1 already successfully populated"),
    (r"\S+ \S+/(\S+) is filled already; upload .*", r"PVC \1 already successfully imported/cloned/updated"),
    (
        r"PersistentVolumeClaim (\S+) is filled already, and .*",
        r"DataVolume already garbage-collected: Assuming PVC \1 is successfully populated",
    ),
    (r"\S+ (\S+) belongs to no DataVolume; .*", r"No DataVolume is associated with the existing PVC \1"),
    (r"CDI has made no claim for the upload to (\S+) yet.*", r"Unable to get PVC Prime name from PVC \1"),
    (r"the claim \S+ that CDI made for the upload to (\S+) is gone.*", r"Unable to get PVC Prime \1"),
    (r"\S+ \S+/(\S+) is not prepared for an upload; .*", r"PVC \1 not available for upload"),
    (r"\S+ \S+/(\S+) takes no archive", r"PVC \1 doesn't have archive contentType annotation"),
    (
        r"DataVolume \S+ is in phase (\S+), .*",
        r"cannot upload to DataVolume in \1 phase, make sure the PVC is Bound, or use force-bind flag",
    ),
    (r"claim not valid: (.*)", r"Claim not valid: \1"),
    (r"provisioning failed: (.*)", r"Provisioning failed: \1"),
    (r"CDI has published no URL .*", "uploadproxy URL not found"),
    (r"upload_proxy.url (\S+) is no URL; .*", r'parse "\1": '),
    (r"the upload proxy at \S+ refuses the token: HTTP 401.*", "authentication failed: unexpected return value 401,"),
    (r"CDI was not ready for the upload .*", "context deadline exceeded"),
)


class _Time:
    """A clock that moves when somebody waits, in place of the module `time`."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def monotonic(self) -> float:
        return self._seconds

    def sleep(self, seconds: float) -> None:
        self._seconds += seconds


def run(case: Case) -> tuple[Case, Case]:
    """The expected and the actual result of a case."""
    session = RecordedSession(case)
    with tempfile.TemporaryDirectory() as folder:
        for name, size in _FILES.items():
            Path(folder, name).write_bytes(_IMAGE[:size])
        given: Wish | None = None
        error = None
        try:
            given = wish([word.replace(HOST, ADDRESS) for word in case["args"][1:]], _NAMESPACE)
            session.proxy.trusted = session.proxy.trusted or not given.options["upload_proxy"]["validate_certs"]
            _upload(session, given, Path(folder))
        except (Refused, FieldError, UploadFailed, ApiError) as problem:
            error = problem.message if isinstance(problem, ApiError) else str(problem)
    expected = _expected(case, given, bool(session.requests))
    got = {
        "error": None if error is None else _said(error.replace(ADDRESS, HOST), expected["error"]),
        "requests": [_virtctls(request) for request in session.requests],
        "objects": _volumes(session.objects()),
    }
    return expected, got


def _upload(session: RecordedSession, given: Wish, folder: Path) -> None:
    options = given.options["upload"]
    path = folder / options["path"]
    if not options["path"] or not path.exists():
        raise Refused(f"open {options['path']}: no such file or directory")
    result = ArgumentSpecValidator(_SPEC).validate({**given.options, "upload": {**options, "path": str(path)}})
    if result.error_messages:
        raise Refused(result.error_messages[0])
    if not session.has_volumes:
        # virtctl asks for no size of a volume that exists.
        represented_object(result.validated_parameters)
    name = given.options["name"]
    job = declare_job(ObjectKey("", _NAMESPACE, name), "present", {}, options=result.validated_parameters)
    boot_source = BootSourceState(job, labels=given.labels, volume=name)
    connections = mock.patch.object(act, "web_pool", return_value=session.proxy)
    # After a failed wait virtctl does not ask why.
    no_reasons = mock.patch.object(act._Upload, "_reasons", return_value="")
    with connections, no_reasons, mock.patch.object(act, "time", _Time()):
        act.upload(session, boot_source, Task(wait=True, wait_timeout=_DAY))


def _expected(case: Case, given: Wish | None, asked: bool) -> Case:
    expect = deepcopy(case["expect"])
    for request in expect["requests"]:
        # Only the length of files other than disk.img is known: their bytes were the recording machine's.
        if "body_sha256" in request:
            request["body_sha256"] = hashlib.sha256(_IMAGE[: request["body_bytes"]]).hexdigest()
    expected = {
        "error": expect["error"],
        "requests": [request for request in expect["requests"] if "/datasources" not in request["path"]],
        "objects": _volumes(expect["objects"]),
    }
    if given is not None:
        _mended(expected, given, bool(expect.get("never_ends")))
    if expected["error"] and not asked:
        # Errors of the options alone come before any request.
        expected["requests"] = [request for request in expected["requests"] if request["method"] != "GET"]
    return expected


def _mended(expected: Case, given: Wish, never_ends: bool) -> None:
    """The intended differences from virtctl."""
    requests = expected["requests"]
    if given.options["upload"]["tries"] == 0 and never_ends:
        _mend_no_tries(requests)
    existing = any(request["method"] == "GET" and request["status"] == 200 for request in requests[:1])
    if given.labels and existing and not expected["error"]:
        _mend_labels(expected, given)


def _mend_no_tries(requests: list[Case]) -> None:
    """With `--retry=0` virtctl sends nothing and waits in vain; here it sends the file once."""
    token = next(index for index, request in enumerate(requests) if request["path"].endswith("/uploadtokenrequests"))
    headers = {"Authorization": "Bearer token-1"}
    common = {"path": "/v1beta1/upload-async", "status": 200, "upload_proxy": "http"}
    sent = {"body_bytes": len(_IMAGE), "body_sha256": hashlib.sha256(_IMAGE).hexdigest()}
    posted = {"method": "POST", "headers": {**headers, "Content-Type": "application/octet-stream"}, **sent, **common}
    requests[token + 1 :] = [{"method": "HEAD", "headers": headers, **common}, posted, requests[-1]]


def _mend_labels(expected: Case, given: Wish) -> None:
    """Existing volumes get the labels, which virtctl drops without a word."""
    name = given.options["name"]
    places = [_PVC] if given.options["upload"]["claim"] else [_PVC, _DV]
    added: list[Case] = []
    for place in places:
        path = place + name
        added.append({"method": "GET", "path": path, "status": 200})
        body = {"metadata": {"labels": dict(given.labels)}}
        common = {"content_type": "application/merge-patch+json", "method": "PATCH", "path": path, "status": 200}
        added.append({"body": body, **common})
    kinds = ["PersistentVolumeClaim"] if given.options["upload"]["claim"] else ["PersistentVolumeClaim", "DataVolume"]
    requests = expected["requests"]
    looked = next(index for index, request in enumerate(requests) if index and request["path"] == places[-1] + name)
    expected["requests"] = requests[:looked] + added + requests[looked:]
    for item in expected["objects"]:
        if item["object"]["kind"] in kinds and item["object"]["metadata"]["name"] == name:
            item["object"]["metadata"].setdefault("labels", {}).update(given.labels)


def _said(error: str, expected: str | None) -> str:
    """Our message in virtctl's words, as far as it has such."""
    error = re.sub(r" \(\d+ bytes of the file had been read\)$", "", error)
    for ours, virtctls in _SAID:
        result = re.fullmatch(ours, error)
        if result:
            error = result.expand(virtctls)
            break
    if expected and error.startswith("the upload to ") and expected.startswith("error uploading image after "):
        return _upload_failed(error, expected)
    # Go says more about a URL that is none, and what a request that comes too late ends with.
    more = expected is not None and error.startswith('parse "') and expected.startswith(error)
    late = expected is not None and error.startswith("context deadline") and expected.endswith(error)
    return str(expected) if more or late else error


def _upload_failed(error: str, expected: str) -> str:
    status = re.search(r"HTTP (\d+) ?(.*)", error)
    if status:
        tries = re.search(r"after (\d+) retries", expected)
        assert tries
        return (
            f"error uploading image after {tries[1]} retries: unexpected return value {status[1]}, {status[2]}".strip()
        )
    tls = "certificate" in error and "failed to verify certificate" in expected
    return expected if tls or "unsupported protocol scheme" in expected else error


def _virtctls(request: Case) -> Case:
    """A request with the name that virtctl gives a token, and without the label by which the module knows a volume."""
    metadata = (request.get("body") or {}).get("metadata") or {}
    if metadata.get("generateName") in _TOKEN_NAME:
        metadata["generateName"] = _TOKEN_NAME[metadata["generateName"]]
    _unlabel(metadata)
    return request


def _volumes(objects: list[Case]) -> list[Case]:
    """The claims and DataVolumes among objects, without the label by which the module knows them."""
    volumes = [item for item in objects if item["object"]["kind"] != "DataSource"]
    for item in volumes:
        _unlabel(item["object"]["metadata"])
    return sorted(volumes, key=lambda item: (item["object"]["kind"], item["object"]["metadata"]["name"]))


def _unlabel(metadata: Case) -> None:
    labels = metadata.get("labels") or {}
    if labels.pop(BOOT_SOURCE_LABEL, None) and not labels:
        del metadata["labels"]
