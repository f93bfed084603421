/*
 * cause: tells by which rule an attempt was judged, and what matched it.
 */
#ifndef CAUSE_H
#define CAUSE_H

#include "report/message.h"

/* Adds the words that follow "giving up: ". */
void cause_add(struct message *message);

/* Adds the words that a hint has matched without a time behind them, unless an
 * attempt before has done so, too. */
void cause_add_vague(struct message *message);

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

#endif
