/*
 * accesses: a check gives a module these in place of the atomic accesses; the
 * module has no others. Included between the module's header and its source.
 */
#include <stdbool.h>
#include <stdint.h>

#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_fetch_or
#undef atomic_fetch_and

static uint64_t load(const _Atomic uint64_t *at);
static bool exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired);

#define atomic_load(at) load(at)
#define atomic_compare_exchange_strong(at, expected, desired) exchange(at, expected, desired)
