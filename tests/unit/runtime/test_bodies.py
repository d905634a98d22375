"""Bodies in threads: begun, ended, given up."""

from __future__ import annotations

import threading

from toolflow.runtime.bodies import ThreadBody


def test_a_body_that_is_given_up_before_a_thread_has_begun_it_never_runs():
    ran: list[str] = []
    body = ThreadBody(lambda: ran.append("ran"), lambda value, error: ran.append("late"))
    assert body.give_up() is False
    body._work()
    assert (ran, body.ended) == ([], False)


def test_a_body_that_is_given_up_while_it_runs_tells_its_end():
    begun, gate, told = threading.Event(), threading.Event(), []

    def function() -> str:
        begun.set()
        gate.wait(10)
        return "value"

    body = ThreadBody(function, lambda value, error: told.append((value, error)))
    thread = threading.Thread(target=body._work)
    thread.start()
    begun.wait(10)
    assert body.give_up() is True
    gate.set()
    thread.join()
    assert told == [("value", None)]


def test_a_body_that_has_ended_keeps_what_it_gave_and_tells_nobody_else():
    told: list[object] = []
    body = ThreadBody(lambda: "value", lambda value, error: told.append(value))
    body._work()
    assert body.give_up() is False
    assert (body.ended, body.result(), told) == (True, "value", [])
