/*
 * message: the words of one message about a step, part by part.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "attempt/event_loop.h"
#include "policy/plan.h"
#include "report/report.h"

/* The most bytes of all parts of a message. */
#define MESSAGE_TEXT 6000

/* The most bytes of what is quoted from an output or from a LIST. */
#define MESSAGE_QUOTE 100

struct message {
	struct event_loop *loop;
	const struct policy *policy;
	const struct history *history;
	const struct step *step;
	struct report *report; /* keeps the words; NULL: there is none */
	enum loudness least;
	bool attempted; /* it is about an attempt */
	bool continues; /* a second line says more about the end */
	const char *parts[24]; /* of the words, up to a NULL */
	char *text; /* what they point to: MESSAGE_TEXT bytes, and one more */
	char quote[MESSAGE_QUOTE + 4];
	int64_t used; /* bytes of text */
	int count; /* of parts */
};

/*
 * Adds a part, which printf(3) makes of the format. Of a long part the log cuts
 * off the end, so a text of any length stands there.
 */
__attribute__((format(printf, 2, 3))) void
message_put(struct message *message, const char *format, ...);

/* Writes the parts to room; of a long text only the beginning, and "...". */
void message_keep(char room[REPORT_TEXT + 4], const struct message *message);

/* Begins anew, without parts. */
void message_clear(struct message *message);

#endif
