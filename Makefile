# make                 ./retry
# make check           what the program must do; tests/setup gets its tools
# make install         under DESTDIR and PREFIX, by the name PROGRAM
# make uninstall       removes what install has installed
# make clean           removes all that was built
# make static dynamic  ./retry-static and ./retry-dynamic, whatever make builds
#
# For those who change it; doc/design.md has more of each:
# make lint            both compilers and the linters, without a warning
# make san             the suite under ASan and UBSan
# make check-package   the action, the tarball, the packages' recipes, install
# make check-dynamic   the suite through the dynamic program
# make check-libcs     both programs, by thousands of command lines
# make analyze         the static analyzers of gcc and clang
# make faults          signals and errors at every call
# make fuzz            libFuzzer on all parsers
# make storm simulate  thousands of clients, real ones or in virtual time
# make pace            servers with limits, and real clients that share a key
# make bench           time and memory
# make portable        the tests on other machines
# make dist            the tarball
# make deb rpm arch    packages
# make release         the tarball and static programs
#
# V=1 shows whole commands. CC, CFLAGS, CPPFLAGS, LDFLAGS and LDLIBS are yours. Where
# musl-gcc is, or the libc is musl, ./retry is static; STATIC=no makes it dynamic, and so
# does a CC that is yours.

PROGRAM = retry
PREFIX = /usr/local
DESTDIR =
CFLAGS = -O2

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wwrite-strings -Wformat=2 -Wundef -Wvla -Wpointer-arith -Wcast-qual \
	-Wnull-dereference -Wdouble-promotion -Wimplicit-fallthrough -Wno-psabi \
	-Wno-overlength-strings
# 64 bits for the sizes of files and the time, on machines of 32 bits too.
WIDE = -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64
# Nothing unwinds the stack, and the tables for it are a tenth of the program,
# which is mapped by retry and by each child until its exec.
LEAN = -fno-asynchronous-unwind-tables
COMPILE = $(COMPILER) -std=c11 -D_GNU_SOURCE $(WIDE) -iquote src -iquote $(B) $(CPPFLAGS) \
	$(WARNINGS) $(LEAN) $(CFLAGS)
LINK = $(COMPILER) $(CFLAGS) $(MODE) $(LDFLAGS)
# At a fixed address without relocations a static program starts in half the time;
# there musl makes no data read-only at start-up, so relro would only cost a page.
# Elsewhere all functions are bound at start-up: it is as fast here, and their table
# is read-only then.
MODE = $(if $(filter static$(,),$(HOW)),$(FIXED),-Wl,-z,now -Wl,-z,noseparate-code)
FIXED = -static -no-pie -Wl,-z,noseparate-code -Wl,-z,norelro
COMPILER = $(if $(filter static$(,),$(HOW)),$(wordlist 3,9,$(HOW)),$(CC))
, = ,

# How the program is linked, and why: "static, with COMPILER", or something else. It is
# found out once, and only where something may have to be built.
HOW = $(eval HOW := $$(shell $$(FIND_HOW)))$(HOW)
FIND_HOW = \
	case '$(origin MODE) $(STATIC)' in \
	'file no') echo 'dynamic, because of STATIC=no'; exit ;; \
	file*) ;; \
	*) echo 'with your MODE'; exit ;; \
	esac; \
	case "$(CC) $$($(CC) -dumpmachine 2>&1)" in \
	*musl*) musl='$(CC)' ;; \
	*) musl=musl-gcc; \
		[ '$(origin CC)' = default ] || { \
			echo 'dynamic, because CC is $(CC)'; exit; }; \
		command -v musl-gcc >/dev/null || { \
			echo 'dynamic, because there is no musl-gcc'; exit; } ;; \
	esac; \
	mkdir -p '$(B)'; try='$(B)/try.'$$$$; \
	echo 'int main(void) { return 0; }' | $$musl $(CPPFLAGS) $(CFLAGS) $(FIXED) \
		$(LDFLAGS) -o $$try -x c - $(LDLIBS) >/dev/null 2>&1 && $$try && \
		echo "static, with $$musl" || \
		echo "dynamic, because $$musl cannot link with these flags"; \
	rm -f $$try

