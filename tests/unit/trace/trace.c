/*
 * trace and hex, row by row.
 */
#include "unit.h"
#include "text/strview.h"
#include "trace/trace.h"

/*
 * TRACEPARENT
 */

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"
#define NO_TRACE "00000000000000000000000000000000"
#define NO_SPAN "0000000000000000"

/* What an attempt gets whose span has the id 5; "": the trace is not sampled;
 * NULL: the text is malformed, so a trace begins. */
#define NEXT "0000000000000005"
static const struct {
	const char *text, *next;
} parents[] = {
	{ "00-" TRACE "-" SPAN "-01", "00-" TRACE "-" NEXT "-01" },
	{ "00-" TRACE "-" SPAN "-00", "" },
	/* Only the lowest bit of the flags has a meaning. */
	{ "00-" TRACE "-" SPAN "-ff", "00-" TRACE "-" NEXT "-01" },
	{ "00-" TRACE "-" SPAN "-fe", "" },
	/* Half of an id may be zero. */
	{ "00-0000000000000000a3ce929d0e0e4736-" SPAN "-01",
	    "00-0000000000000000a3ce929d0e0e4736-" NEXT "-01" },
	{ "00-4bf92f3577b34da60000000000000000-" SPAN "-01",
	    "00-4bf92f3577b34da60000000000000000-" NEXT "-01" },
	/* A later version may have more fields. */
	{ "01-" TRACE "-" SPAN "-01", "00-" TRACE "-" NEXT "-01" },
	{ "cc-" TRACE "-" SPAN "-01-", "00-" TRACE "-" NEXT "-01" },
	{ "fe-" TRACE "-" SPAN "-01-what comes later",
	    "00-" TRACE "-" NEXT "-01" },
	{ "01-" TRACE "-" SPAN "-01.what", NULL },
	{ "01-" TRACE "-" SPAN "-010", NULL },
	{ "01-" TRACE "-" SPAN, NULL },
	{ "01-" TRACE "-" SPAN "-0", NULL },
	/* Version 00 has none. */
	{ "00-" TRACE "-" SPAN "-01-", NULL },
	{ "00-" TRACE "-" SPAN "-01 ", NULL },
	{ " 00-" TRACE "-" SPAN "-01", NULL },
	/* Versions that are none. */
	{ "ff-" TRACE "-" SPAN "-01", NULL },
	{ "0-" TRACE "-" SPAN "-01", NULL },
	{ "0A-" TRACE "-" SPAN "-01", NULL },
	{ "-" TRACE "-" SPAN "-01", NULL },
	/* Ids of zero. */
	{ "00-" NO_TRACE "-" SPAN "-01", NULL },
	{ "00-" TRACE "-" NO_SPAN "-01", NULL },
	/* Digits in upper case, and bytes that are no digits. */
	{ "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01", NULL },
	{ "00-" TRACE "-00F067AA0BA902B7-01", NULL },
	{ "00-" TRACE "-" SPAN "-0g", NULL },
	{ "00-4bf92f3577b34da6a3ce929d0e0e473.-" SPAN "-01", NULL },
	{ "00-" TRACE "-00f067aa0ba902b\xff-01", NULL },
	/* Ids of another length, and other separators. */
	{ "00-4bf92f3577b34da6a3ce929d0e0e473-" SPAN "-01", NULL },
	{ "00-" TRACE "0-" SPAN "-1", NULL },
	{ "00-" TRACE "-00f067aa0ba902b-01", NULL },
	{ "00_" TRACE "-" SPAN "-01", NULL },
	{ "00-" TRACE "_" SPAN "-01", NULL },
	{ "00-" TRACE "-" SPAN "_01", NULL },
	{ "00-" TRACE "-" SPAN "-", NULL },
	{ "00-" TRACE, NULL },
	{ "", NULL },
	{ "-------------------------------------------------------", NULL },
};

TEST(parents)
{
	static const uint64_t random[3] = { 7, 8, 9 };
	static const char state[] = "vendor=1";

	for (size_t i = 0; i < LENGTH(parents); i++) {
		const char *row = parents[i].text, *next = parents[i].next;
		char room[TRACE_ROOM];
		struct trace trace;

		trace_start(&trace, row, state, random);
		EQUAL(row, trace.on, next == NULL || *next != '\0');
		if (!trace.on)
			continue;
		EQUAL(row, trace.parent != 0, next != NULL);
		EQUAL(row, trace.state == state, next != NULL);
		EQUAL(row, (int64_t)trace.span, 9);
		if (next == NULL)
			next =
			    "00-00000000000000070000000000000008-" NEXT "-01";
		trace_begin(&trace, 5);
		SAME(row, trace_put(room, &trace), next);
	}
}

TEST(the_ids_of_a_trace)
{
	static const uint64_t zero[3];
	char room[TRACE_ROOM];
	struct trace trace;

	trace_start(&trace, "00-" TRACE "-" SPAN "-01", "", zero);
	EQUAL("ids", (int64_t)trace.id[0], 0x4bf92f3577b34da6);
	EQUAL("ids", (int64_t)trace.parent, 0x00f067aa0ba902b7);
	HOLDS("an empty state is none", trace.state == NULL);
	SAME("the invocation", trace_put(room, &trace),
	    "00-" TRACE "-0000000000000001-01");
	/* No id is 0, whatever is drawn. */
	trace_start(&trace, NULL, NULL, zero);
	trace_begin(&trace, 0);
	SAME("zeros", trace_put(room, &trace),
	    "00-00000000000000010000000000000000-0000000000000001-01");
}

/*
 * resource
 */

#define TEN "a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,"

/* The attributes of a list, each as "<key>=<value>"; NULL: the list is
 * malformed. */
