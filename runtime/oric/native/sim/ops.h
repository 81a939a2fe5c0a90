/* What `call NAME(...)` in the spec's `meaning` column names: operations on a whole warp. */
#ifndef ORIC_SIM_OPS_H
#define ORIC_SIM_OPS_H
#include "arith/math.h"
#include "sim/value.h"

#define SIM_OP(name, ...) void sim_do_##name(sim_warp *w, uint32_t mask, __VA_ARGS__)
typedef const oric_operand *sim_opd;

enum { GLOBAL = ORIC_MEM_GLOBAL, SHARED = ORIC_MEM_SHARED, LOCAL = ORIC_MEM_LOCAL, CLUSTER = ORIC_MEM_CLUSTER, GENERIC = 16 };
/* How an address is formed: 32-bit base, 64-bit base, 32-bit base zero-extended before a 64-bit uniform base is added. */
enum { A32 = 0, A64, A32_UR64 };
/* Groups of asynchronous copies: the names of sim/async.h. */
enum { COPIES = 0, BULK = 1 };

/* Memory (sim/ops_memory.c). `pred` operands must be absent or always true: their meaning is not known. */
SIM_OP(load, int space, int how, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale, unsigned size);
SIM_OP(store, int space, int how, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale, sim_opd Rb, unsigned size);
SIM_OP(load_generic, unsigned order, int how, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned size);
SIM_OP(store_generic, unsigned order, int how, sim_opd Ra, sim_opd off, sim_opd URa, sim_opd Rb, unsigned size);
SIM_OP(load_constant, sim_opd Rd, sim_opd Ra, sim_opd cb, sim_opd off, unsigned size);
SIM_OP(copy_async, int how, sim_opd Rs, sim_opd offs, sim_opd Ra, sim_opd off, sim_opd URa, sim_opd Pr, unsigned size, unsigned zfill);
SIM_OP(close_copies, int by);
SIM_OP(load_256, int how, sim_opd Rv, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned words);
SIM_OP(store_256, int how, sim_opd Ra, sim_opd off, sim_opd URa, sim_opd Rb, sim_opd Rc);
SIM_OP(uniform_store, sim_opd URa, sim_opd off, sim_opd URb, unsigned size);
SIM_OP(uniform_reduce, sim_opd URa, sim_opd off, sim_opd URb, unsigned op, unsigned type);
SIM_OP(clear_shared, sim_opd URa, sim_opd off, sim_opd URc);
SIM_OP(load_constant_uniform, sim_opd URd, sim_opd URa, sim_opd cb, sim_opd off, unsigned size);
SIM_OP(load_reduced, int how, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned type);
SIM_OP(query_space, int how, sim_opd Pd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned space);

/* Atomics (sim/ops_atomic.c). */
SIM_OP(atomic, int space, int how, sim_opd Pd, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale, sim_opd Rb, unsigned op, unsigned type);
SIM_OP(compare_and_swap, int space, int how, sim_opd Pd, sim_opd Rd, sim_opd Ra, sim_opd off, unsigned scale, sim_opd Rb, sim_opd Rc, unsigned type, unsigned op);
SIM_OP(atomic_count, int space, int how, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale);
SIM_OP(compare_and_swap_test, sim_opd Pd, sim_opd Ra, sim_opd off, unsigned scale, sim_opd Rb, sim_opd Rc, unsigned type);

/* mbarriers (sim/mbarrier.c). */
SIM_OP(mbarrier_exchange, sim_opd URd, sim_opd URa, sim_opd off, sim_opd URb);
SIM_OP(mbarrier_arrive, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, sim_opd Rb, unsigned tx, unsigned drop, unsigned together);
SIM_OP(mbarrier_test, sim_opd Pd, sim_opd Ra, sim_opd off, sim_opd URa, sim_opd Rb, unsigned trywait);
SIM_OP(mbarrier_arrive_plain, int space, int how, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale);
SIM_OP(mbarrier_follow_copies, sim_opd Ra, sim_opd off, sim_opd URa, unsigned count);

