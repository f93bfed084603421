/* trace and hex, row by row. */
#include "unit.h"
#include "text/strview.h"
#include "attempt/trace.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"
#define NO_TRACE "00000000000000000000000000000000"
#define NO_SPAN "0000000000000000"

#define NEXT "-0000000000000005-01"
#define ANEW "00-00000000000000070000000000000008" NEXT

static const char state[] = "vendor=1";

/* What an attempt gets whose span has the id 5, if its trace is sampled. */
static const char *child_of(const char *parent) {
	static const uint64_t random[3] = { 7, 8, 9 };
	static char room[TRACE_ROOM];
	struct trace trace;
	bool anew;

	trace_start(&trace, parent, state, random);
	if (!trace.on)
		return "not sampled";
	EQUAL(parent, (int64_t)trace.span, 9);
	trace_begin(&trace, 5);
	anew = strcmp(trace_put(room, &trace), ANEW) == 0;
	EQUAL(parent, trace.parent == 0, anew);
	EQUAL(parent, trace.state == NULL, anew);
	return room;
}

TEST(parents) {
	static const char *const rows[][32] = {
		/* Of the flags only the lowest bit has a meaning. A later
		   version may have more fields. */
		{ "00-" TRACE NEXT, "00-" TRACE "-" SPAN "-01", "00-" TRACE "-" SPAN "-ff",
		    "01-" TRACE "-" SPAN "-01", "cc-" TRACE "-" SPAN "-01-",
		    "fe-" TRACE "-" SPAN "-01-what comes later" },
		{ "not sampled", "00-" TRACE "-" SPAN "-00", "00-" TRACE "-" SPAN "-fe" },
		/* Half of an id may be zero. */
		{ "00-0000000000000000a3ce929d0e0e4736" NEXT,
		    "00-0000000000000000a3ce929d0e0e4736-" SPAN "-01" },
		{ "00-4bf92f3577b34da60000000000000000" NEXT,
		    "00-4bf92f3577b34da60000000000000000-" SPAN "-01" },
		/* A malformed text, of a later version, of version 00, and of
		   versions that are none. */
		{ ANEW, "01-" TRACE "-" SPAN "-01.what", "01-" TRACE "-" SPAN "-010",
		    "01-" TRACE "-" SPAN, "01-" TRACE "-" SPAN "-0", "00-" TRACE "-" SPAN "-01-",
		    "00-" TRACE "-" SPAN "-01 ", " 00-" TRACE "-" SPAN "-01",
		    "ff-" TRACE "-" SPAN "-01", "0-" TRACE "-" SPAN "-01",
		    "0A-" TRACE "-" SPAN "-01", "-" TRACE "-" SPAN "-01" },
		/* Ids of zero, digits in upper case, bytes that are no digits,
		   ids of another length, and other separators. */
		{ ANEW, "00-" NO_TRACE "-" SPAN "-01", "00-" TRACE "-" NO_SPAN "-01",
		    "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
		    "00-" TRACE "-00F067AA0BA902B7-01", "00-" TRACE "-" SPAN "-0g",
		    "00-4bf92f3577b34da6a3ce929d0e0e473.-" SPAN "-01",
		    "00-" TRACE "-00f067aa0ba902b\xff-01",
		    "00-4bf92f3577b34da6a3ce929d0e0e473-" SPAN "-01", "00-" TRACE "0-" SPAN "-1",
		    "00-" TRACE "-00f067aa0ba902b-01", "00_" TRACE "-" SPAN "-01",
		    "00-" TRACE "_" SPAN "-01", "00-" TRACE "-" SPAN "_01",
		    "00-" TRACE "-" SPAN "-", "00-" TRACE, "",
		    "-------------------------------------------------------" },
	};

	ALIKE(rows, child_of);
}

TEST(the_ids_of_a_trace) {
	static const uint64_t zero[3];
	char room[TRACE_ROOM];
	struct trace trace;

	trace_start(&trace, "00-" TRACE "-" SPAN "-01", "", zero);
	EQUAL("ids", (int64_t)trace.id[0], 0x4bf92f3577b34da6);
	EQUAL("ids", (int64_t)trace.parent, 0x00f067aa0ba902b7);
	HOLDS("an empty state is none", trace.state == NULL);
	SAME("the invocation", trace_put(room, &trace), "00-" TRACE "-0000000000000001-01");
	/* No id is 0, whatever is drawn. */
	trace_start(&trace, NULL, NULL, zero);
	trace_begin(&trace, 0);
	SAME("zeros", trace_put(room, &trace),
	    "00-00000000000000010000000000000000-0000000000000001-01");
}

#define TEN "a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,"