B = build
BIN = retry
OBJS = $(patsubst %.c,$(B)/%.o,$(wildcard src/*.c src/*/*.c))
# Programs that test modules by tables.
UNITS = unit unit_attempt
UNIT_OBJS = $(patsubst %.c,$(B)/%.o,$(wildcard tests/unit/*.c tests/unit/*/*.c))
# Programs that test what many processes do to the words of a budget at once.
CONCURRENT = window_check breaker_check fleet_check record_check
# Programs of `make check` that are no tables.
CHECKS = $(CONCURRENT) script_check link_check
# Programs that measure.
MEASURES = floor compare gigabyte waiters
# Programs that try the parsers on anything.
FUZZERS = $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
C_FILES = retry.c $(wildcard src/*.[ch] src/*/*.[ch] tests/*/*.[ch] tests/*/*/*.[ch] \
	measure/*.[ch] measure/*/*.[ch])
SH_FILES = .ci/run completions/retry.bash $(wildcard tests/user/*.bash) \
	$(addprefix tests/,run setup which hosts models/broken fleet/run link/run) \
	$(addprefix tests/tools/,control place portable readme suite) \
	$(addprefix packaging/,check deb rpm arch release dist common.bash \
		action/prepare action/run action/report) \
	$(filter-out %.c,$(wildcard tests/faults/*)) \
	measure/bench/run $(wildcard findings/*.sh)

all: $(BIN)
	@$(if $(SILENT),:,echo '$(NEXT)')
NEXT = $(BIN) $(VERSION) is built ($(HOW)); next: ./$(BIN) -h, $(AGAIN) check, $(strip \
	)sudo $(AGAIN) install
AGAIN = make$(if $(STATIC), STATIC=$(STATIC))$(if $(filter default,$(origin CC)),, CC=$(CC))

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

# Runs a command, and shows a few words of it: with V=1 all, with -s nothing.
SILENT = $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
run = $(if $(V),,@$(if $(SILENT),,echo '$(1)' && ))$(2)

# What each program is made of. What every invocation runs is first, and so lies
# together in memory: each 64 kB of the program that are used cost a page fault.
FIRST = $(patsubst %.c,$(B)/%.o,$(wildcard $(patsubst %,src/%.c,* attempt/* \
	sys/* streams/* output/* text/* policy/* report/message* report/cause cli/* \
	store/budget_client tools/c*)))
# The same for what every invocation writes to: its pages are copied by each fork. In a
# static program the functions of libc that each start needs, and its variables, which the
# names after -u bring in, come before those of modules that few invocations use.
EARLY = $(patsubst %,$(B)/src/%.o,store/segment_store streams/streams streams/relay)
$(BIN): $(B)/retry.o $(EARLY) $(FIRST) $(OBJS)
$(BIN): LIBC = $(if $(findstring -static,$(MODE)),$(patsubst %,-Wl$(,)-u$(,)%,$(LIBC_FIRST)) -lc)
LIBC_FIRST = fork sigaction close eventfd fcntl fstat getenv getpid getppid getrandom memcmp memmove \
	memrchr memset ppoll prctl read sigemptyset signalfd sigpending stpcpy strchrnul \
	strcspn strlen strncmp strpbrk strrchr syscall vfork waitid write

# All of retry, main() included; what the fakes name is replaced.
$(B)/unit_attempt: $(patsubst %.c,$(B)/%.o,$(wildcard tests/models/attempt/*.c)) \
	$(B)/tests/unit/unit.o $(B)/retry.o $(OBJS)
$(B)/unit: $(UNIT_OBJS) $(OBJS)
# Each includes the source that it checks, with smaller numbers.
$(CONCURRENT:%=$(B)/%): $(B)/%: $(B)/tests/models/%.o \
	$(B)/tests/models/explore.o $(B)/src/text/number.o $(B)/src/text/hash.o
$(B)/script_check: $(patsubst %.c,$(B)/%.o,$(wildcard tests/fleet/*.c)) \
	$(OBJS)
# It can have the lookup of a name take long.
$(B)/link_check: $(B)/tests/link/check.o $(OBJS)

$(MEASURES:%=$(B)/%): $(B)/%: $(B)/measure/bench/%.o
$(B)/waiters: $(B)/measure/child.o

$(B)/simulate: $(patsubst %,$(B)/measure/%.o,simulate \
	model tally figure scenario) \
	$(B)/tests/fleet/twin.o $(OBJS)
$(B)/storm/driver: $(patsubst %,$(B)/measure/%.o,driver crowd child \
	redis scenario limiter tally figure witness) \
	$(OBJS)
$(B)/storm/pace: $(patsubst %,$(B)/measure/%.o,pace crowd child \
	redis scenario limiter tally figure witness) \
	$(OBJS)
$(B)/storm/client: $(B)/measure/client.o
$(B)/storm/check: $(patsubst %,$(B)/measure/%.o,check scenario limiter tally \
	witness) \
	$(patsubst %,$(B)/tests/unit/%.o,main unit) $(OBJS)

$(FUZZERS:%=$(B)/fuzz-%): $(B)/fuzz-%: $(B)/tests/fuzz/%.o $(OBJS)

# The functions that a program replaces by fakes. Some have another name where
# times and sizes of files have been made to have 64 bits, or with _FORTIFY_SOURCE.
WIDE_CALLS = prctl:__prctl_time64 clock_gettime:__clock_gettime64 \
	open:open64 fcntl:fcntl64 fstat:fstat64 \
	fcntl:__fcntl_time64 fstat:__fstat64_time64 stat:stat64 \
	stat:__stat64_time64 lseek:lseek64 mmap:mmap64 pread:pread64 \
	ioctl:__ioctl_time64 lstat:lstat64 lstat:__lstat64_time64 \
	open:__open64_2 pread:__pread64_chk
$(B)/unit_attempt: WRAP = \
	$(shell sed -nE 's/^(FAKE|SPY).[^,]*, (\w+),.*/-Wl,--wrap=\2/p' \
		tests/models/attempt/*.c) \
	$(foreach call,$(WIDE_CALLS), \
		-Wl,--wrap=$(word 2,$(subst :, ,$(call))) \
		-Wl,--defsym=__wrap_$(word 2,$(subst :, ,$(call)))=$(strip \
		)__wrap_$(word 1,$(subst :, ,$(call))))
$(B)/link_check: WRAP = -Wl,--wrap=getaddrinfo
$(B)/fuzz-options: WRAP = -Wl,--wrap=_exit,--wrap=write \
	-Wl,--wrap=close,--wrap=malloc,--wrap=free

# Link-time optimization binds a call before the linker could replace what it
# calls: then this program is built apart, without it.
APART = $(if $(findstring -flto,$(CFLAGS)),$(B)/unit_attempt)
$(APART): FORCE
	+@$(QUIET) B=$(B)/apart CFLAGS='$(filter-out -flto%,$(CFLAGS))' \
		$(B)/apart/unit_attempt
	@cp $(B)/apart/unit_attempt $@

$(filter-out $(APART),$(BIN) $(addprefix $(B)/,$(UNITS) $(CHECKS) $(MEASURES) \
		simulate $(addprefix storm/,driver pace client check) \
		$(FUZZERS:%=fuzz-%))):
	@mkdir -p $(@D)
	$(call run,$(notdir $(COMPILER)) -o $@,$(LINK) $(WRAP) -o $@ \
		$(firstword $^) $(LIBC) $(wordlist 2,999,$^) $(LDLIBS))

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call run,$(notdir $(COMPILER)) $<,$(COMPILE) $(WERROR) -MMD -MP -c -o $@ $<)