/* Copy engines (sim/ops_bulk.c, sim/ops_tensor.c). */
SIM_OP(bulk_copy, unsigned to, unsigned from, sim_opd URb, sim_opd URa, sim_opd URc, unsigned multicast, int masked);
SIM_OP(bulk_reduce, unsigned to, sim_opd URb, sim_opd URa, sim_opd URc, unsigned op, unsigned type);
SIM_OP(store_async, sim_opd Ra, sim_opd off, sim_opd Rb, unsigned size);
SIM_OP(reduce_async, sim_opd Ra, sim_opd off, sim_opd Rb, unsigned op, unsigned type);
SIM_OP(tensor_load, sim_opd URb, sim_opd URa, sim_opd URc, unsigned dim, unsigned mode, int multicast, int pair);
SIM_OP(tensor_store, sim_opd URb, sim_opd URa, unsigned dim, unsigned mode);
SIM_OP(tensor_reduce, sim_opd URb, sim_opd URa, unsigned dim, unsigned mode, unsigned op);

/* Warp-wide (sim/ops_warp.c). */
SIM_OP(shuffle, sim_opd Rd, sim_opd Pd, sim_opd Ra, sim_opd Rb, sim_opd Rc, unsigned mode);
SIM_OP(vote, sim_opd Rd, sim_opd Pp, sim_opd Pd, unsigned op);
SIM_OP(match, sim_opd Rd, sim_opd Ra, sim_opd Pd, unsigned mode, unsigned size);
SIM_OP(reduce, sim_opd URd, sim_opd Ra, unsigned op, unsigned sign);
SIM_OP(reduce_extreme, sim_opd URd, sim_opd Ra, unsigned op, unsigned type, unsigned nan);
SIM_OP(elect, sim_opd URd, sim_opd Pp, sim_opd Pd);
SIM_OP(to_uniform, sim_opd URd, sim_opd Ra, sim_opd Pu, unsigned also, unsigned fill);
SIM_OP(special, sim_opd Rd, sim_opd SR, unsigned words);
SIM_OP(predicates_to_register, sim_opd Rd, sim_opd Ra, sim_opd Rb, unsigned byte, unsigned uniform);
SIM_OP(register_to_predicates, sim_opd Ra, sim_opd Rb, unsigned byte, unsigned uniform);

/* Fraction bits that a sum of products keeps below its largest partial sum; the perturbation of a launch stays within. */
enum { SIM_KEEPS_F16 = 10, SIM_KEEPS_FP8 = 13, SIM_KEEPS_F32 = 23 };
/* Fragments of matrices and products of a warp (sim/ops_fragment.c, sim/ops_matrix.c). `width` 0: that of the format. */
SIM_OP(load_matrix, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned type, unsigned layout, unsigned count);
SIM_OP(store_matrix, sim_opd Ra, sim_opd off, sim_opd URa, sim_opd Rb, unsigned layout, unsigned count);
SIM_OP(move_fragment, sim_opd Rd, sim_opd Ra, unsigned type);
SIM_OP(multiply_floats, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, unsigned shape, unsigned ctype, unsigned atype, unsigned btype, unsigned width, unsigned bits);
SIM_OP(multiply_sparse_floats, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd Re, sim_opd sel, unsigned shape, unsigned ctype, unsigned atype, unsigned btype, unsigned width, unsigned bits);
SIM_OP(multiply_scaled, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd Rs, sim_opd Rt, sim_opd URe, unsigned k, unsigned atype, unsigned btype, unsigned width, unsigned stype, unsigned blocks);
SIM_OP(multiply_sparse_scaled, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd Rs, sim_opd Rt, sim_opd URe, sim_opd sel, unsigned k, unsigned atype, unsigned btype, unsigned width, unsigned stype, unsigned blocks);
SIM_OP(multiply_integers, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, unsigned shape, unsigned atype, unsigned btype, unsigned sat);
SIM_OP(multiply_sparse_integers, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd Re, unsigned sel, unsigned shape, unsigned atype, unsigned btype, unsigned sat);
SIM_OP(multiply_bits, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, unsigned shape, unsigned op);
SIM_OP(multiply_doubles, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, unsigned shape, unsigned rnd);
SIM_OP(multiply_quads, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, unsigned types, unsigned step, unsigned acol, unsigned bcol);

