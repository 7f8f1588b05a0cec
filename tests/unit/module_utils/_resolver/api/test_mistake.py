"""What nobody has foreseen."""

from __future__ import annotations

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import unforeseen


def test_an_error_that_was_never_raised_has_no_place() -> None:
    assert unforeseen(ValueError("secret")).startswith("this is a bug in the collection (ValueError); report")
