"""The explorer's page in a real browser: what is seen, clicked, hovered over, filtered, compared and drawn."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oric
import pytest
from oric.driver import CompileOptions
from oric.driver.registry import passes
from oric.explore import Request, explore, pack, page
from oric.explore.serve import ADDRESS, Explorer, Field, serve

from tests.explore.browser import browser, complaints, show, wait
from tests.explore.test_model import CALLS, LAUNCH, SAXPY, long_kernel
from tests.kernels import cases

pytestmark = pytest.mark.measure  # a browser takes its time

_LINES = 200  # of a list that are in the document at most
_OPEN = 2000  # milliseconds until a page of ten thousand instructions can be used; measured and printed, not checked


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as driver:
        yield driver


def open_page(driver: Any, folder: Path, text: str, arch: str = "sm_90", **more: Any) -> Any:
    """Write the page of a module and open it."""
    request = {name: more.pop(name) for name in ("other", "run") if name in more}
    found = explore(Request(text, "test.ptx", CompileOptions(arch, **more), **request))
    assert found.error is None
    path = folder / "page.html"
    path.write_text(page(pack(found.document)))
    show(driver, path)
    assert complaints(driver) == []
    return found.document


def rows(driver: Any, pane: str, which: str = "") -> list[str]:
    """The texts of the lines of a pane that are in the document."""
    script = "return [...document.querySelectorAll(arguments[0])].map((row) => row.textContent)"
    return list(driver.execute_script(script, f"#pane-{pane} .row{which} .text"))


def click(driver: Any, selector: str) -> None:
    driver.find_element("css selector", selector).click()


def line(driver: Any, pane: str, pattern: str) -> Any:
    """The first line of a pane whose text fits."""
    found = driver.find_elements("css selector", f"#pane-{pane} .row")
    return next(row for row in found if re.search(pattern, row.text))


def reveal(driver: Any, pane: str, at: int) -> None:
    """Scroll a pane to a line, and wait until its lines are made."""
    script = "view.panes[arguments[0]].list.reveal(arguments[1]); const done = arguments[2];"
    driver.execute_async_script(f"{script} requestAnimationFrame(() => requestAnimationFrame(() => done()))", pane, at)


def move(driver: Any, row: Any) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(driver).move_to_element(row).perform()


def keys(driver: Any, *typed: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(driver).send_keys(*typed).perform()


def choose(driver: Any, selector: str, text: str) -> None:
    from selenium.webdriver.support.ui import Select

    Select(driver.find_element("css selector", selector)).select_by_visible_text(text)


def test_the_panes_have_what_the_compiler_has(chromium: Any, tmp_path: Path) -> None:
    made = open_page(chromium, tmp_path, SAXPY.read_text())
    assert [text.split("  ←")[0] for text in rows(chromium, "sass")] == made["units"][0]["sass"]["texts"]
    assert rows(chromium, "ptx")[0] == made["ptx"][0]
    assert any("LDG{order=CONSTANT}" in text for text in rows(chromium, "ori"))
    totals = chromium.find_element("id", "totals").text
    assert "instructions 14" in totals
    assert "registers 6" in totals


def test_hovering_ties_lines(chromium: Any, tmp_path: Path) -> None:
    """A line of machine code lights up its instruction in Ori and its line of the PTX; and the other way round."""
    open_page(chromium, tmp_path, SAXPY.read_text())
    move(chromium, line(chromium, "sass", "FFMA"))
    assert [text.strip() for text in rows(chromium, "ptx", ".hot")] == ["fma.rn.f32 \t%f4, %f2, %f1, %f3;"]
    assert [text.split()[0] for text in rows(chromium, "ori", ".twin")] == ["FFMA"]
    move(chromium, line(chromium, "ptx", "st.global"))
    assert [text.split()[0] for text in rows(chromium, "sass", ".hot")] == ["STG.E"]
    assert [text.split()[0] for text in rows(chromium, "ori", ".hot")] == ["STG"]


def test_a_click_brings_what_belongs_to_it_into_sight(chromium: Any, tmp_path: Path) -> None:
    open_page(chromium, tmp_path, cases.ptx("sgemm", "sm_90"))
    reveal(chromium, "sass", 200)
    row = line(chromium, "sass", "STG")
    text = row.find_element("class name", "text").text
    row.click()
    ori = rows(chromium, "ori", ".pin")
    assert len(ori) == 1 and "STG" in ori[0]
    assert rows(chromium, "sass", ".pin") == [text]
    reveal(chromium, "sass", 0)
    assert rows(chromium, "sass", ".pin") == []
    reveal(chromium, "sass", 200)
    assert rows(chromium, "sass", ".pin") == [text]
    assert chromium.execute_script("return view.panes.ptx.list.host.scrollTop") > 0
    keys(chromium, "\ue015")  # down: the next line is pinned
    assert rows(chromium, "sass", ".pin") != [text]
    keys(chromium, "\ue00c")  # escape
    assert rows(chromium, "sass", ".pin") == []


def test_phases_and_their_differences(chromium: Any, tmp_path: Path) -> None:
    made = open_page(chromium, tmp_path, SAXPY.read_text())
    phases = made["units"][0]["phases"]
    changed = [f"{p['index']} {p['name']}" for p in phases if "edits" in p]

    def listed() -> list[str]:
        return [option.text for option in chromium.find_elements("css selector", "#phase option")]

    assert listed() == changed
    click(chromium, "#hide")
    assert len(listed()) == len(phases)
    assert sum(text.endswith("(no change)") for text in listed()) == len(phases) - len(changed)
    click(chromium, "#hide")
    choose(chromium, "#phase", changed[0])
    assert any("ADD64" in text for text in rows(chromium, "ori"))
    keys(chromium, "n")
    assert chromium.execute_script("return view.unit.phases[view.phase].index") == int(changed[1].split()[0])
    keys(chromium, "p")
    assert chromium.execute_script("return view.unit.phases[view.phase].index") == int(changed[0].split()[0])
    click(chromium, "#next")
    choose(chromium, "#base", changed[0])
    choose(chromium, "#phase", next(text for text in changed if text.startswith("13 ")))
    removed, added = rows(chromium, "ori", ".removed"), rows(chromium, "ori", ".added")
    note = chromium.find_element("css selector", "#pane-ori .note").text
    assert any("MOV R0, c[0x0][0x210]" in text for text in removed)
    assert re.fullmatch(r"\+\d+ −\d+ ~\d+ ↕\d+", note)
    assert int(note.split()[1][1:]) >= len(removed) > 0 and int(note.split()[0][1:]) >= len(added)
    assert len(rows(chromium, "ori", ".changed")) == len(rows(chromium, "ori", ".was")) > 0
    keys(chromium, "d")
    assert rows(chromium, "ori", ".removed") == []


def test_differences_are_right_for_all_pairs_of_phases(chromium: Any, tmp_path: Path) -> None:
    """Without what is removed a difference is the new code; with it in place of what is new, the old lines are all there."""
    open_page(chromium, tmp_path, cases.ptx("softmax", "sm_90"))
    script = """
    const wrong = [];
    for (const unit of view.units) for (const a of unit.changes) for (const b of unit.changes) {
      const old = unit.snapshot(a), fresh = unit.snapshot(b), lines = difference(unit, old, fresh);
      const now = lines.filter(({ kind }) => kind !== "removed" && kind !== "was").map(({ row }) => row);
      const before = lines.filter(({ kind }) => kind === "removed" || kind === "was").map(({ row }) => unit.text(row));
      const texts = new Map();
      for (const row of old.rows) texts.set(unit.text(row), (texts.get(unit.text(row)) || 0) + 1);
      const kept = lines.filter(({ kind }) => kind === "").length;
      if (now.join() !== [...fresh.rows].join() || before.some((text) => !texts.has(text))) wrong.push([a, b]);
      if (a === b && kept !== fresh.rows.length) wrong.push([a, b]);
    }
    return wrong"""
    assert chromium.execute_script(script) == []


def test_the_filter(chromium: Any, tmp_path: Path) -> None:
    open_page(chromium, tmp_path, cases.ptx("sgemm", "sm_90"))
    keys(chromium, "/")
    keys(chromium, r"\bldg|ld\.global")
    wait(chromium, "view.panes.sass.shown.length < 100")
    for pane, word in (("sass", "LDG"), ("ori", "LDG"), ("ptx", "ld.global")):
        found = rows(chromium, pane)
        assert found and all(word in text for text in found)
    assert "SASS" in chromium.find_element("id", "found").text
    keys(chromium, "(")
    assert "wrong" in chromium.find_element("id", "filter").get_attribute("class")
    keys(chromium, "\ue00c")
    assert chromium.execute_script("return view.panes.sass.shown.length") > 100
    assert "wrong" not in chromium.find_element("id", "filter").get_attribute("class")


def test_the_graph(chromium: Any, tmp_path: Path) -> None:
    """Blocks, edges and back edges are those of the data; a click on a block goes there."""
    made = open_page(chromium, tmp_path, cases.ptx("nests", "sm_90"))
    choose(chromium, "#unit", "collatz_nest")
    click(chromium, '[data-pane="graph"]')
    unit = next(u for u in made["units"] if u["name"] == "collatz_nest")
    graph = unit["graphs"][[p for p in unit["phases"] if "graph" in p][-1]["graph"]]
    assert len(chromium.find_elements("css selector", ".node")) == len(graph["successors"])
    edges = {f"{b} {to}" for b, targets in enumerate(graph["successors"]) for to in targets}
    script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.dataset.edge)"
    assert set(chromium.execute_script(script, ".edge")) == edges
    assert set(chromium.execute_script(script, ".edge.back")) == {f"{b} {to}" for b, to in graph["back"]} != set()
    last = len(graph["successors"]) - 1
    chromium.execute_script(
        "arguments[0].dispatchEvent(new MouseEvent('click'))", chromium.find_element("css selector", f'[data-block="{last}"]')
    )
    assert rows(chromium, "ori", ".pin")[0].startswith(f"bix{last}:")


def test_machine_code_says_what_waits(chromium: Any, tmp_path: Path) -> None:
    """Stalls and scoreboards of the control bits, and the waits of a run."""
    made = open_page(chromium, tmp_path, SAXPY.read_text(), run=str(LAUNCH))
    sass = made["units"][0]["sass"]
    titles = [one.get_attribute("title") for one in chromium.find_elements("css selector", "#pane-sass .control")]
    for title, stall, wait_mask in zip(titles, sass["stall"], sass["wait"], strict=True):
        assert title.startswith(f"stall {stall} cycles")
        assert ("waits for scoreboards" in title) == bool(wait_mask)
    waited = [one.text for one in chromium.find_elements("css selector", "#pane-sass .run")]
    run = sass["run"]
    sums = [sum(parts) for parts in zip(run["scoreboard"], run["barrier"], run["pipe"], strict=True)]
    assert waited == [str(n) if n else "·" if issued else "" for n, issued in zip(sums, run["issued"], strict=True)]
    assert "cycles on" in chromium.find_element("id", "totals").text
    live = [one.text for one in chromium.find_elements("css selector", "#pane-sass .live")]
    assert max(map(int, live)) == 4
    ink = """const c = document.querySelector("#pane-sass canvas");
        return c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((value) => value > 0)"""
    assert chromium.execute_script(ink)


def test_spills_are_marked(chromium: Any, tmp_path: Path) -> None:
    made = open_page(chromium, tmp_path, long_kernel(400), maxrregcount=24)
    reveal(chromium, "sass", made["units"][0]["sass"]["spills"][0])
    marked = chromium.find_elements("css selector", "#pane-sass .row:has(.chip) .text")
    assert marked and all(re.search("LDL|STL", one.text) for one in marked)
    assert "spill" in chromium.find_element("id", "totals").text


def test_another_cubin_stands_beside_ours(chromium: Any, tmp_path: Path) -> None:
    text = cases.ptx("sgemm", "sm_90")
    other = oric.compile(text, "sm_90", opt_level=0).image
    made = open_page(chromium, tmp_path, text, other=("other.cubin", other))
    opcode = "opcodeOf(row.querySelector('.text').textContent)"
    script = f"""
        const two = (id) => new Map([...document.querySelectorAll(`#pane-${{id}} .row`)].map((row) => [row.dataset.at, row]));
        const name = (row) => row.classList.contains("gap") ? null : {opcode};
        const other = two("other");
        return [...two("sass")].filter(([at]) => other.has(at)).map(([at, row]) => [name(row), name(other.get(at))])"""
    pairs = chromium.execute_script(script)
    assert len(pairs) > 20 and any(a == b for a, b in pairs)
    assert all(a == b or a is None or b is None for a, b in pairs)
    top = "return ['sass', 'other'].map((id) => document.querySelector(`#pane-${id} .list`).getBoundingClientRect().top)"
    assert len(set(chromium.execute_script(top))) == 1
    chromium.execute_script("view.panes.sass.list.host.scrollTop = 900")
    wait(chromium, "view.panes.other.list.host.scrollTop === 900")
    click(chromium, "#compared summary")
    table = chromium.find_element("css selector", "#compared table").text
    totals = [unit[what]["totals"]["instructions"] for unit in made["units"] for what in ("sass", "compared")]
    assert f"instructions {totals[0]} {totals[1]} −{totals[1] - totals[0]}" in table


def test_functions_of_a_module_can_be_picked(chromium: Any, tmp_path: Path) -> None:
    """And a comment of the PTX stays text."""
    open_page(chromium, tmp_path, CALLS)
    assert chromium.title == "test.ptx – Oric explorer"
    assert any('</script><script>document.title = "broken out"' in text for text in rows(chromium, "ptx"))
    choose(chromium, "#unit", "k › $k$f")
    assert any("RET" in text for text in rows(chromium, "sass"))
    assert rows(chromium, "ori")[0].startswith("function $k$f")


def test_a_compilation_that_failed_shows_how_far_it_came(chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message, and the phases before the one that failed; a module that is no PTX has its text."""
    found = dict(passes())

    def broken(f: Any, ctx: Any) -> bool:
        raise RuntimeError("planted")

    found["allocate_registers"] = broken
    monkeypatch.setattr("oric.driver.pipeline.passes", lambda: found)
    for text, message, phases in ((SAXPY.read_text(), "planted", True), (".version 8.0\nbogus\n", "bogus", False)):
        path = tmp_path / "failed.html"
        path.write_text(page(pack(explore(Request(text, "test.ptx", CompileOptions("sm_90"))).document)))
        show(chromium, path)
        assert message in chromium.find_element("id", "error").text
        assert rows(chromium, "ptx")[0].strip() == text.splitlines()[0].strip()
        assert rows(chromium, "sass") == []
        assert bool(rows(chromium, "ori")) == phases
        click(chromium, '[data-pane="graph"]')
        keys(chromium, "p", "n", "d")
        assert bool(chromium.find_elements("css selector", ".node")) == phases
        assert complaints(chromium) == []


