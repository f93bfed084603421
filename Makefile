# make                 ./retry
# make static          ./retry-static, with musl-gcc where there is one
# make install         under DESTDIR and PREFIX, by the name PROGRAM
# make check           everything that must hold; tests/setup gets its tools
# make lint san fuzz faults hammer storm simulate bench   more, one by one
#
# CC, CFLAGS, CPPFLAGS, LDFLAGS and LDLIBS are yours.

PROGRAM = retry
PREFIX = /usr/local
DESTDIR =
CFLAGS = -O2

# src/wings has the wings in order: one includes only itself and those before
# it. The pure ones take values and return values; the others own the kernel
# (tests/house checks it).
WINGS := $(shell sed -n 's/^\([a-z]*\) \([a-z]*\) .*/\1:\2/p' src/wings)
PURE = $(patsubst pure:%,src/%,$(filter pure:%,$(WINGS)))
EDGE = $(patsubst edge:%,src/%,$(filter edge:%,$(WINGS))) src

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wwrite-strings -Wformat=2 -Wundef -Wvla -Wpointer-arith -Wcast-qual \
	-Wnull-dereference -Wdouble-promotion -Wimplicit-fallthrough -Wno-psabi
# 64 bits for the sizes of files and the time, on machines of 32 bits too.
WIDE = -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64
# Nothing unwinds the stack; the tables for it are a tenth of the program, which
# is mapped once for us and once more for each child.
LEAN = -fno-asynchronous-unwind-tables
COMPILE = $(CC) -std=c11 -D_GNU_SOURCE $(WIDE) -iquote src $(CPPFLAGS) \
	$(WARNINGS) $(LEAN) $(CFLAGS)
LINK = $(CC) $(CFLAGS) $(MODE) $(LDFLAGS)
# Bound at start-up: the same speed here, and a table that nobody rewrites.
MODE = -Wl,-z,now -Wl,-z,noseparate-code

