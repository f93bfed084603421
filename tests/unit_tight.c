/*
 * The tests of unit_gathered with a table of few states, which is always full:
 * it is emptied, or not used.
 */
#define DFA_MOST 9
#define dfa_accept tight_accept
#define dfa_run_nfa tight_run_nfa
#define dfa_end tight_states_end
#define dfa_prepare tight_prepare
#define dfa_row tight_row
#define dfa_start tight_states_start
#define dfa_run tight_run
#define pattern_add tight_add
#define pattern_compile tight_compile
#define pattern_end tight_end
#define pattern_feed tight_feed
#define pattern_gather tight_gather
#define pattern_next tight_next
#define pattern_seen tight_seen
#define pattern_start tight_start
#include "match/dfa.c"
#include "match/pattern.c"
#include "unit_gathered.c"
