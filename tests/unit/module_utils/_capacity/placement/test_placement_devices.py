"""Claims of devices: what they need, what nodes offer, and where the answer is unknown."""

from typing import Any

import pytest
from placement_samples import node_of, pod_of

from plugins.module_utils._capacity.placement.batch import Batch
from plugins.module_utils._capacity.placement.devices import (
    Allocator,
    DeviceObjects,
    allocated_devices,
    demand,
    matches_selectors,
)
from plugins.module_utils._capacity.placement.objects import Demand
from plugins.module_utils._capacity.placement.reasons import problem
from plugins.module_utils._capacity.placement.state import ClusterState

GPU = "gpu.example.com"
DRIVER = f'device.driver == "{GPU}"'
Manifest = dict[str, Any]


def kind(name: str, *expressions: str) -> Manifest:
    return {
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}} for expression in expressions]},
    }


def exactly(name: str = "gpu", **more: Any) -> Manifest:
    return {"name": "r", "exactly": {"deviceClassName": name, **more}}


def claim(*requests: Manifest, name: str = "c", **more: Any) -> Manifest:
    devices = {"requests": list(requests) or [exactly()]}
    return {"metadata": {"name": name, "namespace": "shop"}, "spec": {"devices": devices}, **more}


def slice_of(*devices: Manifest, pool: str = "p", generation: int = 1, driver: str = GPU, **place: Any) -> Manifest:
    named = {"driver": driver, "pool": {"name": pool, "generation": generation}}
    return {"spec": {**named, "devices": list(devices), **(place or {"nodeName": "a"})}}


def device(name: str = "d", **more: Any) -> Manifest:
    return {"name": name, **more}


def device_objects_of(*claims: Manifest, slices: Any = (), templates: Any = ()) -> DeviceObjects:
    classes = [kind("gpu", DRIVER), kind("any"), kind("odd", "device.driver.startsWith('g')")]
    return DeviceObjects(classes, slices or [slice_of(device())], claims, templates)


def demand_of(*claims: Manifest, **more: Any) -> Demand:
    objects = device_objects_of(*claims, **more)
    demanded = demand([{"resourceClaimName": entry["metadata"]["name"]} for entry in claims], "shop", objects)
    assert demanded is not None
    return demanded


def fits(*claims: Manifest, slices: Any = (), used: Any = ()) -> bool | None:
    objects = device_objects_of(*claims, slices=slices)
    return Allocator(objects.slices, set(used)).fits(node_of("a", {"zone": "1"}), demand_of(*claims, slices=slices))


@pytest.mark.parametrize(
    ("expressions", "expected"),
    [
        ([], True),
        ([" device.driver=='gpu.example.com' "], True),
        ([f"{DRIVER} && device.attributes['{GPU}'].model == 'A100'"], True),
        ([f'{DRIVER}\n&& device.attributes["{GPU}"].model == "T4"'], False),
        ([f'device.attributes["{GPU}"].lanes == -16'], False),
        ([f'device.attributes["{GPU}"].numa == true'], False),
        (['device.attributes["net.example.com"].port == 2'], True),
        # CEL fails, unless another term is false; the selectors before it count.
        (['device.attributes["net.example.com"].model == "A100"'], None),
        ([f'device.attributes["{GPU}"].none == 1 && device.driver == "other"'], False),
        (['device.driver == "other"', f'device.attributes["{GPU}"].none == 1'], False),
        ([f'device.attributes["{GPU}"].none == 1', 'device.driver == "other"'], None),
        ([f'device.attributes["{GPU}"].lanes == "16"'], None),
        ([f'device.attributes["{GPU}"].firmware == "1.0.0"'], None),
        (["device.driver.startsWith('gpu')"], None),
        (["!(device.driver == 'x')"], None),
        (['device.driver == "a\\nb"'], None),
    ],
)
def test_selectors_match_driver_and_attributes(expressions: list[str], expected: bool | None) -> None:
    attributes = {
        "model": {"string": "A100"},
        "lanes": {"int": 16},
        "numa": {"bool": False},
        "firmware": {"version": "1.0.0"},
        "net.example.com/port": {"int": 2},
    }
    assert matches_selectors(expressions, GPU, attributes) is expected