/* The attributes of a list, each as "<key>=<value>". */
static const char *attributes_of(const char *text) {
	static char shown[512];
	struct strview list = strview_of(text);
	char *room = malloc(list.length), *at = shown;
	struct trace_resource resource;
	bool read = trace_resource_parse(&resource, list, room);

	*at = '\0';
	HOLDS(text, read || resource.count == 0);
	for (size_t i = 0; i < resource.count; i++) {
		const struct trace_attribute *attribute = &resource.attributes[i];

		at += sprintf(at, "<%.*s>=<%.*s>", (int)attribute->key.length, attribute->key.at,
		    (int)attribute->value.length, attribute->value.at);
	}
	free(room);
	return read ? shown : "malformed";
}

TEST(resources) {
	static const char *const rows[][12] = { { "", "" }, { "<a>=<b>", "a=b" },
		{ "<service.name>=<shop><deployment.environment.name>=<ci>",
		    "service.name=shop,deployment.environment.name=ci" },
		/* Blanks, and members without anything. */
		{ "<a>=<b><c>=<d>", " a = b , c\t=d ", ",,a=b, ,c=d" }, { "<a>=<b c>", "a=b c" },
		/* Only the first '=' ends the key; a value may be empty. */
		{ "<a>=<b=c>", "a=b=c" }, { "<a>=<>", "a=" },
		/* %XX, in keys, too; '+' and quotes stand for themselves. */
		{ "<a>=<A,,=%>", "a=%41%2c%2C%3d%25" }, { "<a=>=<1>", "%61%3D=1" },
		{ "<a>=< b >", "a=%20b%20" },
		{ "<a>=<gr\xc3\xbc\xc3\x9f"
		  "e>",
		    "a=gr%C3%BC%c3%9fe" },
		{ "<a>=<b+c><d>=<\"e><f>=<g\">", "a=b+c,d=\"e,f=g\"" },
		/* The last value of a key counts. */
		{ "<a>=<3><b>=<2>", "a=1,b=2,a=3" }, { "<a>=<2>", "a=1,%61=2" },
		{ "<a>=<2><b>=<1><c>=<1><d>=<1><e>=<1><f>=<1><g>=<1><h>=<1><i>=<1><j>=<1>",
		    TEN TEN TEN "a=2" },
		/* One bad member spoils the list. */
		{ "malformed", "a", "a=b,c", "=b", "a=b,=", "a=%", "a=%4,b=c", "a=%4g", "a=%g4",
		    "%zz=1" } };

	ALIKE(rows, attributes_of);
}

TEST(the_value_of_a_key) {
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

TEST(a_resource_has_a_limit) {
	static char list[TRACE_ATTRIBUTES * 8 + 16], room[sizeof list];
	struct trace_resource resource;
	char *at = list;

	for (int i = 0; i < TRACE_ATTRIBUTES; i++) at += sprintf(at, "k%d=,", i);
	HOLDS("most", trace_resource_parse(&resource, strview_of(list), room));
	EQUAL("most", (int64_t)resource.count, TRACE_ATTRIBUTES);
	*trace_resource_value(&resource, strview_of("k8")) = strview_of("8");
	EQUAL("set", (int64_t)resource.count, TRACE_ATTRIBUTES);
	*trace_resource_value(&resource, strview_of("service.name")) = strview_of("s");
	EQUAL("set", (int64_t)resource.count, TRACE_ATTRIBUTES + 1);
	EQUAL("set", (int64_t)trace_resource_value(&resource, strview_of("k8"))->length, 1);
	strcpy(at, "k7=7");
	HOLDS("again", trace_resource_parse(&resource, strview_of(list), room));
	strcpy(at, "k=7");
	HOLDS("more", !trace_resource_parse(&resource, strview_of(list), room));
	EQUAL("more", (int64_t)resource.count, 0);
}

TEST(hex) {
	for (int c = 0; c < 256; c++) {
		char text[] = { (char)c, '\0' };
		int want = c != 0 && strchr("0123456789abcdefABCDEF", c) != NULL
		    ? (int)strtol(text, NULL, 16)
		    : -1;

		EQUAL(text, strview_hex((char)c), want);
	}
}

TEST(unescape_stays_in_its_room) {
	char room[3] = "..";
	size_t length;

	HOLDS("fits", strview_unescape(strview_of("%41%00"), room, 2, &length));
	EQUAL("fits", (int64_t)length, 2);
	HOLDS("fits", memcmp(room, "A\0.", 2) == 0);
	HOLDS("no room", !strview_unescape(strview_of("abc"), room, 2, &length));
	HOLDS("no room", !strview_unescape(strview_of("a"), room, 0, &length));
	HOLDS("nothing", strview_unescape(strview_of(""), room, 0, &length));
	EQUAL("nothing", (int64_t)length, 0);
}
