"""Calls that stay calls: recursion, pointers to functions, the calling convention."""

from __future__ import annotations

import subprocess
from pathlib import Path

import oric
import pytest
from oric.cli import main
from oric.driver.options import CompileOptions
from oric.driver.pipeline import compile_functions
from oric.regalloc.convention import lasting_uniforms
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support.elf import read
from oric_tables.registers import UNTOUCHED_UNIFORM

from . import call_programs, call_runs
from .call_memory import MEMORY_PROGRAMS
from .call_programs import THREADS, call, function, indirect
from .call_registers import REGISTER_PROGRAMS
from .call_runs import inputs, launch, run

PROGRAMS = call_programs.PROGRAMS | MEMORY_PROGRAMS | REGISTER_PROGRAMS
# What ptxas 13.0.88 makes of these from -O1 on finds a result whose address it has passed on 8 bytes away from where it is.
PTXAS_DIFFERS = ("addresses of parameters",)
TARGETS = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
LIMITS = (None, 24, 32, 64)


def text(name: str, target: str) -> str:
    return call_runs.text(PROGRAMS[name], target)


def wanted(name: str) -> list[int]:
    return call_runs.wanted(PROGRAMS[name])


def problem(name: str, target: str, level: int, limit: int | None) -> str:
    """What is wrong with the code of a program, "" when nothing is."""
    image = oric.compile(text(name, target), arch=target, opt_level=level, maxrregcount=limit, verify=True).image
    out, reports = launch(image)
    if out != wanted(name) or reports:
        return f"{out} {reports}"
    return "".join(map(str, check_cubin(read(image)).findings))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, target: str) -> None:
    """Right, without hazards, at each level, with limits of registers by turns."""
    turn = list(PROGRAMS).index(name) + TARGETS.index(target)
    for at, level in enumerate((0, 1, 3), turn):
        assert problem(name, target, level, LIMITS[at % len(LIMITS)]) == "", (level, LIMITS[at % len(LIMITS)])


