/*
 * Runs the tables of tests/unit.
 *
 *     unit              all of them
 *     unit WORD...      those of files with one of these words in the path,
 *                       such as budget/window
 */
#include "unit.h"

int main(int argc, char **argv) { return argc > 0 ? unit_run(argv + 1) : EXIT_FAILURE; }