B = build
BIN = retry
PURE_OBJS = $(patsubst %.c,$(B)/%.o,$(wildcard $(PURE:%=%/*.c)))
EDGE_OBJS = $(patsubst %.c,$(B)/%.o,$(wildcard $(EDGE:%=%/*.c)))
# Programs that test the pure modules.
UNITS = $(patsubst tests/%.c,%,$(wildcard tests/unit*.c))
# Programs that try the ring and the gate with many at once.
RINGS = window_check breaker_check hammer
C_FILES = retry.c $(wildcard src/*.[ch] src/*/*.[ch] tests/*.[ch] tests/*/*.[ch])
SH_FILES = .ci/run completions/retry.bash $(wildcard tests/*.bash) \
	$(addprefix tests/,run control house portable setup) \
	$(addprefix packaging/,check deb dist) \
	$(filter-out %.c,$(wildcard tests/faults/*)) \
	$(addprefix tests/bench/,run loop.sh peak.sh)

all: $(BIN)

# In this order what every invocation runs lies together.
$(BIN): $(B)/retry.o $(EDGE_OBJS) $(PURE_OBJS)
	$(LINK) -o $@ $^ $(LDLIBS)

$(B)/unit_storm: $(patsubst %,$(B)/tests/storm/%.o,tally scale queue scenario capacity)
# All of retry, where what its fakes name is replaced, main() included.
$(B)/unit_attempt: $(patsubst %.c,$(B)/%.o,$(wildcard tests/attempt/*.c)) \
		$(B)/retry.o $(EDGE_OBJS)
# The same calls, by the names that they have where times, or sizes of files,
# have been made to have 64 bits.
WIDE_CALLS = prctl:__prctl_time64 clock_gettime:__clock_gettime64 \
	sigtimedwait:__sigtimedwait64 open:open64 fcntl:fcntl64 fstat:fstat64 \
	fcntl:__fcntl_time64 fstat:__fstat64_time64
$(B)/unit_attempt: WRAP = $(foreach call,$(WIDE_CALLS),$(strip \
	-Wl,--wrap=$(lastword $(subst :, ,$(call))) \
	-Wl,--defsym=__wrap_$(lastword $(subst :, ,$(call)))=__wrap_$(firstword $(subst :, ,$(call))))) \
	$(shell sed -n 's/^FAKE(\(.*\));$$/-Wl,--wrap=\1/p' \
		tests/unit_attempt.c tests/attempt/*.c)
$(UNITS:%=$(B)/%) $(B)/hammer: $(B)/%: $(B)/tests/%.o $(PURE_OBJS)
	$(LINK) $(WRAP) -o $@ $^ $(LDLIBS)

$(B)/floor $(B)/compare $(B)/relay $(B)/replay $(B)/held: $(B)/%: $(B)/tests/bench/%.o
	$(LINK) -o $@ $< $(LDLIBS)

# They have a small ring, or a gate, of their own.
$(B)/window_check $(B)/breaker_check: $(B)/%: $(B)/tests/%.o $(B)/src/text/number.o
	$(LINK) -o $@ $^ $(LDLIBS)

$(B)/line $(B)/window: $(B)/%: $(B)/tests/bench/%.o $(PURE_OBJS)
	$(LINK) -o $@ $^ $(LDLIBS)

# The storms in virtual time.
SIMULATE = simulate agree tune trial model queue tally figure scale \
	scenario capacity
$(B)/simulate: $(SIMULATE:%=$(B)/tests/storm/%.o) $(PURE_OBJS) $(EDGE_OBJS)
	$(LINK) -o $@ $^ $(LDLIBS)

# Programs that try the parsers on anything.
FUZZERS = $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
$(B)/fuzz-options: WRAP = -Wl,--wrap=_exit,--wrap=write \
	-Wl,--wrap=close,--wrap=malloc
$(FUZZERS:%=$(B)/fuzz-%): $(B)/fuzz-%: $(B)/tests/fuzz/%.o $(PURE_OBJS) \
		$(EDGE_OBJS)
	$(LINK) $(WRAP) -o $@ $^ $(LDLIBS)

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(COMPILE) $(WERROR) -MMD -MP -c -o $@ $<

# They are tables: what they cost is to compile them.
$(UNITS:%=$(B)/tests/%.o): private CFLAGS = -O0

# Touched only when the flags are others than last time. WERROR is not of them:
# it changes no object.
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(COMPILE) $(LINK)' | cmp -s - $@ || \
		echo '$(COMPILE) $(LINK)' >$@

-include $(wildcard $(addprefix $(B)/,*.d src/*.d src/*/*.d tests/*.d tests/*/*.d))

# At a fixed address: relocating itself would cost it a fifth of its start.
MUSL_CC = $(shell command -v musl-gcc || \
	{ $(CC) -dumpmachine | grep -q musl && echo $(CC); })
STATIC = $(MAKE) --no-print-directory B=build/static BIN=retry-static \
	CC='$(MUSL_CC)' MODE='-static -no-pie'

static:
	@test -n '$(MUSL_CC)' || { \
		echo 'make static: no musl-gcc here (Debian: musl-tools)' >&2; \
		exit 1; }
	@$(STATIC) retry-static

# The same tests, through the static program.
check-static: static
	@$(STATIC) -s $(UNITS:%=build/static/%)
	@for unit in $(UNITS:%=build/static/%); do $$unit || exit; done
	@RETRY='$(CURDIR)/retry-static' tests/run

# Other machines, of 32 bits and of the other order of bytes: TARGETS='a b'.
portable: $(BIN)
	@tests/portable $(UNITS) $(filter-out hammer,$(RINGS))

BINDIR = $(DESTDIR)$(PREFIX)/bin
MANDIR = $(DESTDIR)$(PREFIX)/share/man/man1
BASHDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISHDIR = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
# In the manual: the title, the name, and the commands that one may copy.
RENAMED = s/^\.Dt RETRY /.Dt $(shell echo '$(PROGRAM)' | tr a-z A-Z) /; \
	s/^\.Nm retry$$/.Nm $(PROGRAM)/; /Ql /s/ retry / $(PROGRAM) /; \
	/^\.Bd -literal/,/^\.Ed/s/\(^\|[ "]\|(aq\)retry\([ "]\)/\1$(PROGRAM)\2/

install: $(BIN)
	@case '$(PROGRAM)' in ''|-*|*[!A-Za-z0-9._+-]*) \
		echo "make install: PROGRAM='$(PROGRAM)': not a name" >&2; \
		exit 1; esac
	install -d '$(BINDIR)' '$(MANDIR)' '$(BASHDIR)' '$(ZSHDIR)' '$(FISHDIR)'
	install -m 755 $(BIN) '$(BINDIR)/$(PROGRAM)'
	sed '$(RENAMED)' retry.1 >'$(MANDIR)/$(PROGRAM).1'
	sed 's/^\(complete .*\) retry$$/\1 $(PROGRAM)/' completions/retry.bash \
		>'$(BASHDIR)/$(PROGRAM)'
	sed '1s/ retry$$/ $(PROGRAM)/' completions/_retry \
		>'$(ZSHDIR)/_$(PROGRAM)'
	sed 's/\(complete -c\) retry /\1 $(PROGRAM) /' completions/retry.fish \
		>'$(FISHDIR)/$(PROGRAM).fish'
	chmod 644 '$(MANDIR)/$(PROGRAM).1' '$(BASHDIR)/$(PROGRAM)' \
		'$(ZSHDIR)/_$(PROGRAM)' '$(FISHDIR)/$(PROGRAM).fish'

