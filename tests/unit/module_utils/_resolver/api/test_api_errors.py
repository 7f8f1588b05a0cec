"""What nobody has foreseen."""

from __future__ import annotations

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import bug_report


def test_bug_report_of_an_error_without_traceback() -> None:
    assert bug_report(ValueError("secret")).startswith("this is a bug in the collection (ValueError); report")
