"""A browser, services to look at, and pages that fail on any error and any foreign request."""

import pytest
from playwright.sync_api import sync_playwright

from tests.console.looking import chromium, learned, watched
from tests.service.serving import serving


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def empty():
    """Yield a service that has learned nothing."""
    with serving() as served:
        yield served


@pytest.fixture
def taught():
    """Yield a service that has learned a part of the questions to a bank."""
    with serving() as served:
        learned(served.url)
        yield served


@pytest.fixture
def look(browser):
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
        context.close()
        assert faults == []
