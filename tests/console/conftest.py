"""A browser, services to look at, and pages that fail on any error and any foreign request."""

from contextlib import ExitStack

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.console.looking import chromium, learned, watched
from tests.service.serving import serving

expect.set_options(timeout=20_000)  # milliseconds: a busy machine draws late


@pytest.fixture(scope="module")  # Playwright runs a loop in this thread until the module's end
def browser():
    """Yield a browser without a window."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def untaught_page(browser):
    """Return a page of a service that the tests of a module only read modules from."""
    with serving() as served:
        context = browser.new_context()
        faults = watched(context, served.url)
        page = context.new_page()
        page.goto(f"{served.url}/console")
        yield page
        context.close()
        assert faults == []


@pytest.fixture
def serve():
    """Return a function that starts a service, which ends after its pages are closed."""
    with ExitStack() as services:

        def start(taught=0, **settings):
            served = services.enter_context(serving(**settings))
            if taught:
                learned(served.url, taught, settings.get("learn_keys", (None,))[0])
            return served

        yield start


@pytest.fixture
def empty(serve):
    """Return a service that has learned nothing."""
    return serve()


@pytest.fixture
def taught(serve):
    """Return a service that has learned a part of the questions to a bank."""
    return serve(taught=600)


@pytest.fixture
def look(browser, serve):
    """Return a function that opens a page of the console, in a new context unless one is given."""
    contexts = []

    def open_page(served, page="try", context=None, **options):
        if context is None:
            context = browser.new_context(**{"accept_downloads": True} | options)
            contexts.append((context, watched(context, served.url)))
        opened = context.new_page()
        opened.goto(f"{served.url}/console#/{page}")
        return opened

    yield open_page
    for context, faults in contexts:
        for page in context.pages:
            page.unroute_all(behavior="ignoreErrors")  # a call may be under way
        context.close()
        assert faults == []