# The table of known tools, from its text.
$(B)/src/tools/preset.o: $(B)/presets.inc
$(B)/presets.inc: src/tools/presets src/tools/presets.awk
	@mkdir -p $(@D)
	$(call run,awk $<,LC_ALL=C awk -f src/tools/presets.awk $< >$@.new) && mv $@.new $@

$(B)/tests/%.o $(B)/measure/check.o: private override CPPFLAGS += -iquote tests/unit
# Nearly all of them is tables: to compile them takes longer than to run them.
$(UNIT_OBJS): private CFLAGS = -O0

# Changes only when the flags do, and then everything is compiled anew. WERROR
# does not count: it changes no object.
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(COMPILE) $(LINK)' | cmp -s - $@ || \
		echo '$(COMPILE) $(LINK)' >$@

-include $(wildcard $(addprefix $(B)/,*.d src/*.d src/*/*.d tests/*/*.d tests/*/*/*.d \
	measure/*.d measure/*/*.d))

# Both kinds beside each other, as far as this machine can build them.
MUSL_CC = $(shell { $(CC) -dumpmachine | grep -q musl && echo '$(CC)'; } || \
	command -v musl-gcc)
MAKE_STATIC = $(MAKE) --no-print-directory B=build/static BIN=retry-static \
	CC='$(MUSL_CC)' MODE='$(FIXED)'
