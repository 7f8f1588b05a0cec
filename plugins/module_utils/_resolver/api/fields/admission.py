"""Admission policies of Kubernetes (admissionregistration.k8s.io/v1), as far as they are compared: whole lists.

Type → field → type expression, as in the other modules of this package.
"""

from __future__ import annotations

from typing import Any

_OBJECT: dict[str, Any] = {"kind": "string", "apiVersion": "string", "metadata": "ObjectMeta", "spec": "any!"}

TYPES: dict[str, dict[str, Any]] = {
    "ValidatingAdmissionPolicy": _OBJECT,
    "ValidatingAdmissionPolicyBinding": _OBJECT,
}
