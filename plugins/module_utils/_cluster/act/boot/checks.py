"""Checks boot sources before the task sends anything: their content, their defaults and what CDI would not report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...._resolver.api.errors import FieldError
from ...._resolver.api.kinds import BY_NAME, Kind
from ...._resolver.boot import consumers, preflight, source
from ...._resolver.boot import upload as rules
from ...client import upload_proxy
from ...client.errors import ApiError, ConnectionFailed, explain
from ...client.pool import each
from ...client.session import Session
from ...read.boot_sources import Defaults
from ...read.cdi import CDI_CONFIG, Cdi, cdi
from ...read.image import CONFIG_MAP, SECRET, file_of, image_of
from ..declare import judge
from ..engine import Settings
from ..subject import Finding
from .work import LABELED, Work, is_filled

_SOURCE: Final = "DataSource"
_REVIEW: Final = Kind("SubjectAccessReview", "authorization.k8s.io", "v1", "subjectaccessreviews", False)
_REFERENCES: Final = ((SECRET, "secret"), (CONFIG_MAP, "ca_config_map"))


def identify(session: Session, works: list[Work], settings: Settings) -> None:
    """Sets the content, the labels and the volume name of each boot source, or the reason why it fails."""
    checks = _Checks(session)

    def check(work: Work) -> None:
        if work.options.get("image"):
            work.content = image_of(session, work.options)
        elif work.uploads:
            work.content = file_of(work.options)
        work.result.failed = work.content.problem or None
        try:
            work.labels = source.defaults(work.options, work.content.environment)
        except FieldError as error:
            work.result.failed = work.result.failed or str(error)
        if work.imports or work.uploads:
            work.volume = source.volume_name(work.options, work.content.digest)
        if settings.preflight != "off" and not work.result.failed:
            judge(work.result, list(checks.findings(work)), settings)

    each(check, works, settings.concurrency)


class _Checks:
    """The checks of one task. A check is skipped if the user may not read what it needs."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._defaults = Defaults(session)

    def findings(self, work: Work) -> Iterator[Finding]:
        options, cluster = work.options, cdi(self._session)
        faults = self._defaults.faults(options["namespace"], work.labels, work.content.architecture)
        yield from (Finding(fault.text, missing=fault.missing) for fault in faults)
        if work.state != LABELED and work.has_data_source:
            yield from self._owner(work)
            yield from self._consumers(work)
        if work.imports or work.polls:
            yield from self._credentials(work, cluster)
        if work.imports or work.polls or work.uploads:
            yield from self._storage(work, cluster)
            if cluster.release is not None:
                notes = preflight.release_notes(options, work.labels, cluster.release)
                yield from (Finding(note, note=True) for note in notes)
        if work.uploads and not self._is_filled(work):
            yield from self._proxy(work)

    def _owner(self, work: Work) -> Iterator[Finding]:
        try:
            live = self._session.get(BY_NAME[_SOURCE], work.options["namespace"], work.options["name"])
        except (ApiError, ConnectionFailed):
            return
        problem = preflight.managed_elsewhere(work.options, live) if live is not None else ""
        if problem:
            yield Finding(problem)

    def _consumers(self, work: Work) -> Iterator[Finding]:
        target = work.options.get("pvc") or work.options.get("snapshot") or {"name": work.volume}
        namespace, snapshot = target.get("namespace") or work.options["namespace"], bool(work.options.get("snapshot"))
        for consumer in map(consumers.parse_consumer, work.options.get("consumers") or ()):
            alternatives = consumers.reviews(consumer, namespace, target["name"], snapshot)
            try:
                if consumer.namespace != namespace and not any(
                    all(map(self._allows, rights)) for rights in alternatives
                ):
                    yield Finding(consumers.refusal(consumer, namespace))
            except (ApiError, ConnectionFailed) as error:
                yield Finding(f"consumers: not checked: {explain(error, 'POST', _REVIEW)}", note=True)

    def _allows(self, review: dict[str, Any]) -> bool:
        body = {"apiVersion": _REVIEW.api_version, "kind": _REVIEW.kind, "spec": review}
        answer = self._session.request("POST", _REVIEW.path(), body=body, retry=True)
        return bool((answer.get("status") or {}).get("allowed"))

    def _credentials(self, work: Work, cluster: Cdi) -> Iterator[Finding]:
        """To poll, CDI also reads them in its own namespace, and does not report missing ones."""
        options = work.options
        references = [(kind, option) for kind, option in _REFERENCES if options.get(option)]
        if options.get("secret") and options.get("pull_method") == "node":
            yield Finding(
                "CDI pulls by the node without secret; add it to imagePullSecrets of CDI's configuration", note=True
            )
        namespaces = [options["namespace"]]
        if work.polls and references:
            namespaces.append(cluster.namespace)
        for kind, option in references:
            for namespace in dict.fromkeys(namespaces):
                if not namespace:
                    text = f"CDI needs the {kind.kind} {options[option]} in its own namespace, too"
                    yield Finding(f"{option}: {text}; which namespace that is, is not known", note=True)
                elif cluster.has(kind, namespace, options[option]) is False:
                    yield Finding(f"{option}: there is no {kind.kind} {namespace}/{options[option]}", missing=True)

    def _storage(self, work: Work, cluster: Cdi) -> Iterator[Finding]:
        name = work.options.get("storage_class") or ""
        if cluster.classes is None:
            return
        storage_class = cluster.classes.get(name)
        if storage_class is None and name:
            # CDI waits for the class and does not report it in the status of the volume.
            yield Finding(f"storage_class: there is no StorageClass {name}", missing=True)
        gates = (cluster.config or {}).get("featureGates")
        problem = "" if work.polls else preflight.unbound(work.options, storage_class, gates)
        if problem and not self._is_filled(work):
            yield Finding(problem)

    def _is_filled(self, work: Work) -> bool:
        try:
            return is_filled(self._session, work)
        except (ApiError, ConnectionFailed):
            return False

    def _proxy(self, work: Work) -> Iterator[Finding]:
        proxy = work.options.get("upload_proxy") or {}
        url = proxy.get("url") or ""
        try:
            url = url or rules.proxy_url(self._session.request("GET", CDI_CONFIG.path(name="config")))
            pool = upload_proxy.connections(proxy.get("validate_certs") is not False, proxy.get("ca_cert"))
        except (ApiError, ConnectionFailed):
            return
        except OSError as error:
            yield Finding(f"upload_proxy.ca_cert: {error}")
            return
        url, problem = rules.proxy_address(url)
        problem = problem or upload_proxy.unreachable(pool, url)
        if problem:
            yield Finding(problem)
