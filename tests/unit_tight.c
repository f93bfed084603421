/*
 * The same with a table of few states, which is full all the time: emptied, or
 * done without.
 */
#define STATES_MOST 9
#define states_conclude tight_conclude
#define states_crawl tight_crawl
#define states_end tight_states_end
#define states_prepare tight_prepare
#define states_row tight_row
#define states_start tight_states_start
#define states_walk tight_walk
#define pattern_add tight_add
#define pattern_compile tight_compile
#define pattern_end tight_end
#define pattern_feed tight_feed
#define pattern_gather tight_gather
#define pattern_seen tight_seen
#define pattern_start tight_start
#include "match/dfa.c"
#include "match/pattern.c"
#include "unit_gathered.c"
