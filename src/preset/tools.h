/*
 * tools: the table of known tools, and which of their failures are transient.
 *
 * The table is one text, so that it needs no relocation at start-up. A row is a
 * list of fields, and begins with NAME. The rows are sorted by their names. A
 * field that a row does not need is left out, but for NAME, KNOWS, CODES and
 * SOURCE. preset.h says what each field means.
 *
 * To add a tool, add its row and captures of its failures: CONTRIBUTING.md.
 */
#ifndef TOOLS_H
#define TOOLS_H

#define NAME "\0name="
#define KNOWS "\0knows="
#define PROGRAMS "\0programs="
#define CODES "\0codes="
#define OWN "\0own="
#define ERR_FATAL "\0err.fatal="
#define ERR_TRANSIENT "\0err.transient="
#define ERR_FAILED "\0err.failed="
#define OUT_FATAL "\0out.fatal="
#define OUT_TRANSIENT "\0out.transient="
#define OUT_FAILED "\0out.failed="
#define WAIT "\0wait="
#define SOURCE "\0source="

/* All rows: fields that begin with NUL, the last of which ends with two. */
extern const char tools[];

#endif
