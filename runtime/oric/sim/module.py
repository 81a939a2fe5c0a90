"""Loaded modules and their launches."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from oric_tables._native import ffi, lib
from oric_tables.numbers import LANES, MAX_CLUSTER, SIM_FAULT, SIM_PAUSED, SIM_STEPS, SIM_TIMING

from .arguments import POINTER_BYTES, Array, HostArrays, pack
from .bank import LOCAL_WINDOW, SHARED_WINDOW, launch_values
from .errors import ExecutionError, LaunchError, LoadError, TimeLimit
from .faults import error_of
from .image import USER_BANK, Image
from .modes import Modes
from .reports import Report, leak, reports_of
from .statistics import Statistics, statistics_of, steps_of
from .stream import Stream
from .texture import Sampling, Texture
from .texture import make as make_texture
from .timing import set_machine, timing_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from oric.support.elf import Cubin, Function

HEAP_BYTES: Final = 8 << 20
MAX_STEPS: Final = 1 << 28
_Heap = list[tuple[int, int, bool]]  # address, size, whether it has been freed
_SLICE: Final = 1 << 20  # warp instructions between two looks at signals
_MAX_GRID: Final = (2**31 - 1, 65535, 65535)
_MAX_BLOCK: Final = (1024, 1024, 64)
_SHARED_ALIGN: Final = 16
_STACK_ALIGN: Final = 16
_SHORT_SLICE: Final = 1 << 18  # ... where there is a time limit
_PARAMETER_ALIGN: Final = 256
_CALL_STACK: Final = 1024
_UNKNOWN: Final = 0xFFFFFFFF
_WORKSPACE_BYTES: Final = 8
_MAX_WORKERS: Final = (1 << 32) - 1
_MAX_SHARED: Final = 232448  # of any target
_MAX_LOCAL: Final = 512 << 10
_OTHER_FILL: Final = 0x5A  # of memory that nobody has written
_MOST_FREED: Final = 1024  # released buffers whose names are remembered
_REGISTER_UNIT: Final = 256  # a warp's registers are given out in multiples of this

Dim = int | tuple[int, ...]


class Buffer:
    """Memory of the device that lives across launches; pass it as an argument, or its ``address`` inside a structure."""

    def __init__(self, module: Module, size: int, name: str = "") -> None:
        self._module = module
        self.size = size
        self.address: int = module.allocate(size, name)

    def read(self) -> bytes:
        """The bytes of the buffer."""
        return self._module.image.read(self.address, self.size)

    def write(self, data: bytes | Array, offset: int = 0) -> None:
        """Overwrite bytes from ``offset`` on.

        Raises:
            ValueError: the data reaches past the end.
        """
        raw = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        if offset < 0 or offset + len(raw) > self.size:
            raise ValueError(f"{len(raw)} bytes at {offset} do not fit a buffer of {self.size}")
        self._module.image.write(self.address + offset, raw)

    def belongs_to(self, module: Module) -> bool:
        """Whether this is memory of that module, and has not been freed."""
        return self._module is module and self.address != 0

    def free(self) -> None:
        """Give the memory back; its address is invalid from now on."""
        if self.address:
            self._module.release(self.address)
            self.address = 0


class Module:
    """A loaded cubin. Its global variables keep their values from launch to launch."""

    def __init__(self, data: bytes) -> None:
        self.image = Image(data)
        self._buffers: dict[int, tuple[int, str]] = {}
        self._launches = 0
        self.textures = 0  # handles given out
        self._freed: dict[int, tuple[int, str]] = {}  # the latest

    @property
    def kernels(self) -> list[str]:
        """Names of the kernels."""
        return list(self.image.cubin.kernels)

    def read_global(self, name: str) -> bytes:
        """The bytes of a module variable.

        Raises:
            LoadError: there is none of that name.
        """
        return self.image.read(*self.image.variable(name))

    def write_global(self, name: str, data: bytes | Array) -> None:
        """Set the first bytes of a module variable.

        Raises:
            LoadError: there is none of that name.
            ValueError: the data is longer than the variable.
        """
        raw = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        address, size = self.image.variable(name)
        if len(raw) > size:
            raise ValueError(f"{len(raw)} bytes do not fit variable {name} of {size}")
        self.image.write(address, raw)

    def buffer(self, data: bytes | Array | int, uninitialised: bool = False, name: str = "") -> Buffer:
        """Device memory with the contents of ``data``, or of that many bytes.

        Args:
            data: the contents, or a size.
            uninitialised: of a size: as from cudaMalloc, the bytes have no value until they are written, and the memory checker
                reports who reads them before; otherwise they are zeros.
            name: what messages call it.

        Raises:
            ValueError: contents that are uninitialised.
        """
        if isinstance(data, int):
            made = Buffer(self, data, name)
            if uninitialised:
                lib.oric_sim_set_uninitialised(self.image.sim, made.address)
            return made
        if uninitialised:
            raise ValueError("a buffer with contents is not uninitialised")
        raw = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        made = Buffer(self, len(raw), name)
        made.write(raw)
        return made

    def stream(self) -> Stream:
        """A queue of launches that run in order when it is synchronised."""
        return Stream(self)

    def texture(
        self,
        array: Array,
        kind: str = "2d",
        *,
        layered: bool = False,
        channels: int = 1,
        sampling: Sampling | None = None,
        smaller: Sequence[Array] = (),
    ) -> Texture:
        """A texture with the texels of an array, to pass as an argument.

        Args:
            array: texels; axes from the slowest: layer, cube face (6) or z, y, x, component (with more than one).
            kind: 1d, 2d, 3d, cube.
            layered: the first axis counts layers.
            channels: components of a texel.
            sampling: filter, address modes and so on; the nearest texel, clamped, when left out.
            smaller: the levels of detail behind the first, each of half the size of the one before.

        Raises:
            LaunchError: the array is no such texture.
        """
        return make_texture(self, array, kind, layered, channels, sampling or Sampling(), smaller)

    def surface(self, array: Array, kind: str = "2d", *, layered: bool = False, channels: int = 1) -> Texture:
        """A surface with the texels of an array; what a kernel writes is in its ``read()``.

        Raises:
            LaunchError: the array is no such surface.
        """
        return make_texture(self, array, kind, layered, channels, Sampling())

    def allocate(self, size: int, name: str = "") -> int:
        """Allocate zeroed device memory; returns its address.

        Raises:
            LaunchError: the host has not that much memory.
        """
        address: int = lib.oric_sim_alloc(self.image.sim, size, 0) if 0 <= size < 1 << 63 else 0
        if not address:
            raise LaunchError(f"no memory for a buffer of {size} bytes")
        self._buffers[address] = (size, name or f"buffer {address:#x}")
        return address

    def release(self, address: int) -> None:
        """Free device memory."""
        lib.oric_sim_release(self.image.sim, address)
        gone = self._buffers.pop(address, None)
        if gone is not None:
            self._freed[address] = gone
            if len(self._freed) > _MOST_FREED:
                del self._freed[next(iter(self._freed))]

    def launch(
        self,
        name: str,
        grid: Dim,
        block: Dim,
        args: Iterable[Any] = (),
        shared_bytes: int = 0,
        max_steps: int = MAX_STEPS,
        stack_bytes: int = 0,
        modes: Modes | None = None,
        cluster: Dim | None = None,
        heap_bytes: int = HEAP_BYTES,
        cooperative: bool = False,
        max_seconds: float | None = None,
        output: Callable[[str], object] | None = None,
        progress: Callable[[int, int, int], None] | None = None,
    ) -> Statistics:
        """Run a kernel to its end.

        Args:
            name: the kernel.
            grid: CTAs in x, y, z (missing ones are 1).
            block: threads of a CTA in x, y, z.
            args: one value for each parameter. A numpy array is a device buffer: its elements (in C order) are copied
                in, and after the launch back in place. A `Buffer` or an int is an address or a number, a float a
                number of the parameter's size, ``bytes`` a structure.
            shared_bytes: dynamic shared memory of a CTA.
            max_steps: warp instructions after which the launch is given up.
            stack_bytes: more local memory for each thread than the cubin asks for (deep recursion).
            modes: strict mode, memory checker, clock and so on; none of them when left out.
            cluster: CTAs of a cluster in x, y, z; when left out what the kernel says, or no clusters.
            heap_bytes: what malloc() of the device can give away.
            cooperative: the CTAs may wait for each other (``grid.sync()`` of cooperative groups).
            max_seconds: time after which the launch is given up.
            output: called with the text that printf() of the device has written, as the launch goes on.
            progress: called now and then with the CTAs that have ended, those of the grid, and the warp instructions so far.

        Raises:
            LaunchError: the launch is not possible. Nothing has run.
            ExecutionError: a thread made a fault; the subclass says which. Arrays are as they were before.
        """
        kernel = self.image.cubin.kernels.get(name) if isinstance(name, str) else None
        if kernel is None:
            known = ", ".join(self.kernels) or "none"
            raise LaunchError(f"no kernel '{name}' in the module (it has: {known})")
        shape = None if cluster is None else _triple("cluster", cluster)
        dynamic = _whole("shared_bytes", shared_bytes)
        record = self._geometry(kernel, _triple("grid", grid), _triple("block", block), dynamic)
        explicit = self._clusters(kernel, record, shape)
        record.max_steps = _whole("max_steps", max_steps, least=1)
        record.heap_bytes = _whole("heap_bytes", heap_bytes)
        record.cooperative = bool(cooperative)
        _check_seconds(max_seconds)
        modes = modes or Modes()
        _whole("workers", modes.workers, most=_MAX_WORKERS)
        modes.fill(record)
        set_machine(self.image, record)
        record.local_bytes = _local_bytes(self.image.cubin, kernel, _whole("stack_bytes", stack_bytes))
        values = self._values(args)
        if len(values) != len(kernel.params):
            raise LaunchError(f"kernel {name} takes {len(kernel.params)} parameters, {len(values)} given")
        host = HostArrays([(i, v) for i, v in enumerate(values) if isinstance(v, np.ndarray)])
        blocks: list[int] = []
        try:
            for number, size in enumerate(host.sizes()):
                blocks.append(self.allocate(size, host.name(number)))
                self.image.write(blocks[-1], host.fill(number))
            area = self._parameters(kernel, values, host, blocks)
            blocks.append(self._parameter_copy(kernel, area))
            if cooperative:
                blocks.append(self._workspace())
            self._set_banks(kernel, record, area, explicit, blocks[len(host.sizes()) :])
            before = self._contents() if modes.memcheck else {}
            heap = self._heap()
            printed = self._run(name, record, max_seconds, output, progress)
            reports = reports_of(self.image, name, self._neighbours())
            timing = timing_of(self.image) if record.modes & SIM_TIMING else None
            steps = steps_of(self.image.sim) if record.modes & SIM_STEPS else None
            done = statistics_of(self.image.sim, reports, printed, timing, steps)
            if any(r.is_unwritten for r in reports) and not self._matters(name, record, max_seconds, (before, heap), printed):
                done = done._replace(reports=tuple(r for r in reports if not r.is_unwritten))
            for number, size in enumerate(host.sizes()):
                host.take(number, self.image.read(blocks[number], size))
        finally:
            lib.oric_sim_stop(self.image.sim)
            for address in blocks:
                self.release(address)
        return done

    def _values(self, args: Iterable[Any]) -> list[Any]:
        """The arguments as a list; what belongs to another module, or to nobody any more, has no address here."""
        try:
            values = list(args)
        except TypeError:
            raise LaunchError(f"the arguments are {args!r}, not a list of values") from None
        for index, value in enumerate(values):
            if isinstance(value, Buffer) and not value.belongs_to(self):
                raise LaunchError(f"argument {index}: a buffer of another module, or one that has been freed")
        return values

    def _contents(self) -> dict[int, bytes]:
        """What lies in the memory that the module and its callers have allocated, by address."""
        places = [(a, size) for a, (size, _) in self._buffers.items()] + list(self.image.data.values())
        places += [(a, size) for a, size, freed in self._heap() if not freed]
        return {address: self.image.read(address, size) for address, size in places}

    def _matters(
        self, name: str, record: Any, max_seconds: float | None, before: tuple[dict[int, bytes], _Heap], printed: str
    ) -> bool:
        """Whether what the last launch left depends on bytes of shared or local memory that nobody had written.

        Code may read such bytes and not use them, as merges do behind the end of their input. So the launch is done once
        more with other bytes there. Memory is afterwards as the last launch left it.
        """
        contents, heap = before
        if self._heap() != heap:
            return True  # allocations of the first launch cannot be undone
        after = self._contents()
        for address, data in contents.items():
            self.image.write(address, data)
        record.fill = _OTHER_FILL
        try:
            return self._run(name, record, max_seconds, None, None) != printed or self._contents() != after
        except ExecutionError:
            return True
        finally:
            record.fill = 0
            lib.oric_sim_stop(self.image.sim)
            for address, data in after.items():
                self.image.write(address, data)

    def _geometry(self, kernel: Function, grid: tuple[int, int, int], block: tuple[int, int, int], dynamic: int) -> Any:
        """The launch record with sizes, checked against the limits of target and kernel."""
        target = self.image.target
        for axis, size, limit in zip("xyz", grid, _MAX_GRID, strict=True):
            if not 0 < size <= limit:
                raise LaunchError(f"grid.{axis} is {size}, not 1 to {limit}")
        for axis, size, limit in zip("xyz", block, _MAX_BLOCK, strict=True):
            if not 0 < size <= limit:
                raise LaunchError(f"block.{axis} is {size}, not 1 to {limit}")
        threads = block[0] * block[1] * block[2]
        if threads > target.max_threads:
            raise LaunchError(f"a block of {threads} threads: {target.name} has at most {target.max_threads}")
        if kernel.required_threads is not None and block != kernel.required_threads:
            raise LaunchError(f"kernel {kernel.name} requires blocks of {kernel.required_threads}, not {block}")
        if kernel.max_threads is not None:
            most = kernel.max_threads[0] * kernel.max_threads[1] * kernel.max_threads[2]
            if threads > most:
                raise LaunchError(f"a block of {threads} threads: kernel {kernel.name} is made for at most {most}")
        registers = min(kernel.registers or target.max_regs, target.max_regs)
        warps = -(-threads // LANES)
        if warps * (-(-registers * LANES // _REGISTER_UNIT) * _REGISTER_UNIT) > target.regs_per_block:
            raise LaunchError(f"{threads} threads of {registers} registers need more than {target.regs_per_block} registers")
        static = max(kernel.shared_size, target.shared_base)
        total = (-(-static // _SHARED_ALIGN) * _SHARED_ALIGN if dynamic else static) + dynamic
        own = total - target.shared_base  # what lies below belongs to the system and is not counted
        most_shared = target.max_shared or _MAX_SHARED
        if own > most_shared:
            raise LaunchError(f"{own} bytes of shared memory: {target.name} has at most {most_shared} for a block")
        record = ffi.new("oric_sim_launch *", {
            "grid": list(grid), "block": list(block), "entry": self._entry(kernel), "num_regs": registers,
            "shared_base": target.shared_base, "shared_bytes": total, "dynamic_bytes": dynamic,
            "shared_window": SHARED_WINDOW, "local_window": LOCAL_WINDOW, "max_warps": target.warps_per_sm,
            "system_words": target.system_words[0], "system_end": target.system_words[1],
        })  # fmt: skip
        for rank, places in enumerate(target.system_first):
            for address, words in places:
                for i, word in enumerate(words):
                    record.system_first[rank][address // 4 + i] = word
        return record

    def _clusters(self, kernel: Function, record: Any, wanted: tuple[int, int, int] | None) -> bool:
        """Set the shape of the clusters, and the grid where it counts clusters; whether anybody asked for clusters."""
        if kernel.cluster is not None and wanted not in {None, kernel.cluster}:
            raise LaunchError(f"kernel {kernel.name} requires clusters of {kernel.cluster}, not {wanted}")
        shape = wanted or kernel.cluster or (1, 1, 1)
        if wanted is not None and not self.image.target.clusters:
            raise LaunchError(f"{self.image.target.name} has no clusters")
        size = shape[0] * shape[1] * shape[2]
        most = kernel.max_cluster or MAX_CLUSTER
        if min(shape) < 1 or size > min(most, MAX_CLUSTER):
            raise LaunchError(f"a cluster of {shape}: at most {min(most, MAX_CLUSTER)} blocks are possible")
        for axis, count in enumerate(shape):
            if kernel.blocks_are_clusters:
                blocks = record.grid[axis] * count
                if blocks > _MAX_GRID[0]:
                    raise LaunchError(f"grid.{'xyz'[axis]} is {record.grid[axis]} clusters of {count} blocks: too many")
                record.grid[axis] = blocks
            if record.grid[axis] % count:
                raise LaunchError(f"grid.{'xyz'[axis]} is {record.grid[axis]}, no multiple of the {count} blocks of a cluster")
            record.cluster[axis] = count
        return wanted is not None or kernel.cluster is not None

    def _entry(self, kernel: Function) -> int:
        return self.image.code[kernel.name] + self.image.cubin.symbols[kernel.symbol].value

    def _parameters(self, kernel: Function, values: list[Any], host: HostArrays, blocks: list[int]) -> bytes:
        """The parameter area."""
        area = bytearray(kernel.param_size)
        for index, param in enumerate(sorted(kernel.params, key=lambda p: p.ordinal)):
            value = values[index]
            if isinstance(value, np.ndarray):
                if param.size != POINTER_BYTES:
                    raise LaunchError(f"argument {index}: an array given for a parameter of {param.size} bytes")
                number, offset = host.place(index)
                value = blocks[number] + offset
            data = pack(index, param, value)
            if param.offset + param.size > len(area):
                raise LaunchError(f"parameter {index} lies outside of the kernel's parameter area")
            area[param.offset : param.offset + param.size] = data
        return bytes(area)

    def _parameter_base(self, kernel: Function) -> int:
        return kernel.param_base or self.image.target.params

    def _parameter_copy(self, kernel: Function, area: bytes) -> int:
        """The parameters in read-only global memory, aligned as in the constant bank: for code that takes their address."""
        data = bytes(self._parameter_base(kernel) % _PARAMETER_ALIGN) + area
        address: int = lib.oric_sim_alloc(self.image.sim, len(data), 1)
        if not address:
            raise LaunchError("no memory for the parameters")
        self.image.write(address, data)
        self._buffers[address] = (len(data), "parameters")
        return address

    def _workspace(self) -> int:
        """What the driver gives a cooperative launch: a size, and the barrier of its CTAs, 0 at the start."""
        address = self.allocate(_WORKSPACE_BYTES, "workspace of the grid")
        self.image.write(address, _WORKSPACE_BYTES.to_bytes(_WORKSPACE_BYTES, "little"))
        return address

    def _set_banks(self, kernel: Function, record: Any, area: bytes, explicit_cluster: bool, system: list[int]) -> None:
        """Fill the constant banks; `system` has the copy of the parameters and the workspace, if there is one."""
        parameters, workspace = system[0] + self._parameter_base(kernel) % _PARAMETER_ALIGN, sum(system[1:])
        target = self.image.target
        base = self._parameter_base(kernel)
        bank = bytearray(max(len(kernel.constants.get(0, b"")), base + len(area)))
        bank[base : base + len(area)] = area
        self._launches += 1
        constants = self.image.data.get(".nv.constant3", (0, 0))[0]
        values = launch_values(target, record, self._launches, explicit_cluster, (parameters, len(area)), constants, workspace)
        for name, offset, words in target.values:
            if offset + 4 * words <= base:
                bank[offset : offset + 4 * words] = values[name]
        banks: dict[int, bytes] = dict.fromkeys(range(1, 18), b"")
        banks.update(self.image.banks)
        banks.update({n: self.image.patched(s) for n, s in kernel.constant_sections.items()})
        if ".nv.constant3" in self.image.data:
            banks[USER_BANK] = self.image.read(*self.image.data[".nv.constant3"])
        banks[0] = bytes(bank)
        for number, data in banks.items():
            if lib.oric_sim_set_bank(self.image.sim, number, data, len(data)) != 0:
                raise LoadError(f"constant bank {number} is not possible")

    def _run(
        self,
        name: str,
        record: Any,
        max_seconds: float | None,
        output: Callable[[str], object] | None,
        progress: Callable[[int, int, int], None] | None,
    ) -> str:
        """Run to the end; returns what was printed."""
        sim = self.image.sim
        if lib.oric_sim_start(sim, record) != 0:
            raise LaunchError(f"kernel {name} cannot be launched with this geometry")
        until = None if max_seconds is None else time.monotonic() + max_seconds
        steps = _SLICE if until is None else _SHORT_SLICE
        printed, state = "", SIM_PAUSED
        while state == SIM_PAUSED:
            state = lib.oric_sim_run(sim, steps)  # between two slices Python sees an interrupt
            if output is not None:
                printed = _print_rest(self._printed(), printed, output)
            if progress is not None:
                done = lib.oric_sim_statistics(sim)
                progress(done.ctas, record.grid[0] * record.grid[1] * record.grid[2], done.warp_instructions)
            if state == SIM_PAUSED and until is not None and time.monotonic() > until:
                error: ExecutionError = TimeLimit(f"time limit: {max_seconds} seconds are over (kernel {name})", kernel=name)
                break
        else:
            printed = self._printed()
            if state != SIM_FAULT:
                return printed
            error = error_of(self.image, name, lib.oric_sim_fault_info(sim), self._neighbours())
        error.printed = self._printed()
        error.reports = reports_of(self.image, name, self._neighbours())
        raise error

    def _printed(self) -> str:
        size = ffi.new("uint64_t *")
        text = lib.oric_sim_printed(self.image.sim, size)
        return bytes(ffi.buffer(text, size[0])).decode("utf-8", "replace") if size[0] else ""

    def leaks(self) -> tuple[Report, ...]:
        """What device code has allocated with malloc() and not freed so far, as reports of kind ``LEAK``."""
        blocks = [(address, size) for address, size, freed in self._heap() if not freed]
        return tuple(leak(address, size) for address, size in blocks)

    def _heap(self) -> _Heap:
        """Address, size and whether it has been freed, of memory from malloc() of device code."""
        count = lib.oric_sim_heap(self.image.sim, ffi.NULL, 0)
        out = ffi.new("oric_sim_heap_block[]", max(count, 1))
        lib.oric_sim_heap(self.image.sim, out, count)
        return [(out[i].address, out[i].size, out[i].freed != 0) for i in range(count)]

    def _neighbours(self) -> list[tuple[int, int, str]]:
        """Address, bytes and name of the global allocations."""
        made = [(a, size, label) for a, (size, label) in self._buffers.items()]
        made += [(a, size, f"{label}, which has been freed") for a, (size, label) in self._freed.items()]
        made += [(a, size, "memory from malloc") for a, size, _ in self._heap()]
        return made + [(a, size, section) for section, (a, size) in self.image.data.items()]


def _print_rest(text: str, before: str, output: Callable[[str], object]) -> str:
    if len(text) > len(before):
        output(text[len(before) :])
    return text


def _whole(what: str, value: int, least: int = 0, most: int = (1 << 63) - 1) -> int:
    """A number that a caller gave, within its limits."""
    if not isinstance(value, (int, np.integer)) or not least <= value <= most:
        kind = "not a positive number" if least else "not zero or a positive number"
        raise LaunchError(f"{what} is {value!r}, {kind if not isinstance(value, int) or value <= most else 'too many'}")
    return int(value)


def _check_seconds(limit: float | None) -> None:
    if limit is not None and not (isinstance(limit, (int, float)) and limit >= 0):
        raise LaunchError(f"max_seconds is {limit!r}, not zero or a positive number")


def _triple(what: str, value: Dim) -> tuple[int, int, int]:
    if not isinstance(value, (int, np.integer, tuple, list, np.ndarray)):
        raise LaunchError(f"{what} is {value!r}, not up to three numbers")
    sizes = (value,) if isinstance(value, (int, np.integer)) else tuple(value)
    if not 1 <= len(sizes) <= 3 or not all(isinstance(s, (int, np.integer)) for s in sizes):
        raise LaunchError(f"{what} is {value!r}, not up to three numbers")
    x, y, z = (*(int(s) for s in sizes), 1, 1)[:3]
    return x, y, z


def _local_bytes(cubin: Cubin, kernel: Function, more: int) -> int:
    """Local memory of a thread. Where functions are called the cubin may not know: CUDA's default stack then comes on top."""
    known = kernel.min_stack != _UNKNOWN
    wanted = max(kernel.frame_size, kernel.min_stack if known else 0) + more
    behind = any(s.section == kernel.section and s.is_function and s.number != kernel.symbol for s in cubin.symbols)
    if not known or behind or len(cubin.functions) > len(cubin.kernels):
        wanted += _CALL_STACK
    if wanted > _MAX_LOCAL:
        raise LaunchError(f"{wanted} bytes of local memory: a thread has at most {_MAX_LOCAL}")
    return -(-wanted // _STACK_ALIGN) * _STACK_ALIGN


def load(image: bytes) -> Module:
    """Load a cubin.

    Raises:
        LoadError: the bytes are no cubin, or one for a target that is not known.
    """
    return Module(image)