MAKE_DYNAMIC = $(MAKE) --no-print-directory B=build/dynamic BIN=retry-dynamic \
	STATIC=no

static:
	@test -n '$(MUSL_CC)' || { \
		echo 'make static: no musl-gcc here (Debian: musl-tools)' >&2; \
		exit 1; }
	+@$(MAKE_STATIC) retry-static
dynamic:
	+@$(MAKE_DYNAMIC) retry-dynamic

# The same tests for the dynamic program.
check-dynamic: dynamic
	+@$(MAKE_DYNAMIC) -s check-units
	@RETRY='$(CURDIR)/retry-dynamic' tests/run

# Whoever runs one of them cannot tell which.
# LINES=9000 tries so many.
check-libcs: dynamic
	@$(IF) '$(MUSL_CC)'; then $(MAKE_STATIC) -s retry-static && \
		tests/tools/differ ./retry-dynamic ./retry-static $(LINES); fi

# Machines of other kinds, for which there are cross compilers: of 32 bits,
# big-endian. TARGETS='a b' chooses them.
TARGETS = i686-linux-gnu aarch64-linux-gnu arm-linux-gnueabihf s390x-linux-gnu

# The same tests for these machines.
portable: $(BIN)
	@TARGETS='$(TARGETS)' tests/tools/portable $(UNITS) $(CONCURRENT)

