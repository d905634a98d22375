from __future__ import annotations

from toolflow.formats.base import Answer
from toolflow.formats.session.base import Reading
from toolflow.formats.session.echoes import Echoes
from toolflow.formats.session.pairing import Conversation
from toolflow.model import Call, Outcome, Turn


def turn(*calls: tuple[str, str], carries_ids: bool = True) -> Turn:
    made = [Call(i, name, "t", {"q": asked}) for i, (name, asked) in enumerate(calls)]
    return Turn("", tuple(made), carries_ids=carries_ids)


def answer(call_id: str, text: str) -> Answer:
    return Answer(call_id, Outcome("ok", text), 0)


class Talk:
    def __init__(self) -> None:
        self.reading = Reading()
        self.talk = Conversation(self.reading)
        self.echoes = Echoes(self.talk)

    def request(self, *steps: Turn | Answer) -> None:
        self.echoes.history(steps, line=1)

    def response(self, message: Turn) -> None:
        self.echoes.message(message, line=1)

    def result(self) -> list[list[tuple[str, str | None]]]:
        return [
            [
                (call.id, outcome.text if outcome else None)
                for call, outcome in zip(each.turn.calls, each.outcomes, strict=True)
            ]
            for each in self.talk.rest()
        ]


def test_a_message_that_is_sent_again_is_not_doubled_and_gets_its_results():
    talk = Talk()
    one, two = turn(("a", "1"), ("b", "2")), turn(("c", "3"))
    talk.request()
    talk.response(one)
    talk.request(one, answer("b", "B"), answer("a", "A"))
    talk.response(two)
    talk.request(one, answer("a", "shortened"), answer("b", "shortened"), two, answer("c", "C"))
    talk.response(turn())

    assert talk.result() == [[("a", "A"), ("b", "B")], [("c", "C")]]
    assert talk.reading.messages == 3
    assert not talk.reading.oddities.kept


def test_messages_of_the_first_request_are_the_logs_own():
    talk = Talk()
    talk.request(turn(("a", "1")), answer("a", "A"), turn())
    talk.response(turn(("b", "2")))
    talk.request(turn(("a", "1")), turn(), turn(("b", "2")), answer("b", "B"))

    assert talk.result() == [[("a", "A")], [("b", "B")]]
    assert talk.reading.messages == 3


def test_without_ids_a_message_is_found_by_what_it_asks_for_in_order():
    talk = Talk()
    same = turn(("call-1", "x"), carries_ids=False)
    talk.response(same)
    talk.request(turn(("made-1", "x")), answer("made-1", "first"))
    talk.response(same)
    talk.request(
        turn(("made-1", "x")),
        answer("made-1", "first"),
        turn(("made-2", "x")),
        answer("made-2", "2"),
    )

    assert talk.result() == [[("call-1", "first")], [("call-1", "2")]]


def test_a_message_with_other_ids_is_never_taken_for_one_that_asks_the_same():
    talk = Talk()
    talk.response(turn(("a", "x")))
    talk.request(turn(("other", "x")), answer("other", "not for a"))

    assert talk.result() == [[("a", None)], [("other", "not for a")]]


def test_a_message_of_the_program_is_one_of_its_own_wherever_it_is_put():
    talk = Talk()
    one, two, own = turn(("a", "1")), turn(("b", "2")), turn(("auto", "3"))
    talk.response(one)
    talk.response(two)
    for _ in range(2):
        talk.request(one, answer("a", "A"), own, answer("auto", "O"), two, answer("b", "B"))

    assert talk.result() == [[("a", "A")], [("b", "B")], [("auto", "O")]]


def test_ids_that_come_back_are_found_in_order():
    talk = Talk()
    again = turn(("k", "1"))
    talk.response(again)
    talk.request(again, answer("k", "one"))
    talk.response(again)
    talk.request(again, answer("k", "one"), again, answer("k", "two"))

    assert talk.result() == [[("k", "one")], [("k", "two")]]


def test_results_alone_go_to_the_latest_call_of_their_id():
    talk = Talk()
    talk.response(turn(("a", "1")))
    talk.request(answer("a", "A"), answer("stray", "S"))
    talk.request(answer("stray", "S"))

    assert talk.result() == [[("a", "A")]]
    assert [notice.code for notice in talk.reading.oddities.kept] == ["result_without_call"]


def test_a_doubled_id_is_told_once_and_paired_never():
    talk = Talk()
    doubled = turn(("x", "1"), ("x", "2"))
    talk.response(doubled)
    for _ in range(3):
        talk.request(doubled, answer("x", "one"), answer("x", "two"))

    assert talk.result() == [[("x", None), ("x", None)]]
    codes = [notice.code for notice in talk.reading.oddities.kept]
    assert codes.count("doubled_id") == 1