def test_requests_share_the_free_devices() -> None:
    two = slice_of(device("d"), device("e"))
    assert fits(claim(name="c"), claim(name="d"), claim(name="e"), slices=[two]) is False
    # The first request has to leave the only GPU to the second.
    mixed = [slice_of(device("d")), slice_of(device("n"), driver="nic.example.com")]
    assert fits(claim(exactly("any"), exactly()), slices=mixed) is True


def test_devices_that_no_node_selector_places() -> None:
    assert fits(claim(), slices=[slice_of(device(), nodeSelector={"nodeSelectorTerms": []})]) is False
    # A feature gate decides whether places of single devices count.
    single = slice_of(device("d", nodeName="a"), device("e", nodeName="b"), perDeviceNodeSelection=True)
    assert fits(claim(), slices=[single]) is None
    assert fits(claim(exactly(count=2)), slices=[single]) is False


def test_unsupported_features_give_no_answer() -> None:
    assert fits(claim(exactly("odd"))) is None
    assert fits(claim(exactly("odd", count=2))) is False
    assert fits(claim(), slices=[slice_of(device(), device())]) is None
    assert fits(claim(), slices=[slice_of(device(taints=[{"key": "k"}]))]) is None
    assert fits(claim(), slices=[slice_of(device("d"), device("e", consumesCounters=[{}]))]) is True
    for request, doubt in (
        ({"name": "r", "firstAvailable": [{"deviceClassName": "gpu"}]}, "has alternatives"),
        ({"name": "r"}, "has alternatives"),
        (exactly(allocationMode="All"), "by another mode than ExactCount"),
        (exactly(adminAccess=True), "by adminAccess"),
        (exactly(capacity={"requests": {}, "x": 1}), "by capacity"),
    ):
        assert doubt in demand_of(claim(request)).doubt
        assert fits(claim(request)) is None
    bound = claim()
    bound["spec"]["devices"]["constraints"] = [{"matchAttribute": "x/y"}]
    assert demand_of(bound).doubt == "ResourceClaim c has constraints between devices"
    assert fits(bound) is None
    unknown = Demand(doubt="the devices of the cluster are not known")
    assert demand([{"resourceClaimName": "c"}], "shop", None) == unknown


def test_missing_objects_and_too_many_devices() -> None:
    for claims, missing in (
        ([], "its ResourceClaim c does not exist"),
        ([{**claim(), "metadata": {**claim()["metadata"], "deletionTimestamp": "now"}}], "c does not exist"),
        ([claim(exactly("none"))], "its ResourceClaim c names the DeviceClass none, which does not exist"),
        ([claim(exactly(count=33))], "its ResourceClaim c requests more than 32 devices"),
        ([claim(*[exactly(count=17)] * 2)], "more than 32 devices"),
    ):
        demanded = demand([{"resourceClaimName": "c"}], "shop", device_objects_of(*claims))
        assert demanded is not None and missing in demanded.missing
        assert Allocator((), set()).fits(node_of("a"), demanded) is False
    demanded = demand([{"resourceClaimTemplateName": "t"}], "shop", device_objects_of())
    assert demanded is not None and demanded.missing == "its ResourceClaimTemplate t does not exist"
    assert demand([], "shop", device_objects_of()) is None


