#include "trace/resource.h"

#include <string.h>
#include "text/strview.h"

/* Decodes text at *room, and moves *room behind it. */
static bool
decode(struct strview text, char **room, struct strview *decoded)
{
	decoded->at = *room;
	if (!strview_unescape(text, *room, text.length, &decoded->length))
		return false;
	*room += decoded->length;
	return true;
}

static bool
same(struct strview a, struct strview b)
{
	return a.length == b.length &&
	    (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

void
resource_set(
    struct resource *resource, struct strview key, struct strview value)
{
	size_t i = 0;

	while (i < resource->count && !same(resource->attributes[i].key, key))
		i++;
	resource->attributes[i] = (struct resource_attribute){ key, value };
	if (i == resource->count)
		resource->count++;
}

/* Adds a member of the list. */
static bool
add(struct resource *resource, struct strview member, char **room)
{
	struct strview key = strview_part(&member, '='), value;

	/* There is no '=', so the key was the whole member. */
	if (member.at == key.at + key.length)
		return strview_trim(key).length == 0;
	if (!decode(strview_trim(key), room, &key) || key.length == 0 ||
	    !decode(strview_trim(member), room, &value))
		return false;
	resource_set(resource, key, value);
	return resource->count <= RESOURCE_MOST;
}

bool
resource_parse(struct resource *resource, struct strview list, char *room)
{
	resource->count = 0;
	while (list.length > 0)
		if (!add(resource, strview_part(&list, ','), &room)) {
			resource->count = 0;
			return false;
		}
	return true;
}

struct strview
resource_value(const struct resource *resource, const char *key)
{
	for (size_t i = 0; i < resource->count; i++)
		if (same(resource->attributes[i].key, strview_of(key)))
			return resource->attributes[i].value;
	return (struct strview){ NULL, 0 };
}
