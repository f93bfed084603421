/*
 * cases: what happens to single questions on a server with a fault.
 *
 * server: the path of its socket. What is not as expected ends the program.
 */
#ifndef CASES_H
#define CASES_H

/* Accounts with all rights that question_script.h names, and with one less. */
void cases_rights(const char *server);

/* A server that is stopped while it is asked, and continued too late. */
void cases_stopped(const char *server);

/* A server that has just been started. */
void cases_empty(const char *server);

/* What the server refuses, and in which words. */
void cases_errors(const char *server);

/* A server of a cluster, before and after it has its slots. */
void cases_cluster(const char *server);

#endif
