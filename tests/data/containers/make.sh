#!/bin/sh
# Makes the files of this folder with nvcc 13.0, binutils and, for *.txt, nvdisasm 13.1. Run it in a copy of the folder.
set -eu
targets="-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=[sm_90a,compute_90a]"
nvcc $targets --compress-mode=none -fatbin two.cu -o two.none.fatbin
nvcc $targets --compress-mode=speed -Xfatbin -compress-all -fatbin two.cu -o two.lz4.fatbin
nvcc $targets --compress-mode=size -Xfatbin -compress-all -fatbin two.cu -o two.zstd.fatbin
nvcc $targets --compress-mode=size -Xfatbin -compress-all -Xcompiler -fPIC -c two.cu -o two.o
nvcc $targets --compress-mode=speed -Xfatbin -compress-all -Xcompiler -fPIC -rdc=true -c three.cu -o three.o
cc -c main.c -o main.o
ar rcs lib.a two.o main.o three.o
nvcc -cudart shared $targets main.o two.o -o two.exe
strip two.exe
nvcc -arch=sm_90 -lineinfo -cubin lines.cu -o lines.sm_90.cubin
nvcc -arch=sm_80 -rdc=true -cubin object.cu -o object.sm_80.cubin
nvcc -arch=sm_90 -rdc=true -cubin object.cu -o object.sm_90.cubin
nvcc -arch=sm_80 -rdc=true -cubin linked.cu -o linked.sm_80.cubin
nvdisasm -c -gi lines.sm_90.cubin > lines.sm_90.txt
rm two.o three.o main.o
xz -9e lib.a two.exe ./*.cubin
