#!/bin/sh
# Runs the tests that enter C with AddressSanitizer and UndefinedBehaviorSanitizer. Usage: sanitize.sh PYTHON
set -eu
cd "$(dirname "$0")/.."
asan=$(${CC:-cc} -print-file-name=libasan.so)
cp build/oric_tables/*.py build/sanitize/oric_tables/
# The interpreter itself leaks by design; leaks of ours would show as growth, not here.
export LD_PRELOAD="$asan" ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 \
  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 PYTHONPATH=runtime:generator:build/sanitize:. PYTHONMALLOC=malloc
"$1" -m pytest -q -n "$(nproc)" --dist worksteal -o pythonpath="runtime generator build/sanitize ." -p no:cacheprovider -m "not measure" \
  tests/sass tests/sim tests/native tests/regalloc tests/sched tests/encode tests/ir tests/phases \
  tests/ptx/test_scanner.py tests/ptx/test_robustness.py tests/ptx/test_accept.py tests/ptx/test_reject.py
# Damaged and random files and words: loader, decoder, disassembler, analyses.
"$1" -m tests.fuzz --count "${FUZZ:-200000}" --jobs "$(nproc)"
# Random and damaged PTX.
"$1" -m tests.fuzz_ptx --count "${FUZZ_PTX:-50000}" --jobs "$(nproc)"
# Damaged cubins loaded and launched in every mode of the simulator.
"$1" -m tests.fuzz_sim --count "${FUZZ_SIM:-100000}" --jobs "$(nproc)"
