/* LDSM, STSM, MOVM: matrices of 8 x 8 (16 x 16, 16 x 8) elements between shared memory and the fragments of a warp. */
#include "sim/matrix.h"

typedef struct {
    uint8_t bytes[16];
} matrix_row;

static void row_addresses(sim_warp *w, uint32_t mask, sim_opd Ra, sim_opd off, sim_opd URa, uint32_t *out)
{
    uint32_t room[SIM_LANES], add = (uint32_t)off->value;
    if (URa->kind == ORIC_K_UGPR && URa->reg < 255)
        add += w->UR[URa->reg];
    const uint32_t *base = sim_get32(w, mask, Ra, room, SIM_AS_BITS);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = base[l] + add;
}

static uint32_t matrices(unsigned count) { return count == V_4 ? 4 : count == V_2 ? 2 : 1; }

/* 16 elements of 4 or 6 bits become bytes; bytes stay. */
static matrix_row unpacked(const uint8_t *from, unsigned type)
{
    matrix_row row;
    uint32_t words[4];
    memcpy(row.bytes, from, 16);
    memcpy(words, from, 16);
    if (type == V_U4x16P64TO8)
        for (uint32_t i = 0; i < 16; i++)
            row.bytes[i] = words[i / 8] >> (i % 8 * 4) & 15;
    if (type == V_U6x16P32TO8)
        for (uint32_t i = 0; i < 16; i++) {
            uint64_t pair = words[i * 6 / 32] | (uint64_t)words[i * 6 / 32 + 1] << 32;
            row.bytes[i] = (uint8_t)(pair >> (i * 6 % 32) & 63);
        }
    return row;
}

static uint32_t word_of(const matrix_row *row, uint32_t index)
{
    uint32_t word;
    memcpy(&word, row->bytes + 4 * index, 4);
    return word;
}

static uint32_t half_of(const matrix_row *row, uint32_t index)
{
    uint16_t half;
    memcpy(&half, row->bytes + 2 * index, 2);
    return half;
}

/* Lane (g, t) = 4g + t of a transposed 16 x 16 byte matrix: two rows each of columns g and g + 8. */
static uint32_t byte_square(const matrix_row *rows, uint32_t g, uint32_t first)
{
    const uint8_t *low = rows[first].bytes, *high = rows[first + 1].bytes;
    return low[g] | (uint32_t)high[g] << 8 | (uint32_t)low[g + 8] << 16 | (uint32_t)high[g + 8] << 24;
}

SIM_OP(load_matrix, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned type, unsigned layout, unsigned count)
{
    uint32_t at[SIM_LANES], *to[8], n = matrices(count), tall = layout == V_MT1616 ? 16 : 8, words = n * tall / 8;
    matrix_row rows[SIM_LANES];
    if (!sim_whole_warp(w, mask) || !sim_rows(w, mask, Rd, words, to))
        return;
    if (n * tall > SIM_LANES) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, 0, "more rows than lanes");
        return;
    }
    row_addresses(w, mask, Ra, off, URa, at);
    for (uint32_t l = 0; l < n * tall; l++) {
        const uint8_t *from = sim_address(w, l, SHARED, at[l], 16, 0);
        if (!from)
            return;
        rows[l] = unpacked(from, type);
    }
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        uint32_t g = l / 4, t = l % 4;
        for (uint32_t i = 0; i < words; i++) {
            if (!to[i])
                continue;
            if (layout == V_MT1616)
                to[i][l] = byte_square(rows + i / 2 * 16, g, 4 * t + i % 2 * 2);
            else if (layout == V_MT88)
                to[i][l] = half_of(&rows[8 * i + 2 * t], g) | half_of(&rows[8 * i + 2 * t + 1], g) << 16;
            else
                to[i][l] = word_of(&rows[8 * i + g], t);
        }
    }
}

/* The row of 16 bytes that lane `row` of matrix `from` stores. */
static matrix_row gathered(const uint32_t *from, uint32_t row, unsigned layout)
{
    matrix_row out;
    memset(&out, 0, sizeof out);
    if (!from)
        return out;
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t lane, byte;
        if (layout == V_MT168) {
            lane = i % 8 * 4 + row / 2;
            byte = row % 2 + i / 8 * 2;
        } else if (layout == V_MT88) {
            lane = i / 2 * 4 + row / 2;
            byte = row % 2 * 2 + i % 2;
        } else {
            lane = row * 4 + i / 4;
            byte = i % 4;
        }
        out.bytes[i] = (uint8_t)(from[lane] >> (8 * byte));
    }
    return out;
}

SIM_OP(store_matrix, sim_opd Ra, sim_opd off, sim_opd URa, sim_opd Rb, unsigned layout, unsigned count)
{
    uint32_t at[SIM_LANES], *from[4], n = matrices(count);
    if (!sim_whole_warp(w, mask) || !sim_rows(w, mask, Rb, n, from))
        return;
    row_addresses(w, mask, Ra, off, URa, at);
    for (uint32_t l = 0; l < n * 8; l++) {
        uint8_t *to = sim_address(w, l, SHARED, at[l], 16, 1);
        if (!to)
            return;
        matrix_row row = gathered(from[l / 8], l % 8, layout);
        memcpy(to, row.bytes, 16);
    }
}

/* Transposes a fragment of 8 x 8 halves. */
static void transpose(sim_warp *w, uint32_t mask, sim_opd Rd, sim_opd Ra)
{
    uint32_t out[SIM_LANES], *from[1];
    if (!sim_whole_warp(w, mask) || !sim_rows(w, mask, Ra, 1, from))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        matrix_row row = gathered(from[0], l / 4, V_MT88);
        out[l] = word_of(&row, l % 4);
    }
    sim_put32(w, mask, Rd, out);
}

/* A fragment of 8 x 32 numbers of 4 bits becomes two of 8 x 16 bytes. */
static void widen(sim_warp *w, uint32_t mask, sim_opd Rd, sim_opd Ra)
{
    uint32_t *from[1], *to[2], in[SIM_LANES] = {0};
    if (!sim_whole_warp(w, mask) || !sim_rows(w, mask, Ra, 1, from) || !sim_rows(w, mask, Rd, 2, to))
        return;
    if (from[0])
        memcpy(in, from[0], sizeof in);
    for (uint32_t l = 0; l < SIM_LANES; l++)
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t word = 0;
            for (uint32_t b = 0; b < 4; b++) {
                uint32_t k = 16 * i + l % 4 * 4 + b;
                word |= (in[l / 4 * 4 + k / 8] >> (k % 8 * 4) & 15) << (8 * b);
            }
            if (to[i])
                to[i][l] = word;
        }
}

SIM_OP(move_fragment, sim_opd Rd, sim_opd Ra, unsigned type)
{
    if (type == V_U4TO8)
        widen(w, mask, Rd, Ra);
    else
        transpose(w, mask, Rd, Ra);
}