@pytest.mark.measure
@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_in_every_way(name: str, target: str, level: int) -> None:
    assert {limit: found for limit in LIMITS if (found := problem(name, target, level, limit))} == {}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_ptxas_means_the_same(name: str, target: str, tmp_path: Path, ptxas: str) -> None:
    (tmp_path / "k.ptx").write_text(text(name, target))
    level = "-O0" if name in PTXAS_DIFFERS else "-O3"
    subprocess.run([ptxas, level, f"-arch={target}", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    assert launch((tmp_path / "k.cubin").read_bytes(), Modes())[0] == wanted(name)


def test_a_call_takes_no_more_registers_than_live_across_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a call may change is in use by nobody; what lives on lies in registers that functions keep, and is saved once."""
    (tmp_path / "k.ptx").write_text(text("fib", "sm_90"))
    assert main([str(tmp_path / "k.ptx"), "-arch", "sm_90", "-v", "-o", str(tmp_path / "k.cubin")]) == 0
    told = capsys.readouterr().err.splitlines()
    assert any("Used 24 registers" in line for line in told)
    assert "Function properties for fib" in told[-2]
    frame, stored, loaded = (int(word) for word in told[-1].split() if word.isdigit())
    assert frame <= 32 and 0 < stored == loaded <= 32


ORDER = (
    ".func (.param .b32 res) c(.param .b32 p0);\n"
    + function("once", 1, "mad.lo.u32 %r0, %r1, 3, 1;")
    + function("twice", 1, call("once", "%r2", "%r1") + call("once", "%r0", "%r2"))
    + function("b", 1, call("c", "%r2", "%r1") + call("twice", "%r0", "%r2"))
    + function("z", 1, call("b", "%r0", "%r1"))
    + function(
        "c", 1,
        f"mov.u32 %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; bar.sync 3; sub.u32 %r1, %r1, 1; {call('z', '%r0', '%r1')}",
    )
    + function("a", 1, f"mov.u32 %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; sub.u32 %r1, %r1, 1; {call('a', '%r0', '%r1')}")
    + call_programs.entry("mov.u32 %r4, 5; " + call("c", "%r3", "%r4") + call("a", "%r5", "%r4") + call("twice", "%r3", "%r3"))
)  # fmt: skip


@pytest.mark.row("R3-08")
def test_what_calls_itself_is_found_and_a_callee_is_done_before_its_caller() -> None:
    """By whatever way; what does not is inlined, callees first. A kernel knows what its functions need."""
    ((kernel, encoded),) = compile_functions(call_programs.HEAD.format(target="sm_90") + ORDER, CompileOptions("sm_90", 3))
    assert [f.name for f in kernel.functions] == ["$k$a", "$k$b", "$k$c", "$k$z"]
    assert all(not f.calls for f in (kernel, *kernel.functions))
    assert kernel.attributes.num_barriers == max(f.attributes.num_barriers for f in kernel.functions) == 4
    assert encoded.num_regs >= max(f.attributes.num_regs for f in kernel.functions)


def _places(image: bytes) -> list[str]:
    """The functions behind the kernel, in the order in which they lie there."""
    found = sorted((symbol.value, symbol.name) for symbol in read(image).symbols if symbol.name.startswith("$k$"))
    return [name for _, name in found]


def test_functions_lie_in_the_order_of_their_names(tmp_path: Path, ptxas: str) -> None:
    """As ptxas places them."""
    module = call_programs.HEAD.format(target="sm_90") + ORDER
    (tmp_path / "k.ptx").write_text(module)
    subprocess.run([ptxas, "-arch=sm_90", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    ours = _places(oric.compile(module, arch="sm_90").image)
    assert ours == [name for name in _places((tmp_path / "k.cubin").read_bytes()) if name in ours]


def test_words_that_nobody_writes_take_no_register_before_the_call() -> None:
    """A structure with holes in the registers of a call is worth as many registers as one that is written as a whole."""
    loads = " ".join(f"ld.global.u32 %r{10 + k}, [%d2+{4 * k}];" for k in range(24))
    sums = " ".join(f"mad.lo.u32 %r2, %r2, 3, %r{10 + k};" for k in range(24))

    def used(stores: str) -> int:
        struct = ".func (.param .b32 res) sum(.param .align 16 .b8 s[48])"
        function_ = f"{struct}\n{{ .reg .b32 %r<4>; ld.param.u32 %r1, [s]; ld.param.u32 %r2, [s+44]; add.u32 %r1, %r1, %r2;"
        own = (
            "{ .param .align 16 .b8 t[48]; .param .b32 r; st.param.b32 [t], %r1; st.param.b32 [t+44], %r2; call (r), sum, (t); }"
        )
        body = f"{loads} {sums} {{ .param .align 16 .b8 a[48]; .param .b32 r;"
        body += f" {stores} st.param.b32 [a], %r2; st.param.b32 [a+44], %r1;"
        module = call_programs.HEAD.format(target="sm_90") + f"{function_} {own} st.param.b32 [res], %r1; ret; }}\n"
        module += call_programs.entry(body + " call (r), sum, (a); ld.param.b32 %r3, [r]; }")
        return read(oric.compile(module, arch="sm_90").image).functions["k"].registers

    assert used("") <= used(" ".join(f"st.param.b32 [a+{4 * k}], 0;" for k in range(1, 11)))


def test_warnings_name_functions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Behind those of the kernel, what functions save included; as with ptxas."""
    (tmp_path / "k.ptx").write_text(text("frames", "sm_90"))
    words = ["-arch", "sm_90", "-warn-spills", "-warn-lmem-usage", "-o", str(tmp_path / "k.cubin")]
    assert main([str(tmp_path / "k.ptx"), *words]) == 0
    told = [line.partition("warning: ")[2] for line in capsys.readouterr().err.splitlines()]
    assert told[-2].startswith("Local memory used for function 'frames', size of stack frame: ")
    assert told[-1].startswith("Registers are spilled to local memory in function 'frames', ")


DRIVER = """
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[8] = {37, 117, 32, 37, 117, 10, 0, 0};
"""
HEAP = """
  and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 0; mov.u32 %r3, 5; @%p1 bra END;
  { .param .b64 n; .param .b64 r; st.param.b64 [n], 16; call (r), malloc, (n); ld.param.b64 %d5, [r]; }
  st.u32 [%d5+4], %r2; ld.u32 %r3, [%d5+4];
  { .param .b64 p; st.param.b64 [p], %d5; call free, (p); }
END: setp.ne.u32 %p2, %r1, 0; @%p2 bra OUT;
  mov.u64 %d6, words; st.local.u32 [%d6], %r1; st.local.u32 [%d6+4], %r2; cvta.local.u64 %d7, %d6; cvta.global.u64 %d8, format;
  { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %d8; st.param.b64 [a], %d7; call (r), vprintf, (f, a); }
OUT:
"""


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("target", TARGETS)
def test_functions_of_the_driver(target: str, level: int) -> None:
    """Also where a call is the last thing in its block."""
    module = call_programs.HEAD.format(target=target) + DRIVER + call_programs.entry(HEAP, "  .local .align 8 .b8 words[8];\n")
    image = oric.compile(module, arch=target, opt_level=level, verify=True).image
    want = [inputs()[t] if t & 1 else 5 for t in range(THREADS)]
    assert run(image) == (want, [], f"0 {inputs()[0]}\n")
    assert check_cubin(read(image)).findings == []


MANY = 200  # words that live across a call


def many_across(call_of: str) -> str:
    """Code of a kernel that has many words in registers while something is called."""
    names = [f"%w{k}" for k in range(MANY)]
    loads = " ".join(f"ld.volatile.global.u32 {name}, [%d2];" for name in names)
    sums = " ".join(f"add.u32 %r3, %r3, {name};" for name in names)
    return f".reg .b32 %w<{MANY}>; {loads} mov.u64 %d8, 0; {call_of} mov.u32 %r3, 0; {sums}"


@pytest.mark.parametrize("target", TARGETS)
def test_functions_of_the_driver_keep_more_registers(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], ptxas: str
) -> None:
    """Nothing waits on the stack at their calls from sm_80 on, as with ptxas; at those of functions of other files much does."""
    declared = ".extern .func (.param .b32 r) {}(.param .b64 f, .param .b64 a);\n"
    body = (
        "{{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %d8; st.param.b64 [a], %d8; call (r), {}, (f, a); }}"
    )
    spilled: dict[str, list[bool]] = {}
    for name in ("vprintf", "elsewhere"):
        module = call_programs.HEAD.format(target=target) + declared.format(name)
        module += call_programs.entry(many_across(body.format(name)))
        (tmp_path / "k.ptx").write_text(module)
        words = [f"-arch={target}", "-c", "-v", "k.ptx", "-o", "k.o"]
        told = subprocess.run([ptxas, *words], cwd=tmp_path, check=True, capture_output=True, text=True).stderr
        assert main([str(tmp_path / "k.ptx"), f"-arch={target}", "-c", "-v", "-o", str(tmp_path / "k.o")]) == 0
        spilled[name] = [", 0 bytes spill stores" not in text for text in (told, capsys.readouterr().err)]
    assert spilled == {"vprintf": [target == "sm_75"] * 2, "elsewhere": [True, True]}


def test_several_results_that_no_registers_hold_are_told_by_their_size() -> None:
    """ptxas has no calling convention for several results at all."""
    results, taken = (", ".join(f"{word}{k}" for k in range(7)) for word in (".reg .b64 %x", "%d1"))
    body = f"call ({taken}), large, (%r2); cvt.u32.u64 %r3, %d10;"
    large = f".func ({results}) large(.reg .b32 %n)\n{{ .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<20>;\n"
    large += f"mov.u32 %r2, %n; setp.eq.u32 %p, %n, 0; @%p ret; {body} ret; }}\n"
    module = call_programs.HEAD.format(target="sm_90") + large + call_programs.entry(body)
    with pytest.raises(oric.CompileError, match="results of 56 bytes together"):
        oric.compile(module, arch="sm_90")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_uniform_registers_outlive_no_block(name: str, target: str, level: int) -> None:
    """Threads that are apart run functions that write them: what lasts lies elsewhere. Where all is inlined nobody does."""
    for kernel, _ in compile_functions(text(name, target), CompileOptions(target, level)):
        for f in (kernel, *kernel.functions) if kernel.functions else ():
            places = {int(f.physical[n]) for n in lasting_uniforms(f)}
            assert places <= UNTOUCHED_UNIFORM and (f.is_entry or not places), (f.name, places)


EXTERN = ".extern .func (.param .b32 r) {name}(.param .b32 n);\n"
NOWHERE = {
    "address": (EXTERN, "mov.u64 %d3, outside; " + indirect("%d3", "%r3", "%r2"), "Cannot take address of function 'outside'"),
    "address of a function of the driver": (
        ".extern .func (.param .b32 r) {name}(.param .b64 f, .param .b64 a);\n", "mov.u64 %d3, vprintf; add.u32 %r3, %r2, 1;",
        "Cannot take address of function 'vprintf'",
    ),
    "called by what has an address": (
        EXTERN + function("hop", 1, call("outside", "%r0", "%r1")), "mov.u64 %d3, hop; " + indirect("%d3", "%r3", "%r2"),
        "Unresolved extern function 'outside'",
    ),
    "called by what calls itself": (
        EXTERN + function("down", 1, "mov.u32 %r0, %r1; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; sub.u32 %r2, %r1, 1;"
                          + call("outside", "%r3", "%r2") + call("down", "%r0", "%r3")), call("down", "%r3", "%r2"),
        "Unresolved extern function 'outside'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NOWHERE)
def test_functions_that_are_nowhere(case: str, tmp_path: Path, ptxas: str) -> None:
    """One message, which ptxas has, too."""
    declared, body, message = NOWHERE[case]
    name = "vprintf" if "vprintf" in body else "outside"
    module = call_programs.HEAD.format(target="sm_90") + declared.replace("{name}", name) + call_programs.entry(body)
    with pytest.raises(oric.CompileError) as error:
        oric.compile(module, arch="sm_90")
    assert str(error.value) == f"<ptx>: error: {message}"
    (tmp_path / "k.ptx").write_text(module)
    done = subprocess.run([ptxas, "-arch=sm_90", "k.ptx"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode and message in done.stdout + done.stderr


EXTERNS = "".join(f".extern .func (.param .b32 r) {name}(.param .b32 n);\n" for name in ("zz", "aa"))
TAKE = "mov.u64 %d3, {0}; st.global.u64 [%d1], %d3; add.u32 %r3, %r2, 1;"
# Variables of the module, what a kernel does, and the function that is told of first: the first that code names.
FIRST = {
    "calls": ("", call("zz", "%r3", "%r2") + call("aa", "%r3", "%r2"), "Unresolved extern function 'zz'"),
    "addresses": ("", TAKE.format("zz") + TAKE.format("aa"), "Cannot take address of function 'zz'"),
    "a call, an address": ("", call("zz", "%r3", "%r2") + TAKE.format("aa"), "Unresolved extern function 'zz'"),
    "an address, a call": ("", TAKE.format("zz") + call("aa", "%r3", "%r2"), "Cannot take address of function 'zz'"),
    "both of one": ("", call("zz", "%r3", "%r2") + TAKE.format("zz"), "Unresolved extern function 'zz'"),
    "both of one, the other way": ("", TAKE.format("zz") + call("zz", "%r3", "%r2"), "Cannot take address of function 'zz'"),
    "a variable, a call": (".global .u64 table[2] = {zz, aa};\n", call("aa", "%r3", "%r2"), "Unresolved extern function 'aa'"),
}  # fmt: skip


def nowhere(case: str) -> tuple[str, str]:
    """A module, and its first message."""
    declared, body, message = FIRST[case]
    return call_programs.HEAD.format(target="sm_90") + EXTERNS + declared + call_programs.entry(body), message


@pytest.mark.parametrize("case", FIRST)
def test_the_first_function_that_is_nowhere(case: str) -> None:
    module, message = nowhere(case)
    with pytest.raises(oric.CompileError) as error:
        oric.compile(module, arch="sm_90")
    assert str(error.value).splitlines()[0] == f"<ptx>: error: {message}"


@pytest.mark.parametrize("case", FIRST)
def test_ptxas_tells_of_the_same_first(case: str, tmp_path: Path, ptxas: str) -> None:
    module, message = nowhere(case)
    (tmp_path / "k.ptx").write_text(module)
    done = subprocess.run([ptxas, "-arch=sm_90", "k.ptx"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode and message in done.stdout + done.stderr


ALIAS = ".func (.param .b32 res) other(.param .b32 p0, .param .b32 p1);\n"
TWICE = ".global .align 8 .u64 both[2] = {plus, other};\n"
SAME = "mov.u64 %d3, plus; mov.u64 %d4, other; setp.eq.u64 %p1, %d3, %d4; mov.u32 %r3, 9; @!%p1 bra END;\n"
DOWN = "add.u32 %r0, %r2, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; sub.u32 %r3, %r1, 1; add.u32 %r4, %r2, %r1; " + call(
    "other", "%r0", "%r3", "%r4"
)
ALIASES = {
    "direct": (ALIAS + function("plus", 2, "add.u32 %r0, %r1, %r2;"), call("other", "%r3", "%r2", "%r1")),
    "through a register": (
        ALIAS + function("plus", 2, "add.u32 %r0, %r1, %r2;"), SAME + indirect("%d4", "%r3", "%r2", "%r1") + " END:",
    ),
    "of a function that calls itself": (
        ALIAS + function("plus", 2, DOWN), "mov.u32 %r4, 0; sub.u32 %r5, %r1, 1; add.u32 %r6, %r2, %r5; add.u32 %r6, %r6, 0;"
        + call("other", "%r3", "%r4", "%r6"),
    ),
    "the address of the alias alone": (
        ALIAS + function("plus", 2, "add.u32 %r0, %r1, %r2;"), "mov.u64 %d4, other;" + indirect("%d4", "%r3", "%r2", "%r1"),
    ),
    "in a table": (
        ALIAS + function("plus", 2, "add.u32 %r0, %r1, %r2;") + TWICE,
        "and.b32 %r4, %r2, 1; mov.u64 %d3, both; mad.wide.u32 %d3, %r4, 8, %d3; ld.global.u64 %d4, [%d3];"
        + indirect("%d4", "%r3", "%r2", "%r1"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("case", ALIASES)
def test_aliases(case: str, late: bool) -> None:
    """Another name is the same function, at the same address, wherever the directive stands; but not behind both addresses."""
    functions, body = ALIASES[case]
    both = case in ("through a register", "in a table")
    alias = ".alias other, plus;\n"
    if not late:
        functions = functions.replace(TWICE, alias + TWICE) if TWICE in functions else functions + alias
    module = call_programs.HEAD.format(target="sm_90") + functions + call_programs.entry(body) + (alias if late else "")
    if late and both:
        with pytest.raises(oric.CompileError, match=r".alias of 'other' behind uses of its address"):
            oric.compile(module, arch="sm_90")
        return
    for level in (0, 3):
        image = oric.compile(module, arch="sm_90", opt_level=level, verify=True).image
        want = [(x + t) & 0xFFFFFFFF for t, x in enumerate(inputs())]
        assert launch(image) == (want, [])


NO_RETURN = (
    ".func stop(.param .b64 p, .param .b32 n) .noreturn\n{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<4>;\n"
    "ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; st.global.u32 [%d1], %r1; setp.eq.u32 %p1, %r1, 0; @%p1 exit;"
    " sub.u32 %r1, %r1, 1;\n"
    "{ .param .b64 a; .param .b32 b; st.param.b64 [a], %d1; st.param.b32 [b], %r1; call stop, (a, b); } exit; }\n"
)


@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_functions_that_do_not_return(target: str) -> None:
    body = (
        "mov.u32 %r3, 7; and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra END; and.b32 %r5, %r2, 3;\n"
        "{ .param .b64 a; .param .b32 b; st.param.b64 [a], %d1; st.param.b32 [b], %r5; call stop, (a, b); }\nEND:"
    )
    module = call_programs.HEAD.format(target=target) + NO_RETURN + call_programs.entry(body)
    for level in (0, 3):
        image = oric.compile(module, arch=target, opt_level=level, verify=True).image
        assert launch(image) == ([0 if t & 1 else 7 for t in range(THREADS)], [])
