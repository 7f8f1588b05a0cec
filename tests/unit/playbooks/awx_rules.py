"""The rules of AWX 24.6.1 for a survey, the variables sent to it, and those that a job gets.

Held to recordings of the real one by test_awx_rules.py.
"""

from typing import Any

import yaml

Values = dict[str, Any]


class Refused(Exception):
    """An answer of AWX with status 400."""

    @property
    def answer(self) -> Any:
        return self.args[0]


class _Marked(str):
    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes marked texts as AWX does."""


_Dumper.add_representer(_Marked, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text)))


def extra_vars_file(variables: Values, trusted: Values) -> str:
    """The file of extra variables. All texts, keys too, are marked as unsafe, but not the template's own (trusted)."""
    entries = (
        {name: value} if name in trusted and trusted[name] == value else _marked({name: value})
        for name, value in variables.items()
    )
    return "".join(yaml.dump(entry, Dumper=_Dumper, default_flow_style=False) for entry in entries)


def _marked(value: Any) -> Any:
    if isinstance(value, dict):
        return {_marked(key): _marked(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_marked(entry) for entry in value]
    return _Marked(value) if isinstance(value, str) else value


def launch(spec: list[Values], sent: Values) -> Values:
    """The variables of a job that is launched by the API: the answers among what is sent, and defaults.

    Raises Refused for an answer that is missing or that its question does not take.
    """
    complaints = [words for question in spec for words in _complaints(question, sent)]
    if complaints:
        raise Refused({"variables_needed_to_start": complaints})
    requested = {question["variable"] for question in spec}
    return {**_defaults(spec), **{name: value for name, value in sent.items() if name in requested}}


def schedule(spec: list[Values], extra_data: Values) -> Values:
    """The variables of a scheduled job. Raises Refused, as `launch` does, and for a variable that is no question."""
    result = launch(spec, extra_data)
    strangers = [name for name in extra_data if name not in {question["variable"] for question in spec}]
    if strangers:
        raise Refused(
            {
                "extra_data": [
                    f"Variables {', '.join(strangers)} are not allowed on launch. Check the Prompt on Launch setting "
                    "on the Job Template to include Extra Variables."
                ]
            }
        )
    return result


def _defaults(spec: list[Values]) -> Values:
    """An empty default is one; what its own question refuses is left out."""
    result = {question["variable"]: question["default"] for question in spec if question.get("default") is not None}
    return {
        name: value
        for name, value in result.items()
        if not any(_complaints(item, {name: value}) for item in spec if item["variable"] == name)
    }


def _complaints(question: Values, sent: Values) -> list[str]:
    name = question["variable"]
    if name not in sent:
        return [f"'{name}' value missing"] if question["required"] else []
    value, kind = sent[name], question["type"]
    if kind in ("text", "textarea", "password") and not isinstance(value, str):
        return [f"Value {value} for '{name}' expected to be a string."]
    if kind == "integer" and (isinstance(value, bool) or not isinstance(value, int)):
        return [f"Value {value} for '{name}' expected to be an integer."]
    if kind == "float" and (isinstance(value, bool) or not isinstance(value, (int, float))):
        return [f"Value {value} for '{name}' expected to be a numeric type."]
    if kind == "multiselect" and not isinstance(value, list):
        return [f"'{name}' value is expected to be a list."]
    chosen = value if kind == "multiselect" else [value] if kind == "multiplechoice" else []
    wrong = [entry for entry in chosen if entry not in question["choices"]]
    return [f"Value {entry} for '{name}' expected to be one of {question['choices']}." for entry in wrong]
