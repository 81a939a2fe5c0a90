/* Matrices in shared memory that a matrix descriptor describes. */
#include "sim/descriptor.h"

#define UNIT 16u

static void unpack(const sim_warp *w, uint64_t bits, sim_descriptor *d)
{
    d->cta = w->cta;
    d->start = (uint32_t)(bits & 0x3fff) << 4;
    d->lead = (uint32_t)(bits >> 16 & 0x3fff) << 4;
    d->stride = (uint32_t)(bits >> 32 & 0x3fff) << 4;
    d->base = (uint32_t)(bits >> 49 & 7);
}

int sim_descriptor_of_warpgroup(sim_warp *w, uint64_t bits, sim_descriptor *d)
{
    static const uint32_t spans[] = {16, 128, 64, 32};
    unpack(w, bits, d);
    d->span = spans[bits >> 62];
    return 1;
}

int sim_descriptor_of_tensor(sim_warp *w, uint64_t bits, sim_descriptor *d)
{
    static const uint32_t spans[] = {16, 0, 128, 0, 64, 0, 32, 0};
    unpack(w, bits, d);
    d->span = spans[bits >> 61];
    if (d->span && !(bits >> 52 & 1))
        return 1;
    sim_fault(w, ORIC_FAULT_NO_MEANING, 0, d->span ? "absolute leading dimension of a matrix descriptor" : "swizzle mode of a matrix descriptor");
    return 0;
}

/* Address of a unit: `along` counts units in the contiguous dimension, `across` lines of the other one. */
static uint32_t unit_address(const sim_descriptor *d, int by_row, uint32_t along, uint32_t across)
{
    uint32_t units = d->span / UNIT, at = d->start + across % 8 * d->span;
    if (by_row && units == 1) /* here the leading offset is that of k */
        at += along * d->stride + across / 8 * d->lead;
    else
        at += along % units * UNIT + along / units * d->lead + across / 8 * d->stride;
    return at ^ ((((at >> 7) - d->base) & (units - 1)) << 4);
}

static const uint8_t *unit_at(sim_warp *w, const sim_descriptor *d, int by_row, uint32_t along, uint32_t across)
{
    uint32_t at = unit_address(d, by_row, along, across) & 0x3ffff;
    if (d->cta == w->cta)
        return sim_address(w, 0, ORIC_MEM_SHARED, at, UNIT, 0);
    return sim_address(w, 0, ORIC_MEM_CLUSTER, (uint64_t)d->cta->rank << ORIC_RANK_SHIFT | at, UNIT, 0);
}

static uint32_t element(const uint8_t *unit, sim_packing p, uint32_t i)
{
    uint64_t words[3] = {0, 0, 0};
    memcpy(words, unit, UNIT);
    uint32_t bit = i * p.bits, shift = bit % 64;
    uint64_t value = words[bit / 64] >> shift;
    if (shift + p.bits > 64)
        value |= words[bit / 64 + 1] << (64 - shift);
    return (uint32_t)(value & (0xffffffffull >> (32 - p.bits)));
}

int sim_read_matrix(sim_warp *w, const sim_descriptor *d, sim_packing p, int by_row, uint32_t first, uint32_t rows, uint32_t k, uint32_t *out)
{
    uint32_t from = by_row ? first : 0, to = by_row ? first + rows : k, lines = by_row ? k : rows;
    for (uint32_t line = 0; line < lines; line++) {
        const uint8_t *unit = NULL;
        for (uint32_t i = from; i < to; i++) {
            if (!unit || i % p.each == 0)
                unit = unit_at(w, d, by_row, i / p.each, by_row ? line : first + line);
            if (!unit)
                return 0;
            out[by_row ? (i - first) * k + line : line * k + i] = element(unit, p, i % p.each);
        }
    }
    return 1;
}
