#include "cores.h"

#include <err.h>
#include <stdlib.h>

void
cores_start(struct cores *cores, int64_t count)
{
	*cores = (struct cores){ .idle = count };
}

void
cores_end(struct cores *cores)
{
	for (size_t i = 0; i < KINDS; i++)
		free(cores->lines[i].pieces);
	cores_start(cores, 0);
}

/* Makes room for one more; the oldest piece comes first then. */
static void
grow(struct line *line)
{
	size_t room = line->room == 0 ? 256 : 2 * line->room;
	struct piece *pieces = malloc(room * sizeof *pieces);

	if (pieces == NULL)
		err(1, "cores");
	for (size_t i = 0; i < line->count; i++)
		pieces[i] = line->pieces[(line->first + i) % line->room];
	free(line->pieces);
	*line = (struct line){
		.pieces = pieces, .count = line->count, .room = room
	};
}

bool
cores_offer(struct cores *cores, enum kind kind, const struct piece *piece)
{
	struct line *line = &cores->lines[kind];

	if (cores->idle > 0) {
		cores->idle--;
		return true;
	}
	if (line->count == line->room)
		grow(line);
	line->pieces[(line->first + line->count++) % line->room] = *piece;
	return false;
}

bool
cores_next(struct cores *cores, struct piece *piece)
{
	for (size_t i = 0; i < KINDS; i++) {
		struct line *line = &cores->lines[i];

		if (line->count == 0)
			continue;
		*piece = line->pieces[line->first];
		line->first = (line->first + 1) % line->room;
		line->count--;
		return true;
	}
	cores->idle++;
	return false;
}
