/*
 * job_control: the job of a shell's that we are, with the command:
 * whether the command is stopped, and whether somebody waits for our stop.
 */
#ifndef JOB_CONTROL_H
#define JOB_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

/* The signal by which a child of ours is stopped just now, or 0. */
int job_control_stopped(pid_t child);

/*
 * Whether a shell with job control sees us in the foreground, and no prompt is
 * to be had before we end or stop.
 */
bool job_control_watched(void);

#endif
