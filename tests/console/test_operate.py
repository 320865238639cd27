"""Operate: health, snapshots taken, restored and downloaded, a rebuild, the settings."""

import httpx
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow  # needs chromium


def test_the_health_is_said(taught, look):
    page = look(taught, "operate")
    expect(page.get_by_text("Everything works.")).to_be_visible()
    rows = page.get_by_label("Health", exact=True).locator("tbody tr")
    expect(rows.filter(has_text="Teaching")).to_contain_text("works")
    expect(rows.filter(has_text="Learned so far")).to_contain_text("classes")
    expect(rows.filter(has_text="History")).to_contain_text("600 changes, ")
    page.get_by_text("Storage and last start").click()
    expect(page.get_by_text("messages and snapshots are kept in memory")).to_be_visible()


def test_the_health_says_what_needs_attention(taught, look):
    page = look(taught, "try")
    stats = httpx.get(f"{taught.url}/stats").json()
    stats["health"] |= {"disk": {"free": 10, "total": 1000}, "snapshot_failures": 2}
    page.route("**/stats", lambda route: route.fulfill(json=stats))
    page.goto(f"{taught.url}/console#/operate")
    expect(page.get_by_text("2 things need attention.")).to_be_visible()
    rows = page.get_by_label("Health", exact=True).locator("tbody tr")
    expect(rows.filter(has_text="Disk")).to_contain_text("nearly full")
    expect(rows.filter(has_text="Newest snapshot")).to_contain_text("2 snapshots failed")
    stats["review"] = {"items": 3, "bytes": 9, "failing": "no room"}
    review = rows.filter(has_text="3 messages in its queue")
    expect(review).to_contain_text("only in memory: no room", timeout=30_000)
    stats["review"]["failing"] = None
    stats["health"] |= {"disk": None, "snapshot_failures": 0}
    expect(page.get_by_text("Everything works.")).to_be_visible(timeout=30_000)
    expect(rows.filter(has_text="Disk")).to_have_count(0)


def test_a_snapshot_is_taken_and_restored(taught, look):
    page = look(taught, "operate")
    page.get_by_role("button", name="Take one now").click()
    expect(page.get_by_text("A snapshot of change 600 is taken")).to_be_visible()
    httpx.post(f"{taught.url}/learn", json={"text": "later", "classes": ["later"]})
    page.get_by_role("button", name="Restore change 600").click()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    expect(page.get_by_text("The snapshot of change 600 is restored")).to_be_visible()
    assert httpx.get(f"{taught.url}/classes/later").status_code == 404


def test_the_state_is_downloaded(taught, look):
    page = look(taught, "operate")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the state").click()
    assert download.value.suggested_filename == "manyclass-600.snapshot"
    assert download.value.path().read_bytes() == httpx.get(f"{taught.url}/state").content


def test_a_rebuild_folds_what_waits(taught, look):
    httpx.delete(f"{taught.url}/events/seq:3")
    page = look(taught, "operate")
    expect(page.get_by_text("1 corrected or erased message waits")).to_be_visible()
    page.get_by_role("region", name="Rebuild").get_by_role("button", name="Rebuild now").click()
    expect(page.get_by_text("No corrected or erased message waits")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("The last one learned 599 messages")).to_be_visible()


@pytest.mark.parametrize(
    ("wait", "when"),
    [(86_400, "It begins by itself within 24 h."), (0, "It does not begin by itself.")],
)
def test_the_health_offers_the_rebuild_that_erased_messages_wait_for(serve, look, wait, when):
    served = serve(taught=600, rebuild_seconds=wait)
    for seq in (3, 4):
        httpx.delete(f"{served.url}/events/seq:{seq}")
    httpx.put(f"{served.url}/events/seq:5", json={"classes": ["another"]}).raise_for_status()
    page = look(served, "operate")
    row = page.get_by_label("Health", exact=True).get_by_role("row", name="Corrections")
    expect(row).to_contain_text(
        "2 erased messages leave the disk and 1 corrected message counts by its new label"
        f" with the next rebuild. {when}"
    )
    expect(page.get_by_text("Everything works.")).to_be_visible()
    row.get_by_role("button", name="Rebuild now").click()
    expect(row).to_contain_text("none waits for a rebuild", timeout=60_000)
    expect(row.get_by_role("button")).to_have_count(0)
    assert httpx.get(f"{served.url}/stats").json()["history"]["erasures"] == 0


def test_a_rebuild_that_began_elsewhere_is_followed_to_its_end(taught, look):
    httpx.post(f"{taught.url}/learn", json={"text": "zebra", "classes": ["animals"]})
    httpx.delete(f"{taught.url}/events/seq:601")
    page = look(taught, "try")
    status = httpx.get(f"{taught.url}/rebuild").json() | {"running": True, "learned": 7}
    running = "**/rebuild"
    page.route(running, lambda route: route.fulfill(json=status))
    page.goto(f"{taught.url}/console#/operate")
    expect(
        page.get_by_role("region", name="Rebuild").get_by_role("button", name="Rebuilding …")
    ).to_be_disabled()
    expect(page.get_by_text("7 messages learned so far")).to_be_visible()
    learned = page.get_by_role("row").filter(has_text="Learned so far").locator("td").nth(1)
    before = int(learned.inner_text().split()[0])
    httpx.post(f"{taught.url}/rebuild", timeout=60).raise_for_status()
    page.unroute(running)
    expect(page.get_by_text("No corrected or erased message waits")).to_be_visible()
    expect(page.get_by_text("The last one learned 600 messages")).to_be_visible()
    expect(
        page.get_by_role("region", name="Rebuild").get_by_role("button", name="Rebuild now")
    ).to_be_enabled()
    expect(learned).to_contain_text(f"{before - 1} classes")


def test_settings_are_found_by_a_part_of_their_name(taught, look):
    page = look(taught, "operate")
    page.locator("summary", has_text="settings").click()
    page.get_by_label("Find").fill("max_body")
    rows = page.get_by_label("Settings", exact=True).locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("8MiB")
    expect(rows.locator("td").nth(2)).to_have_text("default")


def test_a_rank_key_sees_values_and_an_admin_key_where_they_come_from(serve, look):
    keys = {"rank_keys": ("reads",), "admin_keys": ("operates",)}
    served = serve(max_batch=7, given={"max_batch": "environment"}, **keys)
    for key, is_told in {"reads": False, "operates": True}.items():
        page = look(served, "operate")
        page.get_by_label("Access key").fill(key)
        page.keyboard.press("Enter")
        page.locator("summary", has_text="settings").click()
        page.get_by_label("Find").fill("max_batch")
        cells = page.get_by_label("Settings", exact=True).locator("tbody td")
        expect(cells.nth(1)).to_have_text("7")
        expect(page.get_by_text("To see the source of each value")).to_have_count(int(not is_told))
        if is_told:
            expect(cells.nth(2)).to_have_text("environment")


@pytest.mark.parametrize(
    ("wait", "said"),
    [(86_400, "It begins by itself within 24 h"), (0, "It does not begin by itself.")],
)
def test_it_says_whether_a_rebuild_comes_by_itself(serve, look, wait, said):
    page = look(serve(rebuild_seconds=wait), "operate")
    expect(page.get_by_role("region", name="Rebuild")).to_contain_text(said)