def test_ten_thousand_instructions(chromium: Any, tmp_path: Path, record_property: Any) -> None:
    """Few lines are in the document; the time until the page can be used is told."""
    made = open_page(chromium, tmp_path, long_kernel(11_000))
    assert made["units"][0]["sass"]["totals"]["instructions"] >= 10_000
    opened = chromium.execute_script("return performance.getEntriesByName('shown')[0].startTime")
    record_property("milliseconds", round(opened))
    print(f"a page of {(tmp_path / 'page.html').stat().st_size} bytes opens in {opened:.0f} ms (wanted: {_OPEN})")
    for pane in ("ptx", "ori", "sass"):
        assert 0 < len(rows(chromium, pane)) < _LINES
    chromium.execute_script("view.panes.sass.list.host.scrollTop = 1e9")
    last = made["units"][0]["sass"]["texts"][-1]
    wait(chromium, f"[...document.querySelectorAll('#pane-sass .row .text')].some((row) => row.textContent === {last!r})")
    click(chromium, '[data-pane="graph"]')
    wait(chromium, "document.querySelectorAll('.node').length > 50")


_CONTRAST = """
    const luminance = (colour) => {
      const pen = document.createElement("canvas").getContext("2d");
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
      const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((v) => v / 255)
        .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const style = getComputedStyle(document.documentElement), of = (name) => luminance(style.getPropertyValue(name));
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const low = [];
    for (const [texts, backs] of arguments[0]) for (const text of texts) for (const back of backs) {
      if (ratio(of(text), of(back)) < 4.5) low.push([text, back, ratio(of(text), of(back))]);
    }
    return [style.getPropertyValue("--back").trim(), low]"""
