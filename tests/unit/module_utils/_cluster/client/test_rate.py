"""The session sends so many requests a second, and no more."""

from plugins.module_utils._cluster.client.rate import TokenBucket


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.naps: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds


def test_burst_of_one_second_then_steady_rate() -> None:
    clock = Clock()
    bucket = TokenBucket(4, clock, clock.sleep)
    for _unused in range(12):
        bucket.wait_for_turn()
    assert clock.naps == [0.25] * 8
    clock.now += 60
    before = len(clock.naps)
    for _unused in range(5):
        bucket.wait_for_turn()
    assert len(clock.naps) == before + 1


def test_less_than_one_a_second() -> None:
    clock = Clock()
    bucket = TokenBucket(0.5, clock, clock.sleep)
    bucket.wait_for_turn()
    bucket.wait_for_turn()
    assert clock.naps == [2.0]


def test_waiting_requests_are_queued() -> None:
    clock = Clock()
    naps: list[float] = []
    bucket = TokenBucket(1, clock, naps.append)
    for _unused in range(4):
        bucket.wait_for_turn()
    assert naps == [1.0, 2.0, 3.0]
