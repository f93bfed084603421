/*
 * budget_table: writes budgets as a table for people.
 */
#ifndef BUDGET_TABLE_H
#define BUDGET_TABLE_H

#include "output/writer.h"
#include "report/budget_list.h"

/* The caller flushes the writer. */
void budget_table_put(const struct budget_list *list, struct writer *writer);

#endif
