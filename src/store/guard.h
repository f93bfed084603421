/*
 * guard: use of memory that may be taken away meanwhile, as that of a mapped
 * file is when somebody truncates it.
 */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Calls work, which keeps nothing that it would have to give back. False if it
 * was broken off, anywhere, by SIGBUS for some byte of that memory. Any other
 * SIGBUS meets what it would have met without us. Not to be called by work.
 */
bool segment_file_guard(
    const void *memory, size_t size, void (*work)(void *with), void *with);

#endif
