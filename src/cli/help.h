/*
 * help: what -h, --help, --version and --preset print in place of a run.
 *
 * Each function prints to standard output and exits: with 0, or with
 * EXIT_STATUS_FAILED and a message where not all could be written.
 */
#ifndef HELP_H
#define HELP_H

#include "cli/option.h"
#include "cli/tool.h"
#include "tools/preset.h"

/*
 * Prints the table of all options, or the options to start with. The options to
 * start with and a prompt below them fit a terminal of 24 lines of 80 columns.
 */
_Noreturn void help_options(const struct option *table, bool all);

_Noreturn void help_version(void);

/* Prints all names of presets; each line has what the preset knows, and the
 * programs. Lines with the names and the paths of files of tools follow. */
_Noreturn void help_presets(void);

/*
 * Prints the rules of a name in the order in which they count: those of the
 * file of a tool (NULL: there is none), then a preset, what it knows and from
 * where (NULL: none).
 */
_Noreturn void help_preset(const struct preset *preset, const struct tool *tool,
    const struct given *rules);

#endif
