/*
 * sd_notify: tells systemd, where it listens (SD_NOTIFY_SOCKET), in a STATUS=
 * line what retry is doing: sd_notify(3). The variable is left to the command
 * too.
 */
#ifndef SD_NOTIFY_H
#define SD_NOTIFY_H

/*
 * Sends the strings, ended by NULL, as one datagram; control bytes in them are
 * escaped. It never blocks, and it is no failure if nobody takes it. Does
 * nothing at all without the variable.
 */
void sd_notify_status(const char *const strings[]);

#endif
