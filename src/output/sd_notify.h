/*
 * sd_notify: tells systemd what retry is doing, as sd_notify(3) does.
 *
 * The socket is named by the variable NOTIFY_SOCKET, which the command inherits
 * too.
 */
#ifndef SD_NOTIFY_H
#define SD_NOTIFY_H

/*
 * Sends "STATUS=" and the strings, up to a NULL, as one datagram; control bytes
 * in them are escaped. It never blocks, and errors are ignored. Without the
 * variable it does nothing.
 */
void sd_notify_status(const char *const strings[]);

#endif
