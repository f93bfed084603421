/*
 * arrival: waits until all targets have arrived, and becomes the command behind
 * them.
 */
#ifndef ARRIVAL_H
#define ARRIVAL_H

#include "run.h"

/*
 * Waits until each target was there once, until the deadline, or until a signal
 * that ends the series. Says what is missing, and returns how retry ends.
 */
struct step arrival_await(struct run *run);

/*
 * Becomes the command, with all that retry has got from its caller and nothing
 * of its own; or dies of a signal that came before. To be called when all else
 * is over. If the command cannot be executed, says so and returns the status.
 */
int arrival_become(struct run *run);

#endif
