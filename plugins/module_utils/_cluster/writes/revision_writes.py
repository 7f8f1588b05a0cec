"""Makes virt-controller capture other revisions of VMs, and applies these to their guests."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from ..._resolver.api.kinds import KINDS
from ..._resolver.api.managed_fields import leaf_fields
from ..._resolver.api.manifest import Manifest, Progress
from ..._resolver.api.matcher import MatcherField
from ..._resolver.api.write import merge_patch
from ..._resolver.api.writers import REVERTED, beside
from ..._resolver.refresh import recapture
from ..._resolver.refresh.controller_revisions import is_captured
from ..._resolver.refresh.revision_change import RevisionChange
from ..client.errors import ApiError, ConnectionFailed, RequestFailed
from ..client.session import FIELD_MANAGER, Session
from ..reads.revisions import InspectedVM
from ..reads.watch import state_until, wait_in_namespaces
from .engine import WriteSettings, run_dry, run_writes, send
from .restarts import RevisionRestarts, bump_generation
from .revision_outcome import RevisionOutcome, is_terminating

_VM = KINDS["VirtualMachine"]
_STATUS: Final = "status"
_KIND: Final = "kind"
# virt-controller's cache of instancetypes is less than a second behind.
_TRIES: Final = 4
_LAG: Final = 1.0
_CAPTURE: Final = "KubeVirt to capture the revision"


def change(
    session: Session,
    inspected: list[InspectedVM],
    decide: Callable[[InspectedVM], RevisionChange],
    restart: str,
    settings: WriteSettings,
) -> list[RevisionOutcome]:
    """Gives VMs the revisions that `decide` chooses.

    restart: `never`, `if_required` or `always`. Guests are restarted once all VMs have their revisions. If an earlier
    run changed a VM but was interrupted before the restart, this run restarts it.

    A VM whose change KubeVirt would reject is left unchanged and fails. One that is being deleted is left unchanged:
    KubeVirt captures nothing for it any more.
    """
    results = [_planned(vm, RevisionChange() if is_terminating(vm) else decide(vm), restart) for vm in inspected]
    due = [result for result in results if result.change.due and result.due]
    if settings.check_mode:
        if settings.server_dry_run:
            RevisionWriter(session.dry_run_session(), settings).dry_run(due)
        return results
    RevisionWriter(session, settings).run(due)
    for result in results:
        result.restart = result.restart and result.failed is None
    RevisionRestarts(session, settings).run(results)
    return results


def _planned(before: InspectedVM, decided: RevisionChange, restart: str) -> RevisionOutcome:
    result = RevisionOutcome(before, decided, vm=before.vm)
    if decided.refusal is not None:
        result.failed = f"{decided.refusal}; nothing was changed"
        return result
    result.plan_restart(restart)
    fields = leaf_fields({"spec": decided.spec}) if decided.spec else {}
    if found := beside(before.vm, fields, FIELD_MANAGER):
        result.warn(found.text(REVERTED))
    return result


def _patch(session: Session, before: InspectedVM, body: Manifest, part: str | None = None) -> None:
    """Sends a merge patch. The fields that it sets do not conflict with a play that declares the VM."""
    path = _VM.path(before.namespace, before.name, part)
    send(session, merge_patch(path, body, fieldManager=session.field_manager))


class RevisionWriter:
    """The writes of one task, and the waits for their effect. Failures go into the results."""

    def __init__(self, session: Session, settings: WriteSettings) -> None:
        self._session = session
        self._settings = settings
        self._deadline = time.monotonic() + settings.wait_timeout
        self._methods: dict[str, str] = {}

    def run(self, results: list[RevisionOutcome]) -> None:
        """Gives the VMs the decided revisions.

        If KubeVirt could not start a VM with them, the VM gets its previous revisions back and fails.
        """
        self._choose_methods(results)
        self._each(results, self._write)
        self._await([result for result in _not_failed(results) if result.method != _KIND], _captured)
        self._restore_kinds([result for result in _not_failed(results) if result.method == _KIND])
        self._repeat_stale(_not_failed(results))
        self._each(
            [result for result in _not_failed(results) if result.change.afterwards],
            lambda result: _patch(self._session, result.before, result.change.afterwards or {}),
        )
        self._each([result for result in _not_failed(results) if not result.change.expected], self._check_start)
        self._await([result for result in results if result.rolled_back], _is_rolled_back)
        self._each(
            [result for result in results if result.rolled_back and result.pins_to_remove],
            lambda result: _patch(self._session, result.before, recapture.unpin_patch(result.pins_to_remove)),
        )
        for result in results:
            if (vm := result.vm) is not None and not result.rolled_back:
                matcher_fields = [
                    matcher_field for matcher_field in result.change.matcher_fields if matcher_field.matcher_of(vm)
                ]
                result.revisions = {
                    matcher_field.matcher: recapture.captured_name(vm, matcher_field)
                    for matcher_field in matcher_fields
                }

    def dry_run(self, results: list[RevisionOutcome]) -> None:
        """Sends the first writes as dry runs. A refusal is a failure; an unknown outcome is a warning.

        The session of the RevisionWriter must send dry runs.
        """

        def dry_run(result: RevisionOutcome) -> None:
            run_dry(result, self._write)
            result.written = False

        self._choose_methods(results)
        self._each(results, dry_run)

    def _each(self, results: list[RevisionOutcome], work: Callable[[RevisionOutcome], None]) -> None:
        run_writes(results, work, self._settings)

    def _choose_methods(self, results: list[RevisionOutcome]) -> None:
        for result in results:
            if result.change.recapture and result.before.namespace not in self._methods:
                self._methods[result.before.namespace] = self._method(result)

    def _method(self, result: RevisionOutcome) -> str:
        """`status` if the task may patch the status: that leaves the spec unchanged and needs only one capture."""
        try:
            patch = recapture.recapture_patch(_recaptured_fields(result))
            _patch(self._session.dry_run_session(), result.before, patch, _STATUS)
        except ApiError as error:
            if error.code == 403:
                result.status_denied = error.message
                return _KIND
        except ConnectionFailed:
            # The write reports the error.
            pass
        return _STATUS

    def _write(self, result: RevisionOutcome) -> None:
        before, decided = result.before, result.change
        if decided.spec is not None:
            _patch(self._session, before, {"spec": decided.spec})
            result.written = True
        if not decided.recapture:
            return
        result.method = self._methods[before.namespace]
        if result.method == _STATUS and recapture.must_bump_generation(before.vm, before.revisions):
            self._bump(result)
        self._recapture(result, before.vm)

    def _bump(self, result: RevisionOutcome) -> None:
        try:
            result.bumps_generation = (
                bump_generation(self._session, result.before.vm, result) and result.bumps_generation
            )
        except ApiError as error:
            # KubeVirt rejects a VM without its revision until it has captured one. The task checks again before a
            # restart.
            if error.code != 422:
                raise

    def _recapture(self, result: RevisionOutcome, vm: Manifest) -> None:
        """Makes virt-controller capture the revisions again."""
        if result.method == _STATUS:
            try:
                _patch(self._session, result.before, recapture.recapture_patch(_recaptured_fields(result)), _STATUS)
                result.written = True
                return
            except ApiError as error:
                if error.code != 403:
                    raise
                result.method, result.status_denied = _KIND, error.message
        result.kind_patches = recapture.kind_alias_patches(vm, _recaptured_fields(result))
        try:
            _patch(self._session, result.before, result.kind_patches.respell)
        except ApiError as error:
            if error.code == 403 and result.status_denied:
                # Either permission suffices; the error names only the last one, so add the other.
                error.message += (
                    f". Permission to patch virtualmachines/status would suffice too ({result.status_denied})"
                )
            raise
        result.written = True

    def _restore_kinds(self, results: list[RevisionOutcome]) -> None:
        """Gives the matchers their previous kind, whether or not virt-controller captured in time."""
        if not results:
            return
        self._await(results, _captured)

        def restore(result: RevisionOutcome) -> None:
            vm, matcher_fields = result.vm, _recaptured_fields(result)
            if result.kind_patches is None or (
                vm is not None and not all(matcher_field.matcher_of(vm) for matcher_field in matcher_fields)
            ):
                return
            try:
                _patch(self._session, result.before, result.kind_patches.restore)
            except ApiError as error:
                if error.code != 422:
                    raise
                self._roll_back(result, error)

        self._each(results, restore)
        self._await(_not_failed(results), _captured)

    def _repeat_stale(self, results: list[RevisionOutcome]) -> None:
        """Captures again if virt-controller captured an older generation than the current one."""
        for attempt in range(_TRIES):
            stale = [result for result in _not_failed(results) if result.change.recapture and _stale(result)]
            if not stale:
                return
            if attempt == _TRIES - 1:
                break
            time.sleep(_LAG)
            self._each(stale, lambda result: self._recapture(result, result.vm or result.before.vm))
            self._await([result for result in _not_failed(stale) if result.method != _KIND], _captured)
            self._restore_kinds([result for result in _not_failed(stale) if result.method == _KIND])
        for result in stale:
            result.failed = (
                "KubeVirt keeps capturing an older generation than the current one; run the task again later"
            )

    def _check_start(self, result: RevisionOutcome) -> None:
        """Checks by a dry run that KubeVirt still accepts the VM; if not, its next start would fail."""
        try:
            _patch(self._session.dry_run_session(), result.before, recapture.DRY_RUN_PATCH)
        except ApiError as error:
            if error.code == 422:
                self._roll_back(result, error)
            elif error.code != 403:
                raise

    def _roll_back(self, result: RevisionOutcome, refusal: ApiError) -> None:
        result.failed = f"KubeVirt could not start the VM after the change: {refusal}"
        former = recapture.state_before(
            result.before.vm, result.before.drift, result.change.matcher_fields, result.change.spec
        )
        if former is None:
            result.failed += "; the VM has lost its previous revisions, so the task could not restore them"
            return
        try:
            _patch(self._session, result.before, recapture.rollback_patch(former))
        except RequestFailed as error:
            result.failed += f"; restoring the previous revisions failed: {error}"
            return
        result.rolled_back = True
        result.pins_to_remove = recapture.pins_to_remove(result.before.vm, former)
        result.failed += "; the task restored the previous revisions"

    def _await(self, results: list[RevisionOutcome], done: Callable[[Manifest, RevisionOutcome], bool]) -> None:
        """Waits with one watch for each namespace."""

        def probe(result: RevisionOutcome) -> Callable[[Manifest | None], Progress]:
            return lambda live: state_until(lambda vm: done(vm, result), live, _CAPTURE)

        members = {(result.before.namespace, result.before.name): result for result in results}
        probes = {key: probe(result) for key, result in members.items()}
        seconds = max(0.0, self._deadline - time.monotonic())
        for key, waited in wait_in_namespaces(self._session, _VM, probes, seconds).items():
            result = members[key]
            result.vm = waited.object or result.vm
            if waited.failure is not None or waited.object is None:
                result.failed = result.failed or waited.failure or "the VM no longer exists"


def _not_failed(results: list[RevisionOutcome]) -> list[RevisionOutcome]:
    return [result for result in results if result.failed is None]


def _recaptured_fields(result: RevisionOutcome) -> list[MatcherField]:
    """Those whose references are cleared. Up to KubeVirt 1.4 the patch of the spec clears a name in the spec."""
    return [
        matcher_field
        for matcher_field in result.change.matcher_fields
        if matcher_field.matcher not in (result.change.spec or {})
    ]


def _stale(result: RevisionOutcome) -> bool:
    return bool(recapture.stale_fields(result.vm or {}, result.before.drift, _recaptured_fields(result)))


def _captured(live: Manifest, result: RevisionOutcome) -> bool:
    expected = result.change.expected or {}
    for matcher_field in result.change.matcher_fields:
        name = recapture.captured_name(live, matcher_field)
        if not matcher_field.matcher_of(live):
            continue  # the cluster's reference policy has expanded the VM
        if (
            name != expected[matcher_field.matcher]
            if matcher_field.matcher in expected
            else not is_captured(live, matcher_field)
        ):
            return False
    return True


def _is_rolled_back(live: Manifest, result: RevisionOutcome) -> bool:
    return all(
        matcher_field not in result.change.matcher_fields
        or recapture.captured_name(live, matcher_field) == part.revision
        for matcher_field, part in result.before.drift.parts.items()
    )
