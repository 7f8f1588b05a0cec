"""VirtualMachineTemplates (template.kubevirt.io/v1beta1), and what virtctl reads of OpenShift's Templates.

Type → field → type expression, or a tuple (type expression, notes): see `schema` and `release_schema`.
"""

from __future__ import annotations

from typing import Any

TYPES: dict[str, dict[str, Any]] = {
    "VirtualMachineTemplate": {
        "kind": "string",
        "apiVersion": "string",
        "metadata": "ObjectMeta",
        "spec": "VirtualMachineTemplateSpec!",
        "status": "any",
    },
    "VirtualMachineTemplateSpec": {
        "virtualMachine": "any!",
        "parameters": "[]Parameter",
        "message": "string",
    },
    "Parameter": {
        "name": "string!",
        "displayName": "string",
        "description": "string",
        "value": "string",
        "generate": "string",
        "from": "string",
        "required": "bool",
    },
    "Template": {
        "kind": "string",
        "apiVersion": "string",
        "metadata": "ObjectMeta",
        "message": "string",
        "objects": "[]any",
        "parameters": "[]Parameter",
        "labels": "map[string]string",
    },
}
