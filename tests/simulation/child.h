/*
 * child: a process of a storm, which never outlives the driver.
 */
#ifndef CHILD_H
#define CHILD_H

#include <sys/types.h>

/* As fork, but the child gets the signal when the driver ends, however it
 * ends. If there can be no child, the program ends. */
pid_t child_fork(int signal);

#endif
