"""The options that declare the state of an instancetype or preference, as labels and annotations."""

import datetime
from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.keys import OBSOLETE_FROM_ANNOTATION, REPLACEMENT_ANNOTATION, STATE_LABEL
from plugins.module_utils._resolver.api.state import DEPRECATED_LABEL, State, is_active, state_of
from plugins.module_utils._resolver.declare.state_options import StateMetadata, state_metadata


def labelled(labels: dict[str, Any] | None, annotations: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"metadata": {"labels": labels, "annotations": annotations}}


@pytest.mark.parametrize(
    ("options", "state", "text"),
    [
        ({}, State(), "active"),
        ({"deprecated": {}}, State("deprecated"), "deprecated"),
        (
            {"deprecated": {"replacement": "u1.large", "obsolete_from": "2027-03-31"}},
            State("deprecated", "u1.large", "2027-03-31"),
            "deprecated (obsolete from 2027-03-31); use u1.large",
        ),
        (
            {"deprecated": {"obsolete_from": datetime.date(2027, 3, 31), "replacement": None}},
            State("deprecated", "", "2027-03-31"),
            "deprecated (obsolete from 2027-03-31)",
        ),
        ({"obsolete": {"replacement": "u1.large"}}, State("obsolete", "u1.large"), "obsolete; use u1.large"),
        ({"obsolete": {}, "deprecated": None}, State("obsolete"), "obsolete"),
        ({"deprecated": None}, State(), "active"),
    ],
)
def test_declared_state_is_read_back(options: dict[str, Any], state: State, text: str) -> None:
    declared = state_metadata(options)
    written = [{key: value for key, value in part.items() if value is not None} for part in declared]
    assert state_of(labelled(*written)) == state
    assert state.text == text
    assert is_active(labelled(*written)) == (state.name == "active")
    # Other tools know both states by the label of common-instancetypes.
    assert written[0].get(DEPRECATED_LABEL) == ("true" if state.name != "active" else None)


def test_state_removes_marks_of_an_inherited_state() -> None:
    assert state_metadata({"obsolete": {}}).annotations == {OBSOLETE_FROM_ANNOTATION: None}
    nothing = StateMetadata(
        {DEPRECATED_LABEL: None, STATE_LABEL: None}, {REPLACEMENT_ANNOTATION: None, OBSOLETE_FROM_ANNOTATION: None}
    )
    assert state_metadata({"obsolete": None}) == nothing
    assert state_metadata({}) == StateMetadata({}, {})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deprecated": {}, "obsolete": {}}, "obsolete: the object is also declared deprecated; remove one of the two"),
        (
            {"deprecated": True},
            "deprecated: expected an object, found True; write {replacement: NAME}, or {}",
        ),
        (
            {"obsolete": {"replacment": "a"}},
            "obsolete: unknown key 'replacment'; did you mean replacement?",
        ),
        (
            {"deprecated": {"replacement": 1}},
            "deprecated.replacement: 1 is no name; write the name of the object to use instead",
        ),
        (
            {"deprecated": {"obsolete_from": "31.3.2027"}},
            "deprecated.obsolete_from: '31.3.2027' is not a date; write a day such as 2027-03-31",
        ),
        (
            {"deprecated": {"obsolete_from": "2027-02-30"}},
            "deprecated.obsolete_from: '2027-02-30' is not a date; write a day such as 2027-03-31",
        ),
        (
            {"deprecated": {"obsolete_from": datetime.datetime(2027, 3, 31)}},
            "deprecated.obsolete_from: '2027-03-31T00:00:00' is not a date; write a day such as 2027-03-31",
        ),
    ],
)
def test_invalid_states_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldError) as error:
        state_metadata(options)
    assert str(error.value) == message
