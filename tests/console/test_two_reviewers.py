"""Two people label in two browsers, while the service is killed and started again."""

import random
import socket
from contextlib import ExitStack

import pytest
from playwright.sync_api import expect

from manyclass.client.client import Client
from tests.console.looking import questions
from tests.system.process import Service, get, post

pytestmark = pytest.mark.slow  # needs chromium, and takes a minute

MESSAGES = 60
KILLED_AFTER = 20  # labels


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Reviewer:
    """A person at the page Review of a browser, who labels the message in view now and then."""

    def __init__(self, browser, url, name, chance):
        self.name = name
        self.chance = chance
        self.sent = {}  # id -> the class that this person chose, as answered with success
        self.questions = 0
        self.page = browser.new_context().new_page()
        self.page.goto(f"{url}/console#/review")
        self.page.get_by_label("Your name").fill(name)
        self.page.keyboard.press("Enter")
        expect(self.page.get_by_text(f"labelled by {name}")).to_be_visible()

    @property
    def card(self):
        return self.page.locator("main section.card")

    @property
    def question(self):
        return self.page.get_by_role("group", name="Two labels")

    def in_view(self):
        """Return the id of the message in view, None without one."""
        return self.page.evaluate("document.querySelector('main section.card')?.dataset.id ?? null")

    def think(self):
        """Wait; the message in view must not change meanwhile."""
        before = self.in_view()
        self.page.wait_for_timeout(self.chance.uniform(10, 250))
        assert before is None or self.in_view() == before

    def step(self):
        """Label the message in view; return False if there is none."""
        self.think()
        current = self.in_view()
        if current is None:
            return False
        pressed = self.page.locator(".chips button[aria-pressed=true]")
        if not pressed.count():
            self.page.keyboard.press(self.chance.choice("12"))
        chosen = pressed.locator(".name").first.inner_text()
        self.page.keyboard.press("Enter")
        for _ in range(200):
            self.page.wait_for_timeout(20)
            if self.in_view() != current:
                self.sent[current] = chosen
                return True
            if self.question.is_visible():
                self.questions += 1
                self.question.get_by_role("button", name="Keep").click()
                expect(self.card.and_(self.page.locator(f'[data-id="{current}"]'))).to_have_count(0)
                return True
            if self.page.locator("main .problem").count():  # the service does not answer
                return True
        raise AssertionError(f"nothing happened to {current}")


def test_sixty_messages_are_labelled_once_each_across_a_kill(browser, tmp_path):
    chance = random.Random(7)
    with ExitStack() as stack:
        service = stack.enter_context(Service(tmp_path, port=free_port()).start())
        with Client(service.url) as client:
            client.learn_many(questions(300), source="bank")
        texts = [each["text"] for each in questions(300 + MESSAGES)[300:]]
        rows = [{"text": text, "id": f"row-{at}"} for at, text in enumerate(texts[:40])]
        given = {"instances": rows, "batch": "letters.xlsx"}
        assert post(f"{service.url}/review", given).status_code == 200
        for at, text in enumerate(texts[40:]):
            body = {"text": text, "id": f"ranked-{at}", "source": "inbox"}
            assert post(f"{service.url}/rank", body).status_code == 200
        ids = {each["id"] for each in get(f"{service.url}/review", limit=100).json()["instances"]}
        assert len(ids) == MESSAGES
        reviewers = [Reviewer(browser, service.url, name, chance) for name in ("anna", "ben")]
        is_killed = False
        idle = 0
        while idle < 40:
            one = chance.choice(reviewers)
            idle = 0 if one.step() else idle + 1
            if not is_killed and sum(len(each.sent) for each in reviewers) >= KILLED_AFTER:
                is_killed = True
                service.kill()
                for each in reviewers:  # in the middle: both try while there is no answer
                    each.step()
                service.start()
                for each in reviewers:
                    expect(each.page.locator(".pulse.ready")).to_be_visible(timeout=20_000)
        assert is_killed
        assert get(f"{service.url}/review", limit=100).json()["waiting"] == 0
        events = [each for each in events_of(service.url) if each["id"]]
        for each in reviewers:
            each.page.context.close()
    labelled = [each["id"] for each in events]
    assert sorted(labelled) == sorted(ids)  # none is lost, and none is taught twice
    by_id = {each["id"]: each for each in events}
    for each in reviewers:
        assert len(each.sent) > 10
        for name, chosen in each.sent.items():
            assert by_id[name]["classes"] == [chosen]  # no label is contradicted without a question
    assert {each["reviewer"] for each in events} == {"anna", "ben"}
    assert all(each["text"] in texts for each in events)


def events_of(url):
    """Return all events of a service."""
    found, after = [], {}
    while True:
        page = get(f"{url}/events", limit=1000, **after).json()
        found += page["events"]
        if page["next"] is None:
            return found
        after = {"after": page["next"]}