BINDIR = $(DESTDIR)$(PREFIX)/bin
MANDIR = $(DESTDIR)$(PREFIX)/share/man
BASHDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISHDIR = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
# The manual: retry.1, and the pages to which it refers.
PAGES = retry.1 $(wildcard man/*.[57])
# A page by the name that it is installed by: man/retry-budget.7 is
# man7/$(PROGRAM)-budget.7.
INSTALLED_PAGES = $(foreach page,$(PAGES:man/%=%), \
	'$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(page:retry%=$(PROGRAM)%)')
# The name of the program in the manual: in titles, in NAME, in references to
# other pages, and in the commands that a reader may copy.
RENAMED = s/^\.Dt RETRY\>/.Dt $(shell echo '$(PROGRAM)' | tr a-z A-Z)/; \
	s/\([. ]\(Nm\|Os\|Xr\) \|^\.Nd .*\)retry\>/\1$(PROGRAM)/g; \
	/[DQ]l /s/\([ (]\)retry /\1$(PROGRAM) /; \
	/^\.Bd -literal/,/^\.Ed/s/\(^\|[[:blank:]"(/]\|(aq\)retry\([ "]\)/\1$(PROGRAM)\2/

install: $(BIN)
	@case '$(PROGRAM)' in ''|-*|*[!A-Za-z0-9._+-]*) \
		echo "make install: PROGRAM='$(PROGRAM)': not a name" >&2; \
		exit 1; esac
	install -d '$(BINDIR)' '$(MANDIR)/man1' '$(MANDIR)/man5' \
		'$(MANDIR)/man7' '$(BASHDIR)' '$(ZSHDIR)' '$(FISHDIR)'
	install -m 755 $(BIN) '$(BINDIR)/$(PROGRAM)'
	set -- $(INSTALLED_PAGES) && for page in $(PAGES); do \
		sed '$(RENAMED)' $$page >"$$1" && shift || exit; \
	done
	sed 's/^\(complete .*\) retry$$/\1 $(PROGRAM)/' completions/retry.bash \
		>'$(BASHDIR)/$(PROGRAM)'
	sed '1s/ retry$$/ $(PROGRAM)/' completions/_retry \
		>'$(ZSHDIR)/_$(PROGRAM)'
	sed 's/\(complete -c\) retry /\1 $(PROGRAM) /' completions/retry.fish \
		>'$(FISHDIR)/$(PROGRAM).fish'
	chmod 644 $(INSTALLED_PAGES) '$(BASHDIR)/$(PROGRAM)' \
		'$(ZSHDIR)/_$(PROGRAM)' '$(FISHDIR)/$(PROGRAM).fish'

uninstall:
	rm -f '$(BINDIR)/$(PROGRAM)' $(INSTALLED_PAGES) \
		'$(BASHDIR)/$(PROGRAM)' '$(ZSHDIR)/_$(PROGRAM)' \
		'$(FISHDIR)/$(PROGRAM).fish'

# The version is what --version says.
VERSION = $(shell sed -n 's/^.define VERSION "\(.*\)"/\1/p' src/version.h)

dist:
	@packaging/dist '$(VERSION)' '$(B)'

deb rpm arch:
	@packaging/$@ '$(VERSION)'

# The tarball, static programs for this machine and for TARGETS, and their sums.
release:
	@packaging/release '$(VERSION)' $(TARGETS)

# Each builds, installs and runs a package. Those of Debian and Arch Linux and
# the release are built twice and compared. Takes a minute or two.
CHECK_PACKAGES = $(addprefix check-,deb rpm arch apk release)
$(CHECK_PACKAGES):
	@packaging/check $(@:check-%=%) '$(VERSION)' \
		$(if $(filter check-release,$@),$(TARGETS))

# Runs what follows if a tool is installed, and says so if not: tests/setup
# installs it.
QUIET = $(MAKE) --no-print-directory -s
IF = has() { command -v $$1 >/dev/null || \
	{ echo "make $@: no $$1 here, left out"; return 1; }; }; if has

# One job more than processors, unless -j was given.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell expr $$(nproc) + 1))

# Keeps the objects that are up to date. That gcc and clang compile all of the
# source without a warning is for lint. The suite mostly waits, so the rest of the checks
# runs beside it.
check:
	@$(QUIET) $(JOBS) WERROR=-Werror $(BIN)
	+@$(QUIET) $(JOBS) check-suite check-rest

check-suite:
	@RETRY='$(abspath $(BIN))' tests/run \
		$(filter-out $(PACKAGED),$(wildcard tests/user/*.bats))
check-rest:
	+@$(QUIET) WERROR=-Werror $(UNITS:%=$(B)/%) $(CHECKS:%=$(B)/%)
	+@$(QUIET) -O check-house check-text check-units check-models \
		check-script check-link
check-house:
	@tests/house $(B)
check-text:
	@$(IF) mandoc; then mandoc -Tlint -Wwarning $(PAGES); fi
check-units: $(UNITS:%=$(B)/%)
	@for unit in $(UNITS:%=$(B)/%); do $$unit || exit; done
check-models:
	@$(B)/window_check
	@$(B)/breaker_check
	@$(B)/fleet_check
	@$(B)/record_check
check-script:
	@env --default-signal tests/fleet/run $(B)/script_check
check-link:
	@env --default-signal tests/link/run $(B)/link_check

# What is packed and installed, the documents, and the action for GitHub: these
# tests hold as long as nothing of packaging/, of the Makefile, of the manual or
# of the options changes.
check-package: $(BIN)
	@RETRY='$(abspath $(BIN))' tests/run tests/package/*.bats $(PACKAGED)
PACKAGED = $(patsubst %,tests/user/%.bats,completions docs others waiting)

.PHONY: check-package check-suite check-rest check-house check-text check-units check-models \
	check-script check-link

# Runs a command with each of some files, or each few of them, on all processors.
EACH = xargs -P $$(nproc) -n

# The units run as distributions build them, too: with link-time optimization
# _FORTIFY_SOURCE knows the room of more buffers.
lint: $(B)/presets.inc
	clang-format --dry-run -Werror $(C_FILES)
	@printf '%s\n' src/*.h src/*/*.h | $(EACH) 1 sh -c 'echo "extern int \
		declared;" | $(COMPILE) -Werror -fsyntax-only -include "$$1" -x c -' sh
	@$(QUIET) $(JOBS) WERROR=-Werror $(CHECKS:%=$(B)/%)
	@$(QUIET) $(JOBS) CC=clang CFLAGS=-O0 WERROR=-Werror B=build/clang \
		BIN=build/clang/retry build/clang/retry \
		$(UNITS:%=build/clang/%) $(CHECKS:%=build/clang/%)
	@$(QUIET) $(JOBS) CC=gcc CFLAGS='-O3 -flto=auto -D_FORTIFY_SOURCE=3' \
		WERROR=-Werror B=build/lto BIN=build/lto/retry check-units
	cppcheck --quiet --std=c11 -D_GNU_SOURCE -D_PATH_BSHELL='"/bin/sh"' \
		-Isrc --error-exitcode=1 \
		--enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --suppress=ctuuninitvar \
		-j $$(nproc) retry.c src
	@echo clang-tidy retry.c src # on stderr it only counts
	@$(TIDY)
	@printf '%s\n' $(SH_FILES) | $(EACH) 1 shellcheck -x
	@printf '%s\n' tests/user/*.bats tests/package/*.bats | \
		$(EACH) 4 shellcheck -s bats -S warning -e SC2154
	@$(IF) python3; then measure/pace.py --means 20 '40 in' >$(B)/means && \
		grep '40 in' tests/unit/budget/limits.means | diff - $(B)/means; fi
	@tests/tools/control

# .clang-tidy has the checks, and CHECKING those beside them. Of several files
# clang-tidy 14 knows va_start() only in the first one.
TIDY = printf '%s\n' retry.c src/*.c src/*/*.c | $(EACH) 1 sh -c 'clang-tidy \
	--quiet $(CHECKING) "$$@" -- -std=c11 -D_GNU_SOURCE -iquote src -iquote $(B) \
	2>/dev/null' sh

# The static analyzers of gcc and clang take several times as long as the rest:
# for releases.
analyze: CHECKING = --checks=-*,clang-analyzer-*,$(strip \
	)-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,$(strip \
	)-clang-analyzer-security.insecureAPI.vfork,-clang-analyzer-unix.Vfork
analyze: $(B)/presets.inc
	@$(QUIET) $(JOBS) CC=gcc CFLAGS='-O2 -fanalyzer' WERROR=-Werror \
		B=build/analyzer BIN=build/analyzer/retry build/analyzer/retry
	@echo clang-tidy clang-analyzer retry.c src
	@$(TIDY)

# The sanitizers leave the signals of faults alone, as the tests are about them.
# SUITE='tests/hosts young+user' runs the suite as there. Anybody may write reports,
# also where a test has hidden /tmp.
SANITIZE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all
SUITE = tests/run
san:
	@$(QUIET) $(JOBS) CFLAGS='$(SANITIZE)' B=build/san BIN=build/san/retry \
		build/san/retry $(UNITS:%=build/san/%)
	+@log=$$(mktemp -d /var/tmp/san.XXXXXX) && trap 'rm -r "$$log"' EXIT && chmod 1777 "$$log" && \
		status=0; $(QUIET) -j2 SAN_LOG="log_path=$$log/log" san-units san-suite || \
		status=$$?; ! cat "$$log"/* 2>/dev/null && exit $$status
# What options and variables are kept in lasts as long as retry does; the units
# read thousands of them.
san-units:
	@printf 'leak:%s\n' option_allocate environment_set >build/san/kept; \
	export LSAN_OPTIONS=suppressions=build/san/kept:print_suppressions=0; \
	for unit in $(UNITS:%=build/san/%); do $$unit || exit; done
san-suite:
	+@export RETRY_SAN=1 UBSAN_OPTIONS=print_stacktrace=1:$(SAN_LOG) \
	ASAN_OPTIONS=handle_segv=0:handle_abort=0:handle_sigbus=0:$(strip \
	)handle_sigfpe=0:handle_sigill=0:disable_coredump=0:$(strip \
	)detect_leaks=0:$(SAN_LOG); \
	RETRY='$(CURDIR)/build/san/retry' $(SUITE)
.PHONY: analyze san-units san-suite

# Inputs that reach new code are kept in build/fuzz/corpus; tests/fuzz/corpus has
# the fewest that reach as much, a line each, as base64 -w 0 writes it. An input
# that fails is left in build/fuzz.
FUZZ_SECONDS = 60
FUZZ = -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all \
	-fsanitize=fuzzer-no-link,address,undefined
fuzz:
	@$(QUIET) CC=clang CFLAGS='$(FUZZ)' MODE=-fsanitize=fuzzer B=build/fuzz \
		$(FUZZERS:%=build/fuzz/fuzz-%)
	@for name in $(FUZZERS); do \
		mkdir -p build/fuzz/corpus/$$name build/fuzz/first/$$name && \
		n=0 && while read -r input; do \
			n=$$((n + 1)); echo "$$input" | base64 -d \
				>build/fuzz/first/$$name/$$n || exit; \
		done <tests/fuzz/corpus/$$name && \
		build/fuzz/fuzz-$$name -max_total_time=$(FUZZ_SECONDS) \
			-timeout=10 -artifact_prefix=build/fuzz/$$name- \
			build/fuzz/corpus/$$name build/fuzz/first/$$name \
			2>build/fuzz/$$name.log || { \
			tail -n 50 build/fuzz/$$name.log; exit 1; }; \
		sed -n "s/^Done/fuzz: $$name:/p" build/fuzz/$$name.log; \
	done

# All kinds of faults, or some: make faults FAULTS='errnos rlimits'
FAULTS =
faults: $(BIN) $(B)/window_check $(B)/breaker_check $(B)/fleet_check \
		$(B)/unit_attempt
	@RETRY='$(abspath $(BIN))' WINDOW_CHECK='$(abspath $(B)/window_check)' \
		BREAKER_CHECK='$(abspath $(B)/breaker_check)' \
		FLEET_CHECK='$(abspath $(B)/fleet_check)' \
		UNIT_ATTEMPT='$(abspath $(B)/unit_attempt)' \
		tests/faults/run $(FAULTS)

# SIMULATE_PARTS=tune tries the breaker's recovery in other circumstances;
# SIMULATE_PARTS=large is a storm over 10,000 hosts, of a few minutes.
SIMULATE_PARTS ?=
simulate: $(B)/simulate $(B)/storm/check
	@$(B)/storm/check
	@$(IF) python3; then measure/pace.py --means 20 | \
		diff tests/unit/budget/limits.means -; fi
	@$(B)/simulate $(SIMULATE_PARTS)

FLEET_SERVER ?= $(shell command -v redis-server || command -v valkey-server)
# A client is started tens of thousands of times: with musl at half the cost.
STORM_CLIENT = $(if $(MUSL_CC),build/static,$(B))/storm/client
# All storms take about twenty minutes. STORM=hosts runs one scenario,
# VARIANT=full one variant of it, and TIMES=3 each of them three times.
storm: $(BIN) $(B)/storm/driver $(B)/storm/client $(B)/storm/check
	@$(B)/storm/check
	@$(IF) '$(MUSL_CC)'; then $(MAKE_STATIC) -s $(STORM_CLIENT); fi
	@FLEET_SERVER='$(FLEET_SERVER)' TIMES='$(TIMES)' $(B)/storm/driver \
		"$${RETRY:-./$(BIN)}" $(STORM_CLIENT) $(B)/storm $(STORM) \
		$(if $(VARIANT),'$(VARIANT)')

# Each server of a limit takes a minute or so for each program. PACE=ms is one of
# them, RUNS=3 shows medians, and OLD=PROGRAM is an older one, to compare with.
pace: $(BIN) $(B)/storm/pace $(B)/storm/client $(B)/storm/check
	@$(B)/storm/check
	@$(IF) '$(MUSL_CC)'; then $(MAKE_STATIC) -s $(STORM_CLIENT); fi
	@OLD='$(OLD)' RUNS='$(RUNS)' $(B)/storm/pace "$${RETRY:-./$(BIN)}" \
		$(STORM_CLIENT) $(B)/storm $(if $(PACE),'$(PACE)')

bench: $(BIN) $(MEASURES:%=$(B)/%)
	@$(MAKE_DYNAMIC) -s retry-dynamic build/dynamic/floor
	@measure/bench/run

clean:
	rm -rf build retry retry-static retry-dynamic

FORCE:
.PHONY: all help static dynamic check-dynamic check-libcs portable install uninstall dist deb rpm arch \
	release $(CHECK_PACKAGES) check lint san fuzz faults simulate storm \
	pace bench clean FORCE
