_POLICY = {"kind": "string", "apiVersion": "string", "metadata": "ObjectMeta", "spec": "any!"}

TYPES = {
    "ObjectMeta": {
        "name": "string",
        "generateName": "string",
        "namespace": "string",
        "selfLink": "string",
        "uid": "string",
        "resourceVersion": "string",
        "generation": "int64",
        "creationTimestamp": "*Time",
        "deletionTimestamp": "*Time",
        "deletionGracePeriodSeconds": "*int64",
        "labels": "map[string]string",
        "annotations": "map[string]string",
        "ownerReferences": "[]OwnerReference",
        "finalizers": "[]string",
        "managedFields": "[]ManagedFieldsEntry",
    },
    "OwnerReference": {
        "apiVersion": "string!",
        "kind": "string!",
        "name": "string!",
        "uid": "string!",
        "controller": "*bool",
        "blockOwnerDeletion": "*bool",
    },
    "ManagedFieldsEntry": {
        "manager": "string",
        "operation": "string",
        "apiVersion": "string",
        "time": "*Time",
        "fieldsType": "string",
        "fieldsV1": "any",
        "subresource": "string",
    },
    "Affinity": {
        "nodeAffinity": "*NodeAffinity",
        "podAffinity": "*PodAffinity",
        "podAntiAffinity": "*PodAntiAffinity",
    },
    "NodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": "*NodeSelector",
        "preferredDuringSchedulingIgnoredDuringExecution": "[]PreferredSchedulingTerm",
    },
    "NodeSelector": {
        "nodeSelectorTerms": "[]NodeSelectorTerm!",
    },
    "NodeSelectorTerm": {
        "matchExpressions": "[]NodeSelectorRequirement",
        "matchFields": "[]NodeSelectorRequirement",
    },
    "NodeSelectorRequirement": {
        "key": "string!",
        "operator": "string!",
        "values": "[]string",
    },
    "PreferredSchedulingTerm": {
        "weight": "int32!",
        "preference": "NodeSelectorTerm!",
    },
    "PodAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": "[]PodAffinityTerm",
        "preferredDuringSchedulingIgnoredDuringExecution": "[]WeightedPodAffinityTerm",
    },
    "PodAffinityTerm": {
        "labelSelector": "*LabelSelector",
        "namespaces": "[]string",
        "topologyKey": "string!",
        "namespaceSelector": "*LabelSelector",
        "matchLabelKeys": "[]string",
        "mismatchLabelKeys": "[]string",
    },
    "LabelSelector": {
        "matchLabels": "map[string]string",
        "matchExpressions": "[]LabelSelectorRequirement",
    },
    "LabelSelectorRequirement": {
        "key": "string!",
        "operator": "string!",
        "values": "[]string",
    },
    "WeightedPodAffinityTerm": {
        "weight": "int32!",
        "podAffinityTerm": "PodAffinityTerm!",
    },
    "PodAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": "[]PodAffinityTerm",
        "preferredDuringSchedulingIgnoredDuringExecution": "[]WeightedPodAffinityTerm",
    },
    "Toleration": {
        "key": "string",
        "operator": "string",
        "value": "string",
        "effect": "string",
        "tolerationSeconds": "*int64",
    },
    "TopologySpreadConstraint": {
        "maxSkew": "int32!",
        "topologyKey": "string!",
        "whenUnsatisfiable": "string!",
        "labelSelector": "*LabelSelector",
        "minDomains": "*int32",
        "nodeAffinityPolicy": "*string",
        "nodeTaintsPolicy": "*string",
        "matchLabelKeys": "[]string",
    },
    "LocalObjectReference": {
        "name": "string",
    },
    "CorePersistentVolumeClaimVolumeSource": {
        "claimName": "string!",
        "readOnly": "bool",
    },
    "DownwardAPIVolumeFile": {
        "path": "string!",
        "fieldRef": "*ObjectFieldSelector",
        "resourceFieldRef": "*ResourceFieldSelector",
        "mode": "*int32",
    },
    "ObjectFieldSelector": {
        "apiVersion": "string",
        "fieldPath": "string!",
    },
    "ResourceFieldSelector": {
        "containerName": "string",
        "resource": "string!",
        "divisor": "Quantity",
    },
    "ExecAction": {
        "command": "[]string",
    },
    "HTTPGetAction": {
        "path": "string",
        "port": "IntOrString!",
        "host": "string",
        "scheme": "string",
        "httpHeaders": "[]HTTPHeader",
    },
    "HTTPHeader": {
        "name": "string!",
        "value": "string!",
    },
    "TCPSocketAction": {
        "port": "IntOrString!",
        "host": "string",
    },
    "PodDNSConfig": {
        "nameservers": "[]string",
        "searches": "[]string",
        "options": "[]PodDNSConfigOption",
    },
    "PodDNSConfigOption": {
        "name": "string",
        "value": "*string",
    },
    "PersistentVolumeClaimSpec": {
        "accessModes": "[]string",
        "selector": "*LabelSelector",
        "resources": "VolumeResourceRequirements",
        "volumeName": "string",
        "storageClassName": "*string",
        "volumeMode": "*string",
        "dataSource": "*TypedLocalObjectReference",
        "dataSourceRef": "*TypedObjectReference",
        "volumeAttributesClassName": "*string",
    },
    "VolumeResourceRequirements": {
        "limits": "map[string]Quantity",
        "requests": "map[string]Quantity",
    },
    "TypedLocalObjectReference": {
        "apiGroup": "*string!",
        "kind": "string!",
        "name": "string!",
    },
    "TypedObjectReference": {
        "apiGroup": "*string!",
        "kind": "string!",
        "name": "string!",
        "namespace": "*string",
    },
    # Admission policies are compared as whole lists.
    "ValidatingAdmissionPolicy": _POLICY,
    "ValidatingAdmissionPolicyBinding": _POLICY,
}
