/*
 * preset: the table, and what retry makes of the lines and runs of tools in tests/fixtures/tools.
 * Covers tools/launcher.
 */
#include "unit.h"
#include <glob.h>
#include "cli/options.h"
#include "match/pattern.h"
#include "tools/preset.h"

#define FIXTURES "tests/fixtures/tools/"

/* A run of a tool: the members of its line in a fixture. */
enum member { CMD, STATUS, OPTIONS, TRUTH, OUT, ERR, HEAD, MEMBERS };

static const char members[MEMBERS][8] = { "cmd", "status", "options", "truth", "out", "err",
	"head" };
static char run[MEMBERS][8192];

/* What retry makes of a run; and how a line, and a capture, tell it. */
enum means { SUCCESS, STOP, RETRY, NEITHER };

static const char words[][8] = { "success", "stop", "retry", "neither" };
static const char *const truths[] = { "S", "P", "T", "P" };

/* Reads the words of a command line of retry. */
static const struct policy *policy_of(const char *line) {
	static char last[3 * sizeof run[0]], split[sizeof last];
	static struct policy policy;
	char *argv[16] = { NULL }, *rest = split;
	int argc = 0;

	if (strcmp(line, last) == 0)
		return &policy;
	strcpy(last, line);
	strcpy(split, line);
	while ((argv[argc] = strsep(&rest, " ")) != NULL) argc++;
	options_parse(argc, argv, &policy);
	return &policy;
}

/* What the head of the run says. */
static struct http_status read_head(void) {
	static struct http_reader reader;

	http_status_begin(&reader, HTTP_FORM_HEADS, 0);
	http_status_add(&reader, run[HEAD], strlen(run[HEAD]));
	return http_status_end(&reader, NULL, 0);
}

/* What retry makes of the run, with options and a command as in line. */
static enum means judge(const char *line) {
	const struct policy *policy = policy_of(line);
	const struct request request = { .curl = policy->http };
	struct outcome outcome = {
		.end = END_EXITED, .code = atoi(run[STATUS]), .http = read_head()
	};
	int64_t limits = 0;

	for (int i = 0; i < policy->watches.count; i++) {
		const struct watch *watch = &policy->watches.list[i];
		const char *text = run[watch->fd == 1 ? OUT : ERR];

		if (watch->hint != NULL)
			continue;
		if (watch->number == 0) {
			pattern_start(watch->pattern);
			pattern_feed(watch->pattern, text, strlen(text));
			pattern_end(watch->pattern);
		}
		if (pattern_seen(watch->pattern, watch->number))
			outcome.seen |= UINT64_C(1) << i;
	}
	known_wait_find(policy->known_waits, &outcome, &limits);
	switch (verdict_of(&policy->rules, &request, &outcome).verdict) {
	case VERDICT_DONE: return SUCCESS;
	case VERDICT_RETRY: return RETRY;
	default: return verdict_fails_by(&policy->rules.fatal, &outcome) ? STOP : NEITHER;
	}
}

/*
 * Takes the lines of a text apart: a line behind "> " is on standard output,
 * any other on standard error, where "2> " may stand before it.
 */
static void split(const char *text) {
	memset(run, 0, sizeof run);
	for (size_t length; *text != '\0'; text += length) {
		bool out = strncmp(text, "> ", 2) == 0;
		const char *end = strstr(text, "\\n");

		text += out ? 2 : strncmp(text, "2> ", 3) == 0 ? 3 : 0;
		length = end == NULL ? strlen(text) : (size_t)(end - text);
		strncat(run[out ? OUT : ERR], text, length);
		strcat(run[out ? OUT : ERR], "\n");
		length += end == NULL ? 0 : 2;
	}
}

TEST(lines) {
	FILE *file = fopen(FIXTURES "lines", "r");
	char row[512], name[32], means[16], line[64];
	int rows = 0;

	HOLDS(FIXTURES "lines", file != NULL);
	while (file != NULL && fgets(row, sizeof row, file) != NULL) {
		const char *text = strstr(row, ": ");

		row[strcspn(row, "\n")] = '\0';
		if (row[0] == '#')
			continue;
		split(text == NULL ? "" : text + 2);
		EQUAL(row, sscanf(row, "%31s %3s %15[a-z]", name, run[STATUS], means), 3);
		snprintf(line, sizeof line, "retry --preset %s x", name);
		SAME(row, words[judge(line)], means);
		rows++;
	}
	HOLDS("rows", rows > 400);
	if (file != NULL)
		fclose(file);
}

