/*
 * launcher: reads which tool npx, uvx and the like fetch and run.
 *
 * A launcher fetches a package, which may fail, and then runs a tool, which may
 * fail, too.
 */
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include <stdbool.h>
#include "text/strview.h"

/*
 * Reads the command line of a launcher, which ends in NULL and has at least one
 * word: npx, npm exec, pnpx, pnx, pnpm dlx, yarn dlx, bunx, bun x, uvx, uv tool
 * run and pipx run. False if it is that of another program, or does not run a
 * tool. *tool is the name of the tool, or of a package with the same name, as
 * it was typed, without a version behind it; empty: it is a file or a URL.
 */
bool launcher_read(char *const command[], struct strview *tool);

#endif
