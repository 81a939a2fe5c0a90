#!/bin/sh
# The C compiler without optimising, for code that a test compiles and runs for a moment only.
exec ${QUICK_CC_OF:-cc} "$@" -O0 -g0
