"""Checks boot sources before the task sends anything: their content, their defaults and what CDI would not report."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from ..._cluster.client.concurrency import map_concurrently
from ..._cluster.client.errors import RequestFailed, value_or_default
from ..._cluster.client.session import Session
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.task import Task
from ..._cluster.writes.declare import ownership
from ..._resolver.api.errors import FieldError
from ..._resolver.api.finding import WARNING, Finding
from ..._resolver.api.manifest import Manifest
from ..._resolver.change.declared import judge
from ..._resolver.change.step import UNKNOWN_IN_CHECK_MODE
from ..._resolver.kubevirt.instancetype.lookup import get_readable
from .. import preflight, source
from ..upload_rules import UploadFailed
from . import upload_proxy
from .boot_source_state import LABELED, BootSourceState, foreign_problem, has_content
from .cdi import cdi
from .clone_rights import may_clone
from .contents import default_findings, file_content, image_content
from .registry import CONFIG_MAP, SECRET
from .upload import proxy_connections, proxy_url

_DATA_SOURCE: Final = "DataSource"
_REFERENCES: Final = ((SECRET, "secret_ref"), (CONFIG_MAP, "cert_config_map"))


def resolve_contents(session: Session, boot_sources: list[BootSourceState], task: Task) -> None:
    """Sets the content, the labels and the volume name of each boot source, or the reason why it fails."""
    checks = _Checks(session)

    def check(boot_source: BootSourceState) -> None:
        if boot_source.options.get("image"):
            boot_source.content = image_content(session, boot_source.options)
        elif boot_source.uploads:
            boot_source.content = file_content(boot_source.options)
        if boot_source.content.missing and task.check_mode:
            boot_source.job.warn(f"{boot_source.content.problem}; {UNKNOWN_IN_CHECK_MODE}")
            boot_source.job.incomplete = True
        else:
            boot_source.job.failed = boot_source.content.problem or None
        try:
            boot_source.labels = source.defaults(boot_source.options, boot_source.content.environment)
        except FieldError as error:
            boot_source.job.failed = boot_source.job.failed or str(error)
        if boot_source.imports or boot_source.uploads:
            boot_source.volume = source.volume_name(boot_source.options, boot_source.content.digest)
        if task.preflight != "off" and not boot_source.job.failed:
            judge(boot_source.job, checks.findings(boot_source), task.preflight, task.check_mode)
        # Before the import: a volume that nothing refers to would stay.
        boot_source.job.failed = boot_source.job.failed or checks.foreign_data_source(boot_source, task) or None

    map_concurrently(check, boot_sources, task.concurrency)
    _refuse_same_volumes(boot_sources)


def _refuse_same_volumes(boot_sources: list[BootSourceState]) -> None:
    by_volume: dict[tuple[str, str], list[BootSourceState]] = {}
    for boot_source in boot_sources:
        if boot_source.volume:
            by_volume.setdefault((boot_source.options["namespace"], boot_source.volume), []).append(boot_source)
    for (namespace, volume), same in by_volume.items():
        if len(same) > 1:
            names = " and ".join(boot_source.options["name"] for boot_source in same)
            for boot_source in same:
                problem = f"{names} have the same volume {namespace}/{volume}; choose another upload.volume"
                boot_source.job.failed = boot_source.job.failed or problem


class _Checks:
    """The checks of one task. A check is skipped if the user may not read what it needs."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lookup = ClusterLookup(session)
        self._cdi = cdi(session)

    def findings(self, boot_source: BootSourceState) -> Iterator[Finding]:
        options, release = boot_source.options, self._cdi.release
        yield from default_findings(
            self._session, self._lookup, options["namespace"], boot_source.labels, boot_source.content.architecture
        )
        if boot_source.state != LABELED and boot_source.has_data_source:
            live = self._data_source(boot_source)
            if live is not None and (problem := preflight.redirect_problem(options, live)):
                yield Finding(problem)
            yield from self._consumers(boot_source)
        if boot_source.imports or boot_source.polls:
            yield from self._credentials(boot_source)
        if boot_source.imports or boot_source.polls or boot_source.uploads:
            yield from self._storage(boot_source)
            yield from preflight.release_notes(options, boot_source.labels, release) if release is not None else ()
            if boot_source.uploads and not self._is_filled(boot_source):
                yield from self._proxy(boot_source)

    def foreign_data_source(self, boot_source: BootSourceState, task: Task) -> str:
        """Why the task must not declare its DataSource; "" if it may, or if CDI makes the DataSource."""
        if boot_source.state == LABELED or boot_source.polls or not boot_source.has_data_source:
            return ""
        live = self._data_source(boot_source)
        name = boot_source.options["name"]
        return "" if live is None else foreign_problem(name, _DATA_SOURCE, live, ownership(self._session, task))

    def _data_source(self, boot_source: BootSourceState) -> Manifest | None:
        return get_readable(self._lookup, _DATA_SOURCE, *boot_source.name)

    def _is_filled(self, boot_source: BootSourceState) -> bool:
        return value_or_default(lambda: has_content(self._session, boot_source), False)

    def _consumers(self, boot_source: BootSourceState) -> Iterator[Finding]:
        kind, namespace, name = boot_source.content_key
        for consumer in map(source.parse_consumer, boot_source.options.get("consumers") or ()):
            right = source.CloneRight(consumer, namespace, name, kind == "VolumeSnapshot")
            try:
                if consumer[0] != namespace and not may_clone(self._session, right):
                    yield Finding(f"consumers: {right.missing_right_text('it')}", missing=True)
            except RequestFailed as error:
                yield Finding(f"consumers: not checked: {error}", severity=WARNING)

    def _credentials(self, boot_source: BootSourceState) -> Iterator[Finding]:
        """To poll, CDI also reads them in its own namespace, and does not report missing ones."""
        options = boot_source.options
        if options.get("secret_ref") and options.get("pull_method") == "node":
            text = "CDI pulls by the node without secret_ref; add it to imagePullSecrets of CDI's configuration"
            yield Finding(text, severity=WARNING)
        for kind, option in _REFERENCES:
            name = options.get(option)
            if not name:
                continue
            own = [self._cdi.namespace] if boot_source.polls else []
            for namespace in dict.fromkeys([options["namespace"], *own]):
                if not namespace:
                    text = f"CDI needs the {kind.kind} {name} in its own namespace, too"
                    yield Finding(f"{option}: {text}; which namespace that is, is not known", severity=WARNING)
                elif value_or_default(partial(self._session.get, kind, namespace, name), {}) is None:
                    yield Finding(f"{option}: there is no {kind.kind} {namespace}/{name}", missing=True)

    def _storage(self, boot_source: BootSourceState) -> Iterator[Finding]:
        name, classes = boot_source.options.get("storage_class") or "", self._cdi.classes
        if classes is None:
            return
        if name and name not in classes:
            # CDI waits for the class and does not report it in the status of the volume.
            yield Finding(f"storage_class: there is no StorageClass {name}", missing=True)
        gates = self._cdi.config.get("featureGates")
        problem = preflight.binding_problem(boot_source.options, classes.get(name), gates)
        if problem and not boot_source.polls and not self._is_filled(boot_source):
            yield Finding(problem)

    def _proxy(self, boot_source: BootSourceState) -> Iterator[Finding]:
        try:
            url = proxy_url(self._session, boot_source.options)
            problem = upload_proxy.unreachable(proxy_connections(boot_source.options), url)
        except RequestFailed:
            return
        except OSError as error:
            problem = f"upload_proxy.ca_cert: {error}"
        except UploadFailed as error:
            problem = str(error)
        if problem:
            yield Finding(problem)
