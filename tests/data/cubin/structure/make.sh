#!/bin/sh
# Makes the cubins of this folder again; needs ptxas 13.0.88 on PATH. The PTX names sm_90; other targets get it by replacement.
set -e
cd "$(dirname "$0")"
for source in *.ptx; do
    name="${source%.ptx}"
    targets="sm_75 sm_80 sm_87 sm_89 sm_90"
    [ "$name" = clusters ] && targets="sm_90 sm_90a"
    [ "$name" = branches ] && targets="sm_80 sm_87 sm_89 sm_90" # redux is newer than sm_75
    [ "$name" = limits ] && targets="sm_80 sm_90" # within whose limits its numbers are
    [ "$name" = branches ] || [ "$name" = globals ] && targets="$targets sm_100"
    [ "$name" = shared ] && targets="$targets sm_100 sm_110 sm_120"
    for target in $targets; do
        sed "s/^\.target sm_90/.target $target/" "$source" > "/tmp/$name.ptx"
        (cd /tmp && ptxas -arch "$target" "$name.ptx" -o "$name.$target.cubin")
        mv "/tmp/$name.$target.cubin" .
        rm "/tmp/$name.ptx"
    done
done
