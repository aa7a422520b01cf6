/* Earley's scan with its completions, over numbers: the prototype of `benchmarks/native.py`.

   States, sets, predictions and symbols are numbered; what Python's objects remember lies in tables that were
   filled before. `scan` does what `Earley.scan` does where at most 16 symbols are completed. */

#include <stdint.h>

typedef struct { const int32_t *first, *items; } Lists;           /* list i is items[first[i]] .. items[first[i + 1]] */
typedef struct { const int64_t *keys; const int32_t *values; int64_t mask; } Map; /* open addressing; -1 is free */

typedef struct {
    Lists completed, expected;   /* of a state: what it completes, and the nonterminals behind its dots */
    Lists entries, waiting;      /* of a set: pairs of a state and the set where its rules began */
    Lists after, chain_states;   /* lists of states */
    const int32_t *prediction;   /* of each set */
    const uint8_t *reads;        /* of each state: whether anything may come behind its dots */
    Map gotos;                   /* (state, symbol) to a state */
    Map after_of, chain_of;      /* (prediction, symbol) to a list */
    Map chain_symbols;           /* (chain, symbol): what it completes */
    Map predictions;             /* hash of expected symbols to a prediction */
} Tables;

enum { SYMBOL_BITS = 20, MOST = 4096, SLOTS = 8192, COMPLETIONS = 16 };

static uint64_t mixed(int64_t symbol)
{
    uint64_t one = (uint64_t)(symbol + 1) * 0x9E3779B97F4A7C15u;
    return one ^ one >> 29;
}

static int64_t key_of(int64_t number, int64_t symbol) { return number << SYMBOL_BITS | symbol; }

static int32_t find(const Map *map, int64_t key)
{
    uint64_t at = (uint64_t)key * 0x9E3779B97F4A7C15u >> 20;
    for (;; at++) {
        int64_t found = map->keys[at & map->mask];
        if (found == key) return map->values[at & map->mask];
        if (found < 0) return -1;
    }
}

static int32_t found_state[MOST], found_origin[MOST], todo[MOST];
static uint32_t slot_run[SLOTS], symbol_run[1 << SYMBOL_BITS], run;
static int32_t slot_entry[SLOTS];
static int n_found;

/* Adds an entry unless it is there; whether it was added. */
static int add(int32_t state, int32_t origin)
{
    uint32_t at = (uint32_t)state * 0x9E3779B1u ^ (uint32_t)origin * 0x85EBCA77u;
    for (;; at++) {
        uint32_t slot = at % SLOTS;
        if (slot_run[slot] != run) {
            slot_run[slot] = run;
            slot_entry[slot] = n_found;
            found_state[n_found] = state;
            found_origin[n_found++] = origin;
            return 1;
        }
        int32_t entry = slot_entry[slot];
        if (found_state[entry] == state && found_origin[entry] == origin) return 0;
    }
}

/* The entries of the set behind `symbol` as pairs in `out`, those that wait for a nonterminal marked in
   `waits`, and its prediction in `prediction`. Their number; -1 if more than 16 symbols are completed. */
int scan(const Tables *t, int32_t automaton, int32_t before, int32_t symbol, int32_t *out, uint8_t *waits, int32_t *prediction)
{
    int32_t done_symbol[COMPLETIONS], done_origin[COMPLETIONS];
    int n_done = 0, n_todo = 0, n_kept = 0;
    uint64_t hash = mixed(~(int64_t)automaton);
    run++;
    n_found = 0;
    for (int32_t i = t->entries.first[before]; i < t->entries.first[before + 1]; i += 2) {
        int32_t state = find(&t->gotos, key_of(t->entries.items[i], symbol));
        if (state >= 0) add(state, t->entries.items[i + 1]);
    }
    int32_t list = find(&t->after_of, key_of(t->prediction[before], symbol));
    if (list >= 0)
        for (int32_t i = t->after.first[list]; i < t->after.first[list + 1]; i++) add(t->after.items[i], before);
    for (int i = 0; i < n_found; i++) todo[n_todo++] = i;
    while (n_todo) {
        int32_t entry = todo[--n_todo], ended = found_state[entry], origin = found_origin[entry];
        for (int32_t c = t->completed.first[ended]; c < t->completed.first[ended + 1]; c++) {
            int32_t completed = t->completed.items[c];
            int known = 0;
            for (int i = 0; i < n_done; i++) known |= done_symbol[i] == completed && done_origin[i] == origin;
            if (known) continue;
            if (n_done == COMPLETIONS) return -1;
            done_symbol[n_done] = completed;
            done_origin[n_done++] = origin;
            int32_t chain = find(&t->chain_of, key_of(t->prediction[origin], completed));
            for (int32_t i = t->chain_states.first[chain]; i < t->chain_states.first[chain + 1]; i++)
                add(t->chain_states.items[i], origin);
            for (int32_t w = t->waiting.first[origin]; w < t->waiting.first[origin + 1]; w += 2) {
                int32_t state = t->waiting.items[w], earlier = t->waiting.items[w + 1];
                for (int32_t e = t->expected.first[state]; e < t->expected.first[state + 1]; e++) {
                    int32_t expected = t->expected.items[e];
                    if (find(&t->chain_symbols, key_of(chain, expected)) < 0) continue;
                    if (add(find(&t->gotos, key_of(state, expected)), earlier)) todo[n_todo++] = n_found - 1;
                }
            }
        }
    }
    for (int i = 0; i < n_found; i++) {
        int32_t state = found_state[i], origin = found_origin[i];
        int is_initial = t->entries.first[origin] == t->entries.first[origin + 1];
        int is_waiting = t->expected.first[state] < t->expected.first[state + 1];
        if (!t->reads[state] && !is_initial) continue;
        out[2 * n_kept] = state;
        out[2 * n_kept + 1] = origin;
        waits[n_kept++] = (uint8_t)is_waiting;
        for (int32_t e = t->expected.first[state]; e < t->expected.first[state + 1]; e++) {
            int32_t expected = t->expected.items[e];
            if (symbol_run[expected] != run) hash += mixed(expected);
            symbol_run[expected] = run;
        }
    }
    *prediction = find(&t->predictions, (int64_t)(hash >> 1));
    return n_kept;
}

/* Scans `n` triples of an automaton, a set and a symbol `times` times; the sum of all numbers of entries. */
int64_t repeat(const Tables *t, const int32_t *asked, int n, int times, int32_t *out, uint8_t *waits)
{
    int64_t sum = 0;
    int32_t prediction;
    while (times--)
        for (int i = 0; i < n; i++)
            sum += scan(t, asked[3 * i], asked[3 * i + 1], asked[3 * i + 2], out, waits, &prediction);
    return sum;
}
