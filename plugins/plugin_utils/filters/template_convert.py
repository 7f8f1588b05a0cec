"""The filter template_convert."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._resolver.kubevirt.template.openshift import ConversionError, convert
from ...module_utils._resolver.kubevirt.template.process import review
from .. import _template_filters as shared

NAME = "template_convert"


def template_convert(value: Any) -> dict[str, Any]:
    """See its documentation."""
    source = shared.manifest(NAME, value, "Template")
    try:
        template = convert(source, object_labels=True)
    except ConversionError as error:
        raise AnsibleFilterError(f"{NAME}: {shared.label(source)}: {error}") from error
    shared.accepted(NAME, template, review(template))
    return template
