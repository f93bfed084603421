/*
 * job_control: whether the command is stopped, and a shell waits for retry to
 * stop.
 */
#ifndef JOB_CONTROL_H
#define JOB_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

/* The signal by which a child is stopped now, or 0. */
int job_control_stopped(pid_t child);

/*
 * Whether retry is in the foreground of a shell with job control, which gives
 * no prompt before retry ends or stops.
 */
bool job_control_watched(void);

#endif