/* Products of a group of warps (sim/ops_warpgroup.c). */
SIM_OP(group_floats, sim_opd Rd, sim_opd Rc, sim_opd Ra, sim_opd URa, sim_opd URb, sim_opd UPp, sim_opd Re, uint32_t selector, unsigned n, unsigned k, unsigned ctype, unsigned atype, unsigned btype, unsigned tnspa, unsigned tnspb, unsigned nega, unsigned negb, unsigned keeps);
SIM_OP(group_integers, sim_opd Rd, sim_opd Rc, sim_opd Ra, sim_opd URa, sim_opd URb, sim_opd UPp, sim_opd Re, uint32_t selector, unsigned n, unsigned k, unsigned atype, unsigned btype, unsigned sat);
SIM_OP(group_bits, sim_opd Rd, sim_opd Rc, sim_opd Ra, sim_opd URa, sim_opd URb, sim_opd UPp, unsigned n, unsigned k);

/* Tensor memory (sim/ops_tensor_memory.c, sim/ops_tensor_product.c). */
enum { KIND_F16 = 1, KIND_I8, KIND_F8F6F4, KIND_MXF8F6F4, KIND_MXF4 };
SIM_OP(tmem_take, sim_opd UPd, sim_opd URd, sim_opd URb, unsigned align, unsigned pair);
SIM_OP(tmem_change, sim_opd URd, sim_opd URb, unsigned either);
SIM_OP(tmem_load, sim_opd Rd, sim_opd URb, sim_opd off, unsigned shape, unsigned count, unsigned pack);
SIM_OP(tmem_load_extreme, sim_opd Rv, sim_opd Rd, sim_opd URb, sim_opd off, unsigned shape, unsigned count, unsigned op, unsigned type, unsigned nan);
SIM_OP(tmem_store, sim_opd URc, sim_opd off, sim_opd Rb, unsigned shape, unsigned count, unsigned expand);
SIM_OP(tmem_copy, sim_opd URa, sim_opd off, sim_opd URb, unsigned shape, unsigned pair);
SIM_OP(tmem_commit, sim_opd URa, sim_opd URb, sim_opd URc, unsigned multicast);
SIM_OP(tmem_multiply, sim_opd URa, sim_opd URt, sim_opd URb, sim_opd URc, sim_opd URe, sim_opd URf, sim_opd UPp, int kind, unsigned pair, unsigned ws, unsigned scale);
SIM_OP(tmem_multiply_scaled, sim_opd URa, sim_opd URt, sim_opd URb, sim_opd URc, sim_opd URe, sim_opd URf, sim_opd UPp, int kind, unsigned pair, unsigned blocks);
/* Textures and surfaces (sim/texture.c, sim/surface.c). */
enum { TEXTURE_HANDLE = 1, TEXTURE_HALVES = 2, TEXTURE_INTEGERS = 4, TEXTURE_GATHER = 8, TEXTURE_DERIVATIVES = 16, TEXTURE_OF_QUADS = 32 };
#define TEXTURE_QUADS(ndv) ((ndv) == V_NDV ? TEXTURE_OF_QUADS : 0) /* the level of detail is that of differences in the quad */
SIM_OP(texture, unsigned flags, sim_opd Rd, sim_opd Rv, sim_opd Ra, sim_opd Rb, sim_opd bank, sim_opd slot, sim_opd URa, unsigned dim, unsigned wanted, unsigned lod, unsigned aoffi, unsigned component);
SIM_OP(query_texture, unsigned flags, sim_opd Rd, sim_opd Rv, sim_opd Ra, sim_opd bank, sim_opd slot, sim_opd URa, unsigned wanted);
SIM_OP(load_surface, sim_opd Rd, sim_opd Ra, sim_opd Rc, sim_opd bank, sim_opd slot, sim_opd URa, unsigned dim, unsigned clamp, unsigned size);
SIM_OP(store_surface, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd bank, sim_opd slot, sim_opd URa, unsigned dim, unsigned clamp, unsigned size);
SIM_OP(atomic_surface, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd bank, sim_opd slot, sim_opd URa, unsigned dim, unsigned clamp, unsigned op, unsigned type);
SIM_OP(compare_and_swap_surface, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd bank, sim_opd slot, sim_opd URa, unsigned dim, unsigned clamp, unsigned type);
extern const oric_operand sim_no_operand;