uninstall:
	rm -f '$(BINDIR)/$(PROGRAM)' '$(MANDIR)/$(PROGRAM).1' \
		'$(BASHDIR)/$(PROGRAM)' '$(ZSHDIR)/_$(PROGRAM)' \
		'$(FISHDIR)/$(PROGRAM).fish'

# The version is what --version says.
VERSION = $(shell sed -n 's/^.define VERSION "\(.*\)"/\1/p' src/cli/option_table.h)

dist:
	@packaging/dist '$(VERSION)' '$(B)'

deb:
	@packaging/deb '$(VERSION)'

# Builds it twice and installs it next to Debian's own retry; a minute or two.
check-deb:
	@packaging/check '$(VERSION)'

# What is not installed is left out, but not silently: tests/setup gets it.
QUIET = $(MAKE) --no-print-directory -s
IF = has() { command -v $$1 >/dev/null || \
	{ echo "make $@: no $$1 here, left out"; return 1; }; }; if has

# As many jobs as processors, unless somebody has said how many.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# With the objects that there are: that all of them can be made without a warning,
# by gcc and by clang, is for lint.
check:
	@$(QUIET) $(JOBS) WERROR=-Werror $(BIN) $(UNITS:%=$(B)/%) $(RINGS:%=$(B)/%)
	@$(QUIET) $(JOBS) -O check-house check-text check-units check-rings
	@RETRY='$(abspath $(BIN))' tests/run

check-house:
	@tests/house $(B)
check-text:
	@$(IF) mandoc; then mandoc -Tlint -Wwarning retry.1; fi
	@$(IF) shellcheck; then shellcheck $(filter-out tests/faults/%,$(SH_FILES)); fi
check-units:
	@for unit in $(UNITS:%=$(B)/%); do $$unit || exit; done
check-rings:
	@$(B)/window_check
	@$(B)/breaker_check
.PHONY: check-house check-text check-units check-rings