_CODE = ["--ink", "--dim", "--opcode", "--register", "--number", "--comment", "--label", "--guard"]
_PAIRS = [
    [[*_CODE, "--accent", "--spill", "--warm"], ["--back", "--raised"]],
    [_CODE, ["--added", "--removed", "--changed", "--moved", "--hot"]],
    [["--ink"], ["--same", "--bar"]],
]


def test_dark_and_light_can_be_read(tmp_path: Path) -> None:
    """Text on what it stands on: a contrast of 4.5 to 1 or more in both."""
    backs = []
    for dark in (False, True):
        with browser(dark=dark) as driver:
            open_page(driver, tmp_path, SAXPY.read_text())
            back, low = driver.execute_script(_CONTRAST, _PAIRS)
            assert low == []
            backs.append(back)
    assert len(set(backs)) == 2


def test_the_served_page(chromium: Any, tmp_path: Path) -> None:
    """Controls compile again, and so does a change of the file; what fails has its message, and the page goes on."""
    path = tmp_path / "served.ptx"
    path.write_text(SAXPY.read_text())

    def make(values: Any) -> Any:
        off = tuple(filter(None, values["disable-phase"].split(",")))
        return explore(Request(path.read_text(), path.name, CompileOptions("sm_90", int(values["opt-level"]), disabled=off)))

    explorer = Explorer(
        [Field("opt-level", "Level", "3", ("0", "3")), Field("disable-phase", "Phases off", "")], make, [str(path)]
    )
    server = serve(explorer, 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        show(chromium, f"http://{ADDRESS}:{server.server_address[1]}/")
        count = chromium.execute_script("return view.unit.sass.data.totals.instructions")
        choose(chromium, '[name="opt-level"]', "0")
        wait(chromium, "view.doc.level === 0")
        assert chromium.execute_script("return view.unit.sass.data.totals.instructions") > count
        choose(chromium, '[name="opt-level"]', "3")
        wait(chromium, "view.doc.level === 3")
        choose(chromium, "#phase", "13 GeneralOptimizeEarly")
        click(chromium, "#switch")
        wait(chromium, "!view.unit.phases.some(({ index }) => index === 13)")
        path.write_text(SAXPY.read_text().replace("fma.rn.f32", "bogus.f32"))
        wait(chromium, "!document.getElementById('error').hidden")
        assert "unknown instruction 'bogus'" in chromium.find_element("id", "error").text
        path.write_text(SAXPY.read_text())
        wait(chromium, "document.getElementById('error').hidden && view.unit !== null")
        assert complaints(chromium) == []
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
