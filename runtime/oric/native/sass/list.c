/* The text of many instructions at once: a library call for a section, not for an instruction. */
#include "sass/list.h"
#include <stdio.h>
#include <string.h>

enum { LONGEST = 1 << 20 };

long oric_decode_each(int isa, const uint64_t *words, long n, oric_insn *insns) {
    long bad = 0, done = 0;
    while (done < n) {
        int error;
        done += oric_decode_all(isa, words + 2 * done, n - done, insns + done, &error);
        if (done == n)
            break;
        if (error == ORIC_E_OPERATION)
            return -ORIC_E_OPERATION;
        memset(&insns[done], 0, sizeof insns[done]);
        bad++;
        done++;
    }
    return bad;
}

static int print_word(const uint64_t *word, char *out, int size) {
    int n = snprintf(out, (size_t)size, ".word 0x%016llx 0x%016llx", (unsigned long long)word[0], (unsigned long long)word[1]);
    return n < size ? n : -ORIC_E_SPACE;
}

long oric_text_all(int isa, const oric_code *code, long from, char *out, long size, long *used) {
    const oric_labels *given = code->immediates;
    long next = 0, done = 0;
    *used = 0;
    for (long i = from; i < code->n; i++, done++) {
        uint64_t pc = code->pc + (uint64_t)i * ORIC_INSN_BYTES;
        const char *immediate = NULL;
        while (given != NULL && next < given->n && given->address[next] < pc)
            next++;
        if (given != NULL && next < given->n && given->address[next] == pc)
            immediate = given->text[next];
        long rest = size - *used - 1; /* one for the newline */
        int most = rest > LONGEST ? LONGEST : (int)rest;
        int n = -ORIC_E_SPACE;
        if (most > 0)
            n = code->insns[i].op == 0 ? print_word(code->words + 2 * i, out + *used, most)
                                       : oric_print(isa, &code->insns[i], pc, code->labels, immediate, out + *used, most);
        if (n == -ORIC_E_SPACE && done > 0)
            return done;
        if (n < 0)
            return n;
        *used += n;
        out[(*used)++] = '\n';
    }
    return done;
}