def test_claims_of_templates_and_allocated_claims() -> None:
    template = {"metadata": {"name": "t", "namespace": "shop"}, "spec": {"spec": claim()["spec"]}}
    demanded = demand([{"resourceClaimTemplateName": "t"}], "shop", device_objects_of(templates=[template]))
    assert demanded is not None and Allocator([slice_of(device())], set()).fits(node_of("a"), demanded) is True
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    for selector, name, expected in (
        ({"nodeSelectorTerms": [term]}, "a", True),
        ({"nodeSelectorTerms": [term]}, "b", False),
        (None, "b", True),
    ):
        allocated = demand_of(claim(status={"allocation": {"nodeSelector": selector}}))
        assert Allocator((), set()).fits(node_of(name), allocated) is expected


def test_fields_of_v1beta1_are_read() -> None:
    flat = claim({"name": "r", "deviceClassName": "model"})
    model = kind("model", f'device.attributes["{GPU}"].model == "A100"')
    objects = DeviceObjects(
        [model], [slice_of({"name": "d", "basic": {"attributes": {"model": {"string": "A100"}}}})], [flat], []
    )
    demanded = demand([{"resourceClaimName": "c"}], "shop", objects)
    assert demanded is not None and Allocator(objects.slices, set()).fits(node_of("a"), demanded) is True


def test_allocated_devices_are_taken() -> None:
    def allocated(**more: Any) -> Manifest:
        return {
            "status": {"allocation": {"devices": {"results": [{"driver": GPU, "pool": "p", "device": "d", **more}]}}}
        }

    own = {**claim(**allocated())}
    own["metadata"] = {**own["metadata"], "ownerReferences": [{"kind": "Pod", "name": "launcher"}]}
    assert allocated_devices([own]) == {(GPU, "p", "d")}
    assert allocated_devices([own], frozenset({("shop", "launcher")})) == set()
    assert allocated_devices([claim(**allocated(adminAccess=True)), claim()]) == set()


def test_pods_take_devices_one_after_the_other() -> None:
    objects = device_objects_of(claim(), slices=[slice_of(device()), slice_of(device(), pool="q", nodeName="b")])
    demanded = demand([{"resourceClaimName": "c"}], "shop", objects)
    nodes = [node_of(name) for name in "abc"]
    batch = Batch(ClusterState(nodes, [], allocator=Allocator(objects.slices, set())))
    pods = [pod_of(name)._replace(devices=demanded) for name in "xyz"]
    assert sorted(filter(lambda number: number is not None, map(batch.place, pods)), key=str) == [0, 1]
    assert problem(batch.state, pods[2]) == "0 of 3 nodes have free devices for its claims"


def test_nodes_share_network_attached_devices() -> None:
    objects = device_objects_of(claim(), slices=[slice_of(device("d"), device("e"), allNodes=True)])
    demanded = demand([{"resourceClaimName": "c"}], "shop", objects)
    batch = Batch(ClusterState([node_of("a"), node_of("b")], [], allocator=Allocator(objects.slices, set())))
    pods = [pod_of(name)._replace(devices=demanded) for name in "xyz"]
    assert [batch.place(pod) is not None for pod in pods] == [True, True, False]
    assert batch.fitting(pods[0]) == []


def test_problem_names_devices_and_doubts() -> None:
    def problem_of(demanded: Demand | None, *slices: Manifest, **requests: str) -> str:
        state = ClusterState([node_of("a"), node_of("b")], [], allocator=Allocator(slices, set()))
        return problem(state, pod_of(requests=requests)._replace(devices=demanded))

    assert problem_of(Demand(missing="it is not there")) == "it is not there"
    assert problem_of(demand_of(claim()), slice_of(device()), cpu="9") == (
        "1 of 2 nodes has free devices for its claims; a lacks 5 of cpu"
    )
    odd = demand_of(claim(exactly("odd")))
    assert problem_of(odd, slice_of(device())) == (
        "0 of 2 nodes have free devices for its claims; of 1 it is not known: only CEL can evaluate the "
        "selectors of the devices"
    )
    unknown = problem_of(demand([{"resourceClaimName": "c"}], "shop", None))
    assert "of 2 it is not known: the devices of the cluster are not known" in unknown