/* Control flow (sim/ops_flow.c). */
SIM_OP(branch, sim_opd target, sim_opd Pp, unsigned mode, sim_opd UPq);
SIM_OP(branch_indirect, sim_opd Ra, sim_opd off, sim_opd Pp, unsigned absolute);
SIM_OP(branch_absolute, sim_opd address, sim_opd Pp);
SIM_OP(exit, sim_opd Pp);
SIM_OP(set_convergence, sim_opd Bd, sim_opd Pp);
SIM_OP(converge, sim_opd Ba, sim_opd Pp);
SIM_OP(leave_convergence, sim_opd Ba, sim_opd Pp);
SIM_OP(warpsync, sim_opd Ra, sim_opd Pp, unsigned exclusive);
SIM_OP(collective, sim_opd Ra, sim_opd target, sim_opd Pp);
SIM_OP(end_collective, sim_opd Pp);
SIM_OP(yield, sim_opd Pp);
SIM_OP(read_convergence, sim_opd Rd, sim_opd Ba, unsigned clear);
SIM_OP(write_convergence, sim_opd Bd, sim_opd Rb);
SIM_OP(move_convergence, sim_opd Bd, sim_opd Ba, unsigned clear);
SIM_OP(move_active, sim_opd Bd, sim_opd Ba, unsigned pquad);
SIM_OP(barrier, sim_opd Ra, sim_opd Rb, sim_opd Pp, int wait, unsigned reduction);
SIM_OP(next_work, sim_opd URa, unsigned cast);
SIM_OP(cluster_arrive, int unused);
SIM_OP(cluster_wait, int unused);
SIM_OP(barrier_result, sim_opd Rd, sim_opd Pu);
SIM_OP(program_counter, sim_opd Rd, sim_opd target);
SIM_OP(set_scratch, sim_opd Rb, int high);
SIM_OP(get_scratch, sim_opd Rd, int high);
SIM_OP(trap, unsigned code);
SIM_OP(nothing, int unused);
SIM_OP(registers_take, sim_opd UPu, sim_opd URb);
SIM_OP(registers_give, sim_opd URb);

/* Conversions (sim/ops_convert.c). */
SIM_OP(float_to_float, sim_opd Rd, sim_opd Rb, unsigned dtype, unsigned stype, unsigned rnd, unsigned ftz, unsigned part);
SIM_OP(float_to_int, sim_opd Rd, sim_opd Rb, unsigned dtype, unsigned stype, unsigned rnd, unsigned ftz, unsigned ntz, unsigned part);
SIM_OP(int_to_float, sim_opd Rd, sim_opd Rb, unsigned dtype, unsigned stype, unsigned rnd, unsigned byte, unsigned half);
SIM_OP(round_to_integer, sim_opd Rd, sim_opd Rb, unsigned type, unsigned rnd, unsigned ftz, unsigned part);

/* Pairs of singles (sim/ops_pair.c): a operand's `swizzle` says which words are the low and the high number, `np` negates the high one. */
SIM_OP(pair_add, sim_opd Rd, sim_opd Ra, unsigned swza, unsigned npa, sim_opd Rb, unsigned swzb, unsigned npb, unsigned rnd, unsigned ftz);
SIM_OP(pair_mul, sim_opd Rd, sim_opd Ra, unsigned swza, unsigned npa, sim_opd Rb, unsigned swzb, unsigned rnd, unsigned ftz);
SIM_OP(pair_fma, sim_opd Rd, sim_opd Ra, unsigned swza, unsigned npa, sim_opd Rb, unsigned swzb, sim_opd Rc, unsigned swzc, unsigned npc,
       unsigned rnd, unsigned ftz);

/* The multifunction unit (sim/mufu.c). */
uint32_t sim_mufu(const oric_sim *sim, unsigned fn, unsigned type, unsigned part, uint32_t bits, int neg, int abs);

/* Generated from the table of system registers: the value for a lane; 0 and *known = 0 for one without a meaning. */
uint64_t sim_special_register(sim_warp *w, uint32_t lane, uint64_t number, int *known);
#endif
