/* Statistics of memory: sectors of global and local memory, turns of the banks of shared memory. */
#include "sim/state.h"

#define SECTOR_SHIFT 5
#define BANKS 32u
#define BANK_BYTES 4u

/* Different sectors of the lanes' accesses. Neighbours mostly share one, so the search from the last one on ends soon. */
static uint32_t sectors(const sim_traffic *t)
{
    uint64_t seen[4 * SIM_MOST_TRAFFIC];
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t last = (t->address[i] + t->size[i] - 1) >> SECTOR_SHIFT;
        for (uint64_t sector = t->address[i] >> SECTOR_SHIFT; sector <= last; sector++) {
            uint32_t k = count;
            while (k > 0 && seen[k - 1] != sector)
                k--;
            if (k == 0 && count < 4 * SIM_MOST_TRAFFIC)
                seen[count++] = sector;
        }
    }
    return count;
}

/* Turns that the banks need for lanes [first, end): each gives one word in a turn, to all lanes that want that word. */
static uint32_t turns(const sim_traffic *t, uint32_t first, uint32_t end)
{
    uint64_t words[BANKS][SIM_LANES], low = UINT64_MAX, high = 0;
    uint8_t counts[BANKS] = {0};
    uint32_t most = 0;
    for (uint32_t i = first; i < end; i++) {
        uint64_t last = t->address[i] + t->size[i] - 1;
        low = t->address[i] < low ? t->address[i] : low;
        high = last > high ? last : high;
    }
    if (high / BANK_BYTES - low / BANK_BYTES < BANKS)
        return 1; /* no bank has two words there */
    for (uint32_t i = first; i < end; i++) {
        uint64_t last = (t->address[i] + t->size[i] - 1) / BANK_BYTES;
        for (uint64_t word = t->address[i] / BANK_BYTES; word <= last; word++) {
            uint32_t bank = word % BANKS, k = counts[bank];
            while (k > 0 && words[bank][k - 1] != word)
                k--;
            if (k == 0 && counts[bank] < SIM_LANES)
                words[bank][counts[bank]++] = word;
            most = counts[bank] > most ? counts[bank] : most;
        }
    }
    return most;
}

/* Accesses of 8 bytes are made for half of the warp at a time, of 16 bytes for a quarter. */
static uint32_t bank_turns(const sim_traffic *t)
{
    uint32_t size = t->size[0], lanes = size <= BANK_BYTES ? SIM_LANES : size <= 8 ? SIM_LANES / 2 : SIM_LANES / 4, sum = 0;
    for (uint32_t first = 0; first < t->count; first += lanes)
        sum += turns(t, first, first + lanes < t->count ? first + lanes : t->count);
    return sum;
}

static int in_banks(int space) { return space == ORIC_MEM_SHARED || space == ORIC_MEM_CLUSTER; }

void sim_count_warp(sim_warp *w, int space, uint32_t mask, const uint64_t at[SIM_LANES], uint32_t bytes, uint64_t low, uint64_t high)
{
    sim_traffic *t = &w->traffic;
    oric_sim_stats *stats = &w->sim->stats;
    if (t->count)
        sim_count_traffic(w);
    t->space = space;
    /* One turn: the words of as many neighbouring banks; one sector. */
    int one = in_banks(space) ? bytes <= BANK_BYTES && high / BANK_BYTES - low / BANK_BYTES < BANKS
                              : low >> SECTOR_SHIFT == (high + bytes - 1) >> SECTOR_SHIFT;
    if (one) {
        stats->accesses[space]++;
        stats->transactions[space]++;
        stats->bytes[space] += bytes * (uint32_t)__builtin_popcount(mask);
        return;
    }
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (mask >> l & 1)
            t->address[t->count] = at[l], t->size[t->count++] = bytes;
    sim_count_traffic(w);
}

void sim_count_traffic(sim_warp *w)
{
    sim_traffic *t = &w->traffic;
    oric_sim_stats *stats = &w->sim->stats;
    stats->accesses[t->space]++;
    stats->transactions[t->space] += in_banks(t->space) ? bank_turns(t) : sectors(t);
    for (uint32_t i = 0; i < t->count; i++)
        stats->bytes[t->space] += t->size[i];
    t->count = 0;
}

uint64_t oric_sim_op_count(const oric_sim *sim, uint32_t op) { return op < sim_op_count && sim->op_counts ? sim->op_counts[op] : 0; }
