"""The message of a failed task has each reason once, and the results have the rest."""

from typing import Any

from plugins.module_utils._cluster.modules.results import failed_result


def failed(*reasons: str, every: bool = False, unchanged: int = 0) -> dict[str, Any]:
    entries = [{"name": f"vm-{i}", "failed": True, "msg": reason, "status": "?"} for i, reason in enumerate(reasons)]
    rest = [{"name": "other", "failed": False} for _number in range(unchanged)]
    result = {"results": [*entries, *rest], **({"result": entries[0]} if len(entries) == 1 else {})}
    params = {"results_on_failure": "all" if every else "failed"}
    return failed_result(params, "virtual machines", result)


def test_single_object_reports_its_reason_only_once() -> None:
    result = failed("no room")
    assert result["msg"] == "vm-0: no room"
    assert result["result"] == {"name": "vm-0", "failed": True} == result["results"][0]
    assert str(result).count("no room") == 1


def test_objects_with_the_same_reason_are_named_together() -> None:
    result = failed(*["no room"] * 25, "no such disk", unchanged=4)
    assert result["msg"] == (
        "26 of 30 virtual machines failed: vm-0, vm-1, vm-2, vm-3, vm-4 and 20 more: no room; vm-25: no such disk"
    )
    assert len(result["results"]) == 26
    assert str(result).count("no room") == 1


def test_results_have_reasons_missing_from_the_message() -> None:
    long = "x" * 500
    result = failed(long, *(f"reason {number}" for number in range(7)))
    assert result["msg"].endswith("; and 3 more, see results")
    assert [entry["msg"] for entry in result["results"] if "msg" in entry] == [
        long,
        *(f"reason {number}" for number in range(4, 7)),
    ]


def test_every_result_can_have_its_message() -> None:
    assert [entry["msg"] for entry in failed("no room", "no room", every=True)["results"]] == ["no room", "no room"]
