"""The functions of ``_resolver`` for the ops of the vectors: one function per op, input to the form of `expect`."""

import re
from collections.abc import Iterator
from typing import Any, Callable

import capture
import checkout  # noqa: F401  # pylint: disable=unused-import

from _resolver.api import behaviour, errors, quantity, release_schema
from _resolver.api.errors import KubeVirtError, Panic
from _resolver.api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, PREFERENCE
from _resolver.api.release import NEWEST, Release
from _resolver.kubevirt.admission import mutate, validate
from _resolver.kubevirt.admission import response as admission
from _resolver.kubevirt.cluster import DEFAULT_ARCHITECTURE, Cluster, KubeVirt
from _resolver.kubevirt.instancetype import (
    applier,
    conflict,
    decode,
    infer,
    lookup,
    requirements,
    revision_names,
    revision_store,
    topology,
)
from _resolver.kubevirt.vm import expand, vmi
from _resolver.kubevirt.vm.migrate_revisions import Action, Create, Delete, migrate

Json = dict[str, Any]

VM = "VirtualMachine"
_INDEX = re.compile(r"\[\d+\]")


def _panic(reason: str) -> Json:
    return {"panic": True, "panicText": reason}


def _error(error: KubeVirtError) -> Json:
    return _panic(error.message) if isinstance(error, Panic) else {"error": error.message}


def _objects(given: Json) -> lookup.Objects:
    return lookup.Objects(given.get("objects", ()))


def _cluster(given: Json, version: Release = NEWEST) -> Cluster:
    architecture = given.get("arch") or DEFAULT_ARCHITECTURE
    return Cluster(_objects(given), KubeVirt(version, given.get("config") or {}, architecture))


def _specs(given: Json, version: Release) -> tuple[Json | None, Json | None]:
    instancetype, preference = (
        None
        if given[matcher_field.name] is None
        else release_schema.canonical(matcher_field.spec_type, given[matcher_field.name], version)
        for matcher_field in MATCHER_FIELDS
    )
    return instancetype, preference


def _quantity(given: Json) -> Json:
    try:
        parsed = quantity.parse(given["quantity"])
    except errors.QuantityError as error:
        return {"error": str(error)}
    return {"canonical": parsed.text, "value": parsed.value, "format": parsed.format}


def _apply(given: Json, version: Release = NEWEST) -> Json:
    template = given["vm"]["spec"].get("template") or {}
    try:
        return applier.apply(template, given["instancetype"], given["preference"], version)
    except conflict.ConflictError as error:
        return {"conflicts": conflict.paths(error.conflicts), "error": error.message}
    except Panic as panic:
        return _panic(panic.message)


def _requirements(given: Json, version: Release = NEWEST) -> Json:
    spec = release_schema.canonical("VirtualMachineInstanceSpec", given["vmiSpec"], version)
    try:
        requirements.check(*_specs(given, version), spec, version)
    except requirements.UnmetRequirement as error:
        return {"ok": False, "conflicts": list(error.fields), "error": error.message}
    except Panic as panic:
        return _panic(panic.message)
    return {"ok": True}


def _spread(given: Json, version: Release = NEWEST) -> Json:
    try:
        topology.check_spread(*_specs(given, version))
    except topology.SpreadError as error:
        return {"ok": False, "field": error.field, "error": error.message}
    except Panic as panic:
        return _panic(panic.message)
    return {"ok": True}


def _expand(given: Json, version: Release = NEWEST) -> Json:
    try:
        return {"vm": expand.expand(given["vm"], _cluster(given, version))}
    except KubeVirtError as error:
        return _error(error)


def _vmi(given: Json) -> Json:
    try:
        return vmi.build(given["vm"], _cluster(given))._asdict()
    except KubeVirtError as error:
        return _error(error)


def _infer(given: Json) -> Json:
    try:
        inferred = infer.infer(given["vm"], _objects(given))
    except KubeVirtError as error:
        return {**_error(error), "ignorable": isinstance(error, infer.MissingLabels)}
    spec = inferred["spec"]
    return {"instancetype": spec.get("instancetype"), "preference": spec.get("preference"), "vm": inferred}


def _mutate(given: Json) -> Json:
    try:
        return {"vm": mutate.mutate(given["vm"], _objects(given), given.get("oldVM"), given.get("operation", "CREATE"))}
    except admission.Refused as error:
        return _panic(error.message) if error.code == 500 else error.response.as_json()


def _validate(given: Json) -> Json:
    if given.get("operation", "CREATE") not in ("CREATE", "UPDATE"):
        return admission.allowed().as_json()
    response = _vm_response(given) if given["kind"] == VM else validate.validate(given["kind"], given["object"])
    return _panic(response.message) if response.code == 500 else response.as_json()


def _vm_response(given: Json) -> admission.Response:
    try:
        vm = release_schema.canonical(VM, given["object"])
    except errors.FieldError as error:
        return admission.bad_request(errors.go_reason(error))
    return validate.virtual_machine(vm, _cluster(given))


def _matrix(given: Json) -> Json:
    answer = _validate(given)
    if answer.get("allowed", False):
        return {"ok": True}
    fields = [cause["field"] for cause in answer.get("causes", ())]
    return {"ok": False, "stage": answer.get("stage"), "field": ", ".join(fields), "message": answer.get("message")}


def _revision(given: Json, version: Release = NEWEST) -> Json:
    return {"revision": revision_store.controller_revision(given["vm"], given["object"], version)}


def _revision_name(given: Json, _version: Release = NEWEST) -> Json:
    name = revision_names.name(*(given[key] for key in ("vmName", "resourceName", "resourceUID", "generation")))
    # Only the current version is written.
    return {"name": name.replace(f"-{revision_names.VERSION}", f"-{given['resourceVersion']}")}


