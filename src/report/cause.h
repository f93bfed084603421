/*
 * cause: tells by which rule an attempt was judged, and what matched it.
 */
#ifndef CAUSE_H
#define CAUSE_H

#include "report/message.h"

/* Adds the words that follow "giving up: ". */
void cause_add(struct message *message);

/* What would have waited for the budget, in brackets; "" if nothing would. */
const char *cause_remedy(const struct message *message);

/*
 * Adds "--stop-on 75 (FILE:LINE)", with the item of this option's LISTs that
 * names the outcome, and returns this item. NULL if none does.
 */
const char *cause_add_item(struct message *message, const char *option);

/* Adds the rule by which the latest attempt was judged, and what matched it,
 * for the report; nothing if there is no more to say than how it ended. */
void cause_add_judgement(struct message *message);

/* Adds that a hint has matched and no time was found behind it, if that is to
 * be said. */
void cause_add_vague(struct message *message);

#endif
