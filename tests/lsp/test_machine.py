"""What the compiler says of a text, and the process that it runs in."""

from __future__ import annotations

import asyncio
import json

import oric
import pytest
from oric.lsp import machine, worker
from oric.lsp.outline import INSTRUCTION, Outline
from oric.lsp.worker import Worker, WorkerError
from oric.sass.listing import list_cubin
from oric.support.elf import read

from tests.lsp.samples import CALLS, FILES, SAXPY

BROKEN = SAXPY.replace("fma.rn.f32", "fam.rn.f32")


def test_messages_are_those_of_the_compiler():
    with pytest.raises(oric.CompileError) as caught:
        oric.compile(BROKEN, "sm_90")
    (found,) = machine.check(BROKEN, "a.ptx", "sm_90")["messages"]
    (item,) = caught.value.diagnostics.items
    assert found == {"severity": "error", "message": item.message, "offset": item.offset, "notes": list(item.notes)}
    assert BROKEN[found["offset"] :].startswith("fam.rn")


def test_lowering_is_checked_for_the_target():
    text = CALLS.replace("st.global.u32 [%rd1], b;", "st.global.u32 [%rd1], b; wgmma.fence.sync.aligned;")
    assert "needs target sm_90a" in machine.check(text, "a.ptx", "sm_90")["messages"][0]["message"]
    shared = CALLS.replace("buffer[64]", "buffer[64000]").replace(".target sm_90", ".target sm_75")
    assert machine.check(shared, "a.ptx", "sm_75")["messages"] == []  # what is told when code is made
    assert "uses too much shared data" in machine.code(shared, "a.ptx", "sm_75", 3, [])["messages"][0]["message"]


def test_targets_without_code_are_checked():
    text = SAXPY.replace("sm_75", "sm_70")
    assert machine.check(text, "a.ptx", "sm_70")["messages"] == []
    assert machine.check(BROKEN.replace("sm_75", "sm_70"), "a.ptx", "sm_70")["messages"]
    assert machine.check(BROKEN, "a.ptx", "")["messages"]
    assert machine.code(text, "a.ptx", "sm_70", 3, [])["failure"] == "code cannot be made for sm_70"
    assert machine.code(text, "a.ptx", "", 3, [])["failure"] == "the module names no target"


@pytest.mark.parametrize("path", FILES[::5], ids=lambda path: path.name)
@pytest.mark.parametrize("level", [0, 3])
def test_every_instruction_stands_at_lines_of_the_text(path, level):
    text = path.read_text()
    arch = path.suffixes[-2][1:] if len(path.suffixes) > 1 else "sm_90"
    answer = machine.code(text, path.name, arch, level, [])
    assert not answer["failure"]
    json.dumps(answer)
    rows = {(name, offset, shown) for found in answer["lines"].values() for name, offset, shown in found}
    listed = [
        (f.name, r.offset, r.text) for f in list_cubin(read(oric.compile(text, arch, level).image)).functions for r in f.lines
    ]
    told = [row for row in listed if row in rows]
    assert len(told) == len(rows)
    assert all(r[2].startswith(("NOP", "BRA `(.L")) for r in set(listed) - rows)  # what fills it up
    outline = Outline(text)
    lines = {text.count("\n", 0, s.at) + 1 for s in outline.statements if s.kind == INSTRUCTION}
    extra = {int(line) for line in answer["lines"]} - lines
    assert all(text.splitlines()[line - 1].strip() == "{" for line in extra), extra  # what belongs to no statement


def test_an_entry_alone():
    text = CALLS + SAXPY[SAXPY.index(".visible") :]
    assert {row[0] for found in machine.code(text, "a", "sm_90", 3, ["saxpy"])["lines"].values() for row in found} == {"saxpy"}
    with pytest.raises(ValueError, match="Unknown function nothing"):
        machine.code(text, "a", "sm_90", 3, ["nothing"])


def test_why_there_is_no_code():
    assert machine.code(BROKEN, "a", "sm_90", 3, [])["failure"] == "not compiled: unknown instruction 'fam' (line 46)"


def test_formatting_leaves_mistakes_alone():
    assert machine.formatted(BROKEN, "a") == {"text": None}
    assert machine.formatted(SAXPY.replace("\tret;", "  ret ;"), "a")["text"] == machine.formatted(SAXPY, "a")["text"]


def ask(*requests, patience=1000.0):
    """The answers of a process to requests, or the errors."""

    async def run():
        found = Worker(patience)
        out = []
        for function, *args in requests:
            try:
                out.append(await found.ask(function, *args))
            except WorkerError as error:
                out.append(str(error))
        await found.close()
        return out

    return asyncio.run(run())


def test_the_process_answers():
    odd = SAXPY + "// \ud800 \U0001f600 \x00"
    answers = ask(("check", odd, "a", "sm_90"), ("code", SAXPY, "a", "sm_90", 3, ["saxpy"]), ("formatted", SAXPY, "a"))
    assert answers[0] == {"messages": []}
    assert answers[1]["lines"]["46"][0][2].startswith("FFMA")
    assert answers[2]["text"] == machine.formatted(SAXPY, "a")["text"]


def test_what_goes_wrong_costs_an_answer_and_no_more():
    wrong, unknown, good = ask(("code", CALLS, "a", "sm_90", 3, ["nothing"]), ("nothing",), ("check", SAXPY, "a", "sm_90"))
    assert wrong == "Internal compiler error. Unknown function nothing"
    assert unknown.startswith("Internal compiler error. KeyError")
    assert good == {"messages": []}


def test_patience_ends():
    assert ask(("check", SAXPY, "a", "sm_90"), patience=0.0)[0] == "the compiler gave no answer in 0 seconds"


def test_a_process_that_is_gone_is_started_again():
    async def run():
        found = Worker(1000.0)
        await found.start()
        waiting = asyncio.ensure_future(found.ask("check", SAXPY, "a", "sm_90"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert found.busy
        found.stop()
        with pytest.raises(WorkerError, match="the compiler has ended"):
            await waiting
        again = await found.ask("check", SAXPY, "a", "sm_90")
        cancelled = asyncio.ensure_future(found.ask("check", SAXPY, "a", "sm_90"))
        await asyncio.sleep(0.01)
        cancelled.cancel()
        last = await found.ask("check", BROKEN, "a", "sm_90")
        await found.close()
        await found.close()
        return again, last

    again, last = asyncio.run(run())
    assert again == {"messages": []}
    assert len(last["messages"]) == 1


def test_half_a_request_ends_the_process(monkeypatch, tmp_path):
    path = tmp_path / "requests"
    path.write_bytes(b"\x05\0")
    with path.open("rb") as stream:
        assert worker._read(stream) is None