def _compare(given: Json) -> Json:
    try:
        return {"equal": capture.same_content(given["revision"], given["revisionB"], NEWEST)}
    except KubeVirtError as error:
        return _error(error)


def _decode(given: Json) -> Json:
    result: Json = {"isLatest": revision_names.is_latest(given["revision"])}
    for matcher_field in (INSTANCETYPE, PREFERENCE):
        try:
            result[f"{matcher_field.name}Spec"] = decode.spec(given["revision"], matcher_field)
        except KubeVirtError as error:
            result[f"{matcher_field.name}Error"] = error.message
    return result


def _decode_as(given: Json, version: Release) -> Json:
    """The lookup of a VM that refers to the revision as one of the two."""
    matcher_field = INSTANCETYPE if given["role"] == INSTANCETYPE.name else PREFERENCE
    try:
        spec = decode.spec(given["revision"], matcher_field, version)
    except KubeVirtError as error:
        return {"error": error.message}
    held = decode.decode(given["revision"], version)
    assert held is not None
    return {"kind": held["kind"], "spec": revision_store.as_written(spec)}


def _writes(given: Json, writes: Iterator[Action], version: Release = NEWEST, matchers: bool = False) -> Json:
    """The writes up to the one that fails, and the references in the VM's status afterwards, if the release has them.

    matchers: with the matchers in the VM's spec.
    """
    done: list[Action] = []
    failure: Json = {}
    try:
        done.extend(writes)
    except KubeVirtError as error:
        failure = _error(error)
    # The vectors have the writes of revisions first, whatever their real order.
    result = {"actions": sorted(map(_action, done), key=lambda action: action["resource"]), **failure}
    if failure:
        return result
    vm = _patched(given, done, version)
    for matcher_field in MATCHER_FIELDS:
        if version.has(behaviour.CAPTURES_IN_STATUS):
            result[matcher_field.reference] = vm["status"].get(matcher_field.reference)
        if matchers:
            result[matcher_field.name] = vm["spec"].get(matcher_field.name)
    return result


def _action(action: Action) -> Json:
    revisions = {"namespace": action.namespace, "resource": "controllerrevisions"}
    if isinstance(action, Create):
        return {**revisions, "verb": "create", "object": action.manifest}
    if isinstance(action, Delete):
        return {**revisions, "verb": "delete", "name": action.name}
    vms = {"namespace": action.namespace, "resource": "virtualmachines", "subresource": action.subresource}
    return {**vms, "verb": "patch", "name": action.name, "patch": action.patch}


def _patched(given: Json, actions: list[Action], version: Release) -> Json:
    """The VM after the writes; their patches name fields of objects only."""
    vm = release_schema.canonical(VM, given["vm"], version)
    for action in actions:
        for line in () if isinstance(action, (Create, Delete)) else action.patch:
            *parents, field = line["path"].strip("/").split("/")
            target = vm
            for parent in parents:
                target = target[parent]
            if line["op"] == "test":
                assert target.get(field) == line["value"]
            else:
                target[field] = line["value"]
    return vm


def _store(given: Json) -> Json:
    return _writes(given, capture.capture(given["vm"], _objects(given), NEWEST))


def _upgrade(given: Json) -> Json:
    return _writes(given, migrate(given["vm"], _objects(given)))


def _release_store(given: Json, version: Release) -> Json:
    return _writes(given, capture.capture(given["vm"], _objects(given), version), version, matchers=True)


def _release_upgrade(given: Json, version: Release) -> Json:
    return _writes(given, migrate(given["vm"], _objects(given), version), version, matchers=True)


def _release_expand(given: Json, version: Release) -> Json:
    """Before 1.5 KubeVirt's error is text alone."""
    result = _expand(given, version)
    if not version.has("1.5"):
        result.pop("conflicts", None)
    return result


def ignored(op: str, given: Json, version: Release) -> Iterator[str]:
    """The fields of an op's input that a release does not know, as the vectors name them."""
    parts = [
        (matcher_field.name, matcher_field.spec_type, given.get(matcher_field.name)) for matcher_field in MATCHER_FIELDS
    ]
    parts += [
        ("vm", VM, given.get("vm")),
        ("vmiSpec", "VirtualMachineInstanceSpec", given.get("vmiSpec")),
    ]
    parts += [
        (f"object {manifest['kind']}", MATCHER_FIELD_OF_KIND[manifest["kind"]].kind, manifest)
        for manifest in given.get("objects", ())
        if manifest["kind"] in MATCHER_FIELD_OF_KIND
    ]
    for label, type_name, value in parts:
        for field in release_schema.unknown(type_name, value, version):
            yield f"{label}: {_INDEX.sub('[]', field.path)}"


OPS: dict[str, Callable[[Json], Any]] = {
    "apply": _apply,
    "compare": _compare,
    "decode": _decode,
    "expand": _expand,
    "infer": _infer,
    "matrix": _matrix,
    "mutate": _mutate,
    "quantity": _quantity,
    "requirements": _requirements,
    "revision": _revision,
    "revision-name": _revision_name,
    "spread": _spread,
    "store": _store,
    "upgrade": _upgrade,
    "validate": _validate,
    "vmi": _vmi,
}

# The ops of the vectors of older releases.
RELEASE_OPS: dict[str, Callable[[Json, Release], Any]] = {
    "apply": _apply,
    "decode": _decode_as,
    "expand": _release_expand,
    "requirements": _requirements,
    "revision": _revision,
    "revision-name": _revision_name,
    "spread": _spread,
    "store": _release_store,
    "upgrade": _release_upgrade,
}
