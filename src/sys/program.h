/*
 * program: executes a program, found along PATH as execvp(3) finds it.
 *
 * The rules are those of glibc, whatever libc retry is built with: musl looks
 * in other directories where PATH is not set, gives up at more errors, and
 * leaves a script without #! to its caller.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

/*
 * Executes command, with its words and env. A name without a slash is looked
 * for in the directories of PATH, or in /bin and /usr/bin where that is not
 * set. /bin/sh runs a script without #!, and gets the path where it was found.
 * For that, words[-1] must be there, and is written over. Returns only if the
 * command cannot be executed, with errno. To be called in a child: it does only
 * what a signal handler may do.
 */
void program_execute(char **words, char **env);

#endif
