/*
 * resolver: the addresses of a host, as other programs find them.
 */
#ifndef RESOLVER_H
#define RESOLVER_H

#include <netdb.h>
#include "sys/signals.h"

/* What resolver_find() returns where getent(1) finds nothing. Values of libc
 * are small. */
#define RESOLVER_NOTHING (-1000)

/*
 * Looks up host for a TCP connection to port. It asks getent(1), which finds
 * what applications find, by nsswitch.conf(5): musl's own functions do not read
 * that, and give up at answers that glibc accepts. Where there is no getent, or
 * one that knows no addresses, it asks libc. Returns 0; or what getaddrinfo(3)
 * returns, with errno if that is EAI_SYSTEM. It takes as long as it likes, so
 * it is for a process that does nothing else.
 */
int resolver_find(const char *host, int port, const struct signals *signals,
    struct addrinfo **addresses);

/* Why resolver_find() has found nothing, unless EAI_SYSTEM says why. */
const char *resolver_words(int error);

#endif
