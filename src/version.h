/*
 * version: the version of retry.
 */
#ifndef VERSION_H
#define VERSION_H

#ifndef VERSION
#define VERSION "0.1.0"
#endif

#endif