/* Cuts a command line behind its name, except for that of npx. */
static void shorten(char *command) {
	char *end = command + strcspn(command, " ");

	if (strncmp(command, "npx ", 4) == 0)
		end += strcspn(end, "'\"");
	*end = '\0';
}

/* Judges the captures of a file, each behind a launcher; "": as they were run. */
static int replay(const char *path, const char *launcher) {
	static char text[sizeof run[0]], line[3 * sizeof run[0]];
	FILE *file = fopen(path, "r");
	int rows = 0;

	HOLDS(path, file != NULL);
	while (file != NULL && fgets(text, sizeof text, file) != NULL) {
		for (int n = 0; n < MEMBERS; n++) unit_member(text, members[n], run[n]);
		shorten(run[CMD]);
		snprintf(line, sizeof line, "retry %s %s%s",
		    *run[OPTIONS] == '\0' ? "--preset auto" : run[OPTIONS], launcher, run[CMD]);
		SAME(text, truths[judge(line)], run[TRUTH]);
		rows++;
	}
	if (file != NULL)
		fclose(file);
	return rows;
}

TEST(captures) {
	glob_t files;
	int rows = 0;

	EQUAL("files", glob(FIXTURES "*.jsonl", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) rows += replay(files.gl_pathv[i], "");
	HOLDS("rows", rows > 1700);
	globfree(&files);
}

/* What a tool says means the same behind a launcher. */
TEST(captures_behind_launchers) {
	static const char *const launchers[][24] = {
		{ "npx -y ", "cdk", "changeset", "claude", "codex", "copilot", "cypress", "gemini",
		    "lerna", "lighthouse", "linkinator", "netlify", "newman", "node-gyp",
		    "opencode", "playwright", "prisma", "puppeteer", "qwen", "sentry-cli", "snyk",
		    "vercel", "wait-on" },
		{ "npx -y -p x ", "wrangler" }, { "npm exec --yes -- ", "wrangler", "cdk" },
		{ "pnpx ", "wrangler", "netlify" }, { "pnpm dlx ", "wrangler", "newman" },
		{ "bunx ", "wrangler", "vercel" }, { "yarn dlx -q ", "wrangler", "snyk" },
		{ "uvx ", "ansible", "httpie", "twine", "yt-dlp" },
		{ "pipx run ", "twine", "yt-dlp" }
	};
	char path[64];
	int rows = 0;

	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
		for (const char *const *name = launchers[i] + 1; *name != NULL; name++) {
			snprintf(path, sizeof path, FIXTURES "%s.jsonl", *name);
			rows += replay(path, launchers[i][0]);
		}
	HOLDS("rows", rows > 300);
}

/* The name of the row that a name or a program finds. */
static const char *found(const char *name) {
	struct preset row;

	return preset_find(name, strlen(name), &row) ? row.name : "none";
}

static struct pattern pattern; /* too large for the stack */

static void check_pattern(const char *name, const char *ere) {
	struct pattern_error error = { "", 0 };

	if (ere == NULL)
		return;
	HOLDS(ere, pattern_compile(&pattern, ere, strlen(ere), &error));
	SAME(ere, error.why, "");
	pattern_start(&pattern);
	HOLDS(name, !pattern_feed(&pattern, "\n\n", 2)); /* matches anything */
	HOLDS(name, strncmp(ere, "(?i)", 4) != 0);
}

TEST(rows_are_whole) {
	static struct watch room[CONDITIONS_WATCHES];
	char before[32] = "";
	size_t rows = 0;
	struct preset row, *p = &row;

	for (; preset_at(rows, p); rows++) {
		struct conditions codes = { 0 };
		struct watches watches = { .list = room };
		struct conditions_error error = { "", "", 0 };

		HOLDS(p->name, conditions_parse(&codes, &watches, p->codes, &error));
		SAME(p->name, error.why, "");
		HOLDS(p->name, codes.first.timeout);
		HOLDS(p->name, !conditions_has_exit(&codes.later, 0));
		EQUAL(p->name, watches.count, 0);
		HOLDS(p->name, *p->source != '\0');
		HOLDS(p->name, *p->knows != '\0');
		HOLDS(p->name, strcmp(before, p->name) < 0);
		snprintf(before, sizeof before, "%s", p->name);
		SAME(p->name, found(p->name), p->name);
		check_pattern(p->name, p->err.fatal);
		check_pattern(p->name, p->err.transient);
		check_pattern(p->name, p->err.failed);
		check_pattern(p->name, p->out.fatal);
		check_pattern(p->name, p->out.transient);
		check_pattern(p->name, p->out.failed);
		check_pattern(p->name, p->wait);
		check_pattern(p->name, p->limit);
		EQUAL(p->name, p->limit != NULL, p->limit_wait > 0);
	}
	HOLDS("rows", rows > 50);
}

/* Each program has one row, and its row finds it. */
TEST(programs_have_one_row) {
	char word[64], *command[] = { word, NULL };
	int programs = 0;
	struct preset row, other;

	for (size_t i = 0; preset_at(i, &row); i++) {
		const char *at = row.programs;

		while (*at != '\0') {
			size_t end = strcspn(at, " ");

			snprintf(word, sizeof word, "%.*s", (int)end, at);
			HOLDS(word, preset_for_command(command, &other));
			SAME(word, other.name, row.name);
			at += end + (at[end] == ' ');
			HOLDS(word, *at != ' ');
			programs++;
		}
	}
	HOLDS("programs", programs > 70);
}

/* The name of the row of a command, whose words have commas between them. */
static const char *command_of(const char *line) {
	static struct preset row;
	char text[64], *rest = text, *command[8] = { NULL };

	snprintf(text, sizeof text, "%s", line);
	for (int i = 0; rest != NULL; i++) command[i] = strsep(&rest, ",");
	return preset_for_command(command, &row) ? row.name : "none";
}

TEST(programs_and_names) {
	static const char *const commands[][14] = { { "curl", "curl", "/usr/bin/curl" },
		{ "apt", "./apt-get" }, { "pip", "pip3.11" }, { "wget2", "/x/wget2" },
		{ "sqlite3", "sqlite3" }, { "go", "go1.22.1" }, { "mysql", "mariadb-dump" },
		{ "psql", "pg_restore" }, { "docker", "podman" },
		{ "playwright", "playwright,test" },
		{ "npm", "npx", "npx,-y,playwright", "npm,playwright" }, { "pip", "pipx,run" },
		{ "none", "net", "sysexits", "redis", "curlx", "cur", "curl ", "gofmt", "curl/", "",
		    "7", "sh" } };
	static const char *const names[][6] = {
		{ "apt", "apt-get" },
		{ "sqlite3", "sqlite" },
		{ "none", "aptx", "", "list", "auto" },
	};

	ALIKE(commands, command_of);
	ALIKE(names, found);
}

/* What is known of the tool that a launcher runs, of a line with commas. */
static const char *launched_of(const char *line) {
	static struct preset row;
	char text[96], *rest = text, *command[16] = { NULL };

	snprintf(text, sizeof text, "%s", line);
	for (int i = 0; rest != NULL; i++) command[i] = strsep(&rest, ",");
	switch (preset_launched(command, &row)) {
	case PRESET_LAUNCH_KNOWN: return row.name;
	case PRESET_LAUNCH_UNKNOWN: return "unknown";
	default: return "none";
	}
}

TEST(launched) {
	static const char *const rows[][24] = {
		{ "wrangler", "npx,--no-cache,wrangler", "npx,wrangler", "npx,-y,wrangler@4,deploy",
		    "/x/npx,--yes,--,wrangler", "npx,--registry,http://x/,wrangler",
		    "npx,--registry=http://x/,wrangler", "npx,-p,other,wrangler",
		    "npx,-yp,other,wrangler", "npx,--package=other,-c,wrangler deploy",
		    "npx,--call=wrangler deploy", "npm,exec,wrangler",
		    "npm,--silent,x,--,wrangler@latest,deploy", "npm,exec,-c,wrangler deploy",
		    "pnpx,wrangler", "pnx,--package,other,wrangler",
		    "pnpm,--reporter,silent,dlx,wrangler@4", "pn,dlx,wrangler", "bunx,wrangler",
		    "bunx,--bun,-p,other,wrangler", "bun,x,wrangler", "yarn,dlx,-q,wrangler",
		    "yarn,dlx,-p,other,wrangler" },
		{ "sentry-cli", "npx,@sentry/cli,releases", "npx,-y,@sentry/cli@3.1.0",
		    "npx,-p,@sentry/cli,sentry-cli,releases", "pnpm,dlx,@sentry/cli" },
		{ "cdk", "npx,aws-cdk,deploy", "npx,-p,aws-cdk,cdk,deploy" },
		{ "puppeteer", "npx,@puppeteer/browsers,install" },
		{ "playwright", "npx,playwright@1.65.1,install" },
		{ "yt-dlp", "uvx,--refresh,yt-dlp,x", "uvx,--no-cache,yt-dlp,x", "uvx,yt-dlp,x",
		    "uvx,--from,yt-dlp[default],yt-dlp@2026.1.1", "uv,tool,run,-q,yt-dlp",
		    "uvx,-p,3.12,--with,x,yt-dlp", "pipx,run,yt-dlp",
		    "pipx,run,--spec,yt-dlp==2026,yt-dlp", "pipx,run,yt-dlp==2026" },
		{ "unknown", "npx,cow", "npx,play", "npx,wranglers", "npx,tsc,wrangler",
		    "npx,./wrangler", "npx,github:x/wrangler", "npx,@x/wrangler", "npx,",
		    "pnpm,dlx,cow", "uvx,ruff,check", "bunx,cow", "pipx,run,cow" },
		{ "none", "npx", "npx,-y", "npm,wrangler", "npm,run,wrangler", "npm,exec",
		    "pnpm,add,x", "pnpm,exec,wrangler", "yarn,wrangler", "bun,run,wrangler",
		    "uv,run,yt-dlp", "uv,tool,install,yt-dlp", "uv,tool", "pipx,install,yt-dlp",
		    "wrangler,npx,x" },
	};

	ALIKE(rows, launched_of);
}

/* After which ends the command of a line, "PRESET COMMAND,WORD", may still run elsewhere. */
static const char *unfinished_of(const char *line) {
	char text[80], *rest = text, *command[12] = { NULL };
	const char *name, *list;
	struct preset row;

	snprintf(text, sizeof text, "%s", line);
	name = strsep(&rest, " ");
	for (int i = 0; rest != NULL; i++) command[i] = strsep(&rest, ",");
	if (!preset_find(name, strlen(name), &row))
		return "no such preset";
	list = preset_unfinished(&row, command);
	return list == NULL ? "none" : list;
}

TEST(unfinished) {
	static const char *const rows[][16] = {
		{ "timeout", "ssh ssh,h,make", "ssh /usr/bin/ssh,h", "docker docker,exec,c,make",
		    "docker docker,-H,x,compose,exec,c,make", "docker podman,run,i",
		    "kubectl kubectl,-n,x,exec,p,--,make", "psql psql,-c,x", "mysql mysql",
		    "mysql mariadb,-e,x", "terraform tofu,apply", "docker sudo,-u,x,docker,exec,c",
		    /* What runs in such a program ends by itself. */
		    "docker docker,exec,c,timeout,5,make",
		    /* Nobody knows what a script does. */
		    "ssh ./deploy", "psql ./migrate" },
		{ "timeout", "terraform terraform,-chdir=x,destroy",
		    "docker docker,container,run,i", "terraform terragrunt,run-all,apply",
		    "terraform terragrunt,run,--all,--,apply" },
		{ "timeout,124", "ssh timeout,5,ssh,h", "docker timeout,5,docker,exec,c",
		    "psql sudo,timeout,5,psql", "psql timeout,5,nice,psql" },
		{ "none", "docker docker,pull,exec", "docker docker,build,-t,run,.",
		    "kubectl kubectl,get,pod,exec", "terraform terraform,plan,-out,apply",
		    "git git,push", "scp scp,f,h:", "docker docker,pull,i", "docker ./build",
		    "kubectl kubectl,apply,-f,x", "psql pg_dump,psql", "mysql mysqldump,mysql",
		    "terraform terraform,plan", "terraform ./apply" },
	};

	ALIKE(rows, unfinished_of);
}
