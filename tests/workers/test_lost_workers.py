"""What the pool does when workers and machines are lost, on a stand-in for Ray that has the same rules."""

import gc
from types import SimpleNamespace

import pytest

from unskew.workers import pool


class Lost(Exception):
    pass


class OfTask(Exception):
    def __init__(self, cause):
        self.cause = cause


class StandIn:
    """Each process takes a place, waits where none is free, and gives it back when it is killed or nobody holds it."""

    exceptions = SimpleNamespace(
        RayTaskError=OfTask, RayActorError=Lost, OutOfMemoryError=Lost, ObjectLostError=Lost, RaySystemError=Lost
    )

    def __init__(self, places):
        self.places, self.known, self.begun, self.losing = places, places, 0, {}

    def remote(self, **_options):
        return lambda kind: SimpleNamespace(remote=lambda: StandInProcess(self, kind()))

    def cluster_resources(self):
        return {"CPU": self.known}  # it takes a while until a machine is taken for lost

    def holders(self):
        gc.collect()
        everyone = [each for each in gc.get_objects() if type(each) is StandInProcess and each.ray is self]
        return sorted((each for each in everyone if not each.killed), key=lambda each: each.number)

    def wait(self, refs, num_returns, timeout=None):
        ready = [ref for ref in refs if ref.process in self.holders()[: self.places] or ref.process.killed][
            :num_returns
        ]
        assert ready or timeout, "all wait for each other"
        return ready, [ref for ref in refs if ref not in ready]

    def get(self, ref):
        task = ref.task
        if self.losing.get(task, 0):
            self.losing[task] -= 1
            ref.process.killed = True
            if task == "node":
                self.places -= 1
            raise Lost
        try:
            return ref.process.own.work(ref.name, task)
        except ValueError as error:
            raise OfTask(error) from None

    def kill(self, process):
        process.killed = True


class StandInProcess:
    def __init__(self, ray, own):
        self.ray, self.own, self.killed, ray.begun = ray, own, False, ray.begun + 1
        self.number = ray.begun
        self.work = SimpleNamespace(remote=lambda name, task: Ref(process=self, name=name, task=task))


class Ref(SimpleNamespace):
    __hash__ = object.__hash__


def seen(task):
    if task == "bad":
        raise ValueError("row 7 must be a number")
    return f"{task} done"


def test_a_lost_task_is_done_again_and_those_after_it():
    ray = StandIn(2)
    ray.losing = {"b": 2}
    found = list(pool.Pool(ray).run_chains(seen, [["a", "b", "c"], ["d"], []]))
    assert sorted(found) == [(0, "a done"), (0, "b done"), (0, "c done"), (1, "d done")]


@pytest.mark.parametrize("tasks", [["a", "node", "c"], ["node", "b"], ["a", "b", "c", "d", "node"]])
def test_with_a_place_less_the_others_do_all(tasks):
    """A process that is idle must not keep the place that the one for the lost task waits for."""
    ray = StandIn(2)
    ray.losing = {"node": 1}
    workers = pool.Pool(ray)
    assert sorted(workers.run(seen, tasks)) == [(place, f"{task} done") for place, task in enumerate(tasks)]
    assert [found for _, found in workers.run(seen, ["again"])] == ["again done"]


def test_what_kills_every_worker_is_given_up():
    ray = StandIn(2)
    ray.losing = {"b": 99}
    with pytest.raises(MemoryError, match="4 workers, one after another, were killed at the same task"):
        list(pool.Pool(ray).run(seen, ["a", "b"]))


def test_processes_are_used_again_and_errors_come_back_as_they_are():
    ray = StandIn(2)
    workers = pool.Pool(ray)
    for _ in range(3):
        list(workers.run(seen, ["a", "b", "c"]))
    assert ray.begun == 2
    with pytest.raises(ValueError, match="^row 7 must be a number$"):
        list(workers.run(seen, ["bad"]))


def test_tasks_that_need_each_other_have_a_process_each_and_leave_none():
    ray = StandIn(3)
    workers = pool.Pool(ray)
    list(workers.run(seen, ["a", "b"]))  # whose idle processes would keep the places
    assert workers.run_together(seen, ["c", "d", "e"]) == ["c done", "d done", "e done"]
    assert ray.holders() == []
    with pytest.raises(ValueError, match="^row 7 must be a number$"):
        workers.run_together(seen, ["a", "bad"])
    assert ray.holders() == []


@pytest.mark.parametrize(("places", "words"), [(3, "memory of the machine used up"), (2, "not all of 3 processes")])
def test_if_one_of_them_is_lost_or_has_no_place_all_are_stopped(places, words):
    ray = StandIn(places)
    ray.losing = {"node": 1}
    with pytest.raises(ConnectionAbortedError, match=words):
        pool.Pool(ray).run_together(seen, ["a", "node", "c"])
    assert ray.holders() == []
