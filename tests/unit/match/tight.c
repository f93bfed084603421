/*
 * The tests of gathered.c with a table of few states, which is full again and
 * again, and with calls that end early: `unit match/gathered` runs both.
 */
#define PATTERN_STATES 128
#define pattern_add tight_add
#define pattern_compile tight_compile
#define pattern_end tight_end
#define PATTERN_TOIL 1000
#define pattern_feed tight_feed
#define pattern_feed_some tight_feed_some
#define pattern_gather tight_gather
#define pattern_hint_end tight_hint_end
#define pattern_hint_feed tight_hint_feed
#define pattern_hint_start tight_hint_start
#define pattern_seen tight_seen
#define pattern_start tight_start
#include "match/pattern.c"
#include "gathered.c"