static const struct {
	const char *list, *attributes;
} resources[] = {
	{ "", "" },
	{ "a=b", "<a>=<b>" },
	{ "service.name=shop,deployment.environment.name=ci",
	    "<service.name>=<shop><deployment.environment.name>=<ci>" },
	/* Blanks, and members without anything. */
	{ " a = b , c\t=d ", "<a>=<b><c>=<d>" },
	{ ",,a=b, ,c=d", "<a>=<b><c>=<d>" },
	{ "a=b c", "<a>=<b c>" },
	/* Only the first '=' ends the key; a value may be empty. */
	{ "a=b=c", "<a>=<b=c>" },
	{ "a=", "<a>=<>" },
	/* %XX, in keys, too; '+' and quotes stand for themselves. */
	{ "a=%41%2c%2C%3d%25", "<a>=<A,,=%>" },
	{ "%61%3D=1", "<a=>=<1>" },
	{ "a=%20b%20", "<a>=< b >" },
	{ "a=gr%C3%BC%c3%9fe",
	    "<a>=<gr\xc3\xbc\xc3\x9f"
	    "e>" },
	{ "a=b+c,d=\"e,f=g\"", "<a>=<b+c><d>=<\"e><f>=<g\">" },
	/* The last value of a key counts. */
	{ "a=1,b=2,a=3", "<a>=<3><b>=<2>" },
	{ "a=1,%61=2", "<a>=<2>" },
	/* One bad member spoils the list. */
	{ "a", NULL },
	{ "a=b,c", NULL },
	{ "=b", NULL },
	{ "a=b,=", NULL },
	{ "a=%", NULL },
	{ "a=%4,b=c", NULL },
	{ "a=%4g", NULL },
	{ "a=%g4", NULL },
	{ "%zz=1", NULL },
	{ TEN TEN TEN "a=2",
	    "<a>=<2><b>=<1><c>=<1><d>=<1><e>=<1><f>=<1><g>=<1>"
	    "<h>=<1><i>=<1><j>=<1>" },
};

/* Writes the attributes as in the table. */
static char *
show(char *at, const struct trace_resource *resource)
{
	char *start = at;

	*at = '\0';
	for (size_t i = 0; i < resource->count; i++) {
		const struct trace_attribute *attribute =
		    &resource->attributes[i];

		at += sprintf(at, "<%.*s>=<%.*s>", (int)attribute->key.length,
		    attribute->key.at, (int)attribute->value.length,
		    attribute->value.at);
	}
	return start;
}

TEST(resources)
{
	for (size_t i = 0; i < LENGTH(resources); i++) {
		struct strview list = strview_of(resources[i].list);
		char *room = malloc(list.length), shown[512];
		struct trace_resource resource;
		bool read = trace_resource_parse(&resource, list, room);

		EQUAL(list.at, read, resources[i].attributes != NULL);
		SAME(list.at, show(shown, &resource),
		    read ? resources[i].attributes : "");
		free(room);
	}
}

TEST(the_value_of_a_key)
{
	struct strview list = strview_of("a=1,bb=22"), *value;
	struct trace_resource resource;
	char room[16];

	HOLDS("values", trace_resource_parse(&resource, list, room));
	value = trace_resource_value(&resource, strview_of("bb"));
	EQUAL("values", (int64_t)value->length, 2);
	HOLDS("values", memcmp(value->at, "22", 2) == 0);
	value = trace_resource_value(&resource, strview_of("b"));
	EQUAL("values", (int64_t)value->length, 0);
}

TEST(a_resource_has_a_limit)
{
	static char list[TRACE_ATTRIBUTES * 8 + 16], room[sizeof list];
	struct trace_resource resource;
	char *at = list;

	for (int i = 0; i < TRACE_ATTRIBUTES; i++)
		at += sprintf(at, "k%d=,", i);
	HOLDS("most", trace_resource_parse(&resource, strview_of(list), room));
	EQUAL("most", (int64_t)resource.count, TRACE_ATTRIBUTES);
	*trace_resource_value(&resource, strview_of("k8")) = strview_of("8");
	EQUAL("set", (int64_t)resource.count, TRACE_ATTRIBUTES);
	*trace_resource_value(&resource, strview_of("service.name")) =
	    strview_of("s");
	EQUAL("set", (int64_t)resource.count, TRACE_ATTRIBUTES + 1);
	EQUAL("set",
	    (int64_t)trace_resource_value(&resource, strview_of("k8"))->length,
	    1);
	strcpy(at, "k7=7");
	HOLDS("again", trace_resource_parse(&resource, strview_of(list), room));
	strcpy(at, "k=7");
	HOLDS("more", !trace_resource_parse(&resource, strview_of(list), room));
	EQUAL("more", (int64_t)resource.count, 0);
}

/*
 * hex
 */

TEST(hex)
{
	for (int c = 0; c < 256; c++) {
		char text[] = { (char)c, '\0' };
		int want = c != 0 && strchr("0123456789abcdefABCDEF", c) != NULL
		    ? (int)strtol(text, NULL, 16)
		    : -1;

		EQUAL(text, strview_hex((char)c), want);
	}
}

TEST(unescape_stays_in_its_room)
{
	char room[3] = "..";
	size_t length;

	HOLDS("fits", strview_unescape(strview_of("%41%00"), room, 2, &length));
	EQUAL("fits", (int64_t)length, 2);
	HOLDS("fits", memcmp(room, "A\0.", 2) == 0);
	HOLDS(
	    "no room", !strview_unescape(strview_of("abc"), room, 2, &length));
	HOLDS("no room", !strview_unescape(strview_of("a"), room, 0, &length));
	HOLDS("nothing", strview_unescape(strview_of(""), room, 0, &length));
	EQUAL("nothing", (int64_t)length, 0);
}
