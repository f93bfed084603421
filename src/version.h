/*
 * version: the version of retry.
 */
#ifndef VERSION_H
#define VERSION_H

#ifndef VERSION
#define VERSION "1.0.0"
#endif

#endif