lint:
	clang-format --dry-run -Werror $(C_FILES)
	@for header in src/*.h src/*/*.h; do \
		$(COMPILE) -Werror -fsyntax-only -include $$header \
			-x c /dev/null || exit; \
	done
	@for compiler in gcc clang; do \
		$(QUIET) $(JOBS) CC=$$compiler CFLAGS=-O2 WERROR=-Werror \
			B=build/$$compiler BIN=build/$$compiler/retry \
			build/$$compiler/retry $(UNITS:%=build/$$compiler/%) \
			$(RINGS:%=build/$$compiler/%) || exit; \
	done
	@$(QUIET) CC=gcc CFLAGS='-O2 -fanalyzer' WERROR=-Werror \
		B=build/analyzer BIN=build/analyzer/retry build/analyzer/retry
	cppcheck --quiet --std=c11 -D_GNU_SOURCE -Isrc --error-exitcode=1 \
		--enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --suppress=allocaCalled --suppress=ctuuninitvar \
		retry.c src
	@echo clang-tidy retry.c src # on stderr it only counts
	@printf '%s\n' retry.c src/*.c src/*/*.c | xargs -n 4 -P 2 sh -c \
		'clang-tidy --quiet "$$@" -- -std=c11 -D_GNU_SOURCE \
		-iquote src 2>/dev/null' sh
	shellcheck $(filter tests/faults/%,$(SH_FILES)) # they take seconds
	shellcheck -s bats -S warning -e SC2154 tests/*.bats
	@tests/control

# Signals of the hardware's own go where they would without us. A report may
# land in a test's file: it is also in build/san/log*.
SANITIZE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all
SAN_LOG = log_path=$(CURDIR)/build/san/log
san:
	@rm -f build/san/log*
	@$(QUIET) CFLAGS='$(SANITIZE)' B=build/san BIN=build/san/retry \
		build/san/retry $(UNITS:%=build/san/%)
	@for unit in $(UNITS:%=build/san/%); do $$unit || exit; done
	@export RETRY_SAN=1 UBSAN_OPTIONS=print_stacktrace=1:$(SAN_LOG) \
	ASAN_OPTIONS=handle_segv=0:handle_abort=0:handle_sigbus=0:$(strip \
	)handle_sigfpe=0:handle_sigill=0:disable_coredump=0:$(strip \
	)detect_leaks=0:$(SAN_LOG); \
	RETRY='$(CURDIR)/build/san/retry' tests/run
	@! cat build/san/log* 2>/dev/null

# What is found on the way is kept in build/fuzz/corpus; tests/fuzz/corpus has
# the least of it that reaches as far. A finding is left in build/fuzz.
FUZZ_SECONDS = 60
FUZZ = -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all \
	-fsanitize=fuzzer-no-link,address,undefined
fuzz:
	@$(QUIET) CC=clang CFLAGS='$(FUZZ)' MODE=-fsanitize=fuzzer B=build/fuzz \
		$(FUZZERS:%=build/fuzz/fuzz-%)
	@for name in $(FUZZERS); do \
		mkdir -p build/fuzz/corpus/$$name && \
		build/fuzz/fuzz-$$name -max_total_time=$(FUZZ_SECONDS) \
			-timeout=10 -artifact_prefix=build/fuzz/$$name- \
			build/fuzz/corpus/$$name tests/fuzz/corpus/$$name \
			2>build/fuzz/$$name.log || { \
			tail -n 50 build/fuzz/$$name.log; exit 1; }; \
		sed -n "s/^Done/fuzz: $$name:/p" build/fuzz/$$name.log; \
	done

# All kinds of them, or some: make faults FAULTS='errnos rlimits'
FAULTS =
faults: $(BIN) $(B)/window_check $(B)/breaker_check
	@RETRY='$(abspath $(BIN))' WINDOW_CHECK='$(abspath $(B)/window_check)' \
		BREAKER_CHECK='$(abspath $(B)/breaker_check)' \
		tests/faults/run $(FAULTS)

# SIMULATE_PARTS=tune tries the breaker's recovery in many circumstances.
SIMULATE_PARTS =
simulate: $(B)/simulate
	@mkdir -p build/storm
	@$(B)/simulate $(SIMULATE_PARTS)

HAMMER_SECONDS = 60
hammer: $(B)/hammer
	@$(B)/hammer $(HAMMER_SECONDS)

# All storms take some five minutes. STORM=crowd, or 1, is one of them, and
# VARIANT=full, or 4, one of its runs.
$(B)/storm/driver: $(patsubst %,$(B)/tests/storm/%.o,driver crowd server usage \
		capacity scenario tally figure scale) $(B)/src/text/number.o
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ $(LDLIBS)

$(B)/storm/client: $(B)/tests/storm/client.o
	@mkdir -p $(@D)
	$(LINK) -o $@ $< $(LDLIBS)

# It is started tens of thousands of times: with musl, at half the cost.
STORM_CLIENT = $(if $(MUSL_CC),build/static,$(B))/storm/client
storm: $(BIN) $(B)/storm/driver $(B)/storm/client
	@$(IF) '$(MUSL_CC)'; then $(STATIC) -s $(STORM_CLIENT); fi
	@$(B)/storm/driver "$${RETRY:-./$(BIN)}" $(STORM_CLIENT) $(B)/storm \
		$(STORM) $(if $(VARIANT),'$(VARIANT)')

bench: $(BIN) $(B)/floor $(B)/compare $(B)/relay $(B)/replay $(B)/held \
		$(B)/line $(B)/window
	@$(IF) '$(MUSL_CC)'; then $(STATIC) -s retry-static build/static/floor; fi
	@tests/bench/run

clean:
	rm -rf build retry retry-static

FORCE:
.PHONY: all static check-static portable install uninstall dist deb check-deb \
	check lint san fuzz faults simulate storm hammer bench clean FORCE
