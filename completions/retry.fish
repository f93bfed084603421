# fish completion for retry(1): its options, then the completion of the command
# that it runs.

# Options that --no- before their name takes back.
set -g __retry_flags kill-orphans preserve-status keep-status auto http replay-stdin \
    hold-stdout hold-stderr chronic budget-required json prom budget-gc quiet verbose dry-run

# Takes retry's options off the words before the cursor and prints what is left,
# one a line: the command and its arguments so far. Fails where the last option
# still lacks its argument.
function __retry_command
    set -l words (commandline -opc)
    argparse --stop-nonopt n/attempts= retries= limit= T/deadline= w/wait= t/timeout= \
        idle-timeout= s/signal= k/kill-after= kill-orphans preserve-status d/delay= \
        b/backoff= factor= max-delay= min-delay= j/jitter= seed= reset-after= \
        splay= retry-after= retry-on= retry-if= stop-on= fail-on= success-on= \
        consecutive= keep-status exhausted-status= a/auto preset= http http-status= max-retry-after= \
        method= idempotency-key= I/replay-stdin stdin-max= O/hold-stdout \
        E/hold-stderr chronic hold-max= B/budget= budget-ratio= budget-min= \
        budget-window= budget-wait= budget-cooldown= rate= \
        budget-dir= budget-required breaker= budget-status= json prom budget-reset= \
        budget-gc nested= fleet= fleet-auth= fleet-timeout= \
        fleet-min= fleet-ratio= fleet-alone= q/quiet v/verbose label= log-format= report= metrics= \
        trace= on-retry= on-give-up= progress= dry-run policy= h/help V/version \
        no-$__retry_flags -- $words[2..-1] 2>/dev/null
    or return
    string join \n -- $argv
    return 0
end

# Whether the word at the cursor can still be an option.
function __retry_at_options
    set -l command (__retry_command)
    or return 0
    test -z "$command"
    and not contains -- -- (commandline -opc)
end

function __retry_complete
    set -l command (__retry_command)
    or return
    set -l word (commandline -ct)
    # no command begins with a dash
    test -z "$command"
    and string match -q -- '-*' $word
    and return
    set -l line (string escape -- $command) $word
    complete -C "$line"
end

function __retry_signals
    for name in (kill -l | string split -n ' ')
        printf '%s\n' $name SIG$name
    end
end

# The conditions of a list, each behind a head.
function __retry_conditions --argument-names head
    printf '%s\t%s\n' $head"timeout" 'an attempt that a limit ended' \
        $head"idle" 'an attempt that wrote nothing for too long' \
        $head"fail" 'any failure' $head"signal" 'death by any signal'
    for name in (__retry_signals | string match 'SIG*')
        printf '%s\tdeath by this signal\n' $head$name
    end
    printf '%s\t%s\n' $head"http:" 'a status, 503, or 5xx' \
        $head"over:" 'an attempt that ran longer' \
        $head"under:" 'an attempt that ran for less' \
        $head"again:" 'what follows, but not at the first attempt' \
        $head"stderr:" 'a pattern in a line' $head"stdout:" 'a pattern in a line'
end

# The same, after what the word at the cursor has already.
function __retry_list
    set -l head (commandline -ct | string match -r -- '^(?:--[a-z-]+=)?(.*,)?')
    __retry_conditions "$head[2]"
end

# The same for a list behind a number and a colon.
function __retry_limit
    set -l head (commandline -ct |
        string match -r -- '^(?:--[a-z-]+=)?([0-9]+:(?:.*,)?)')
    and __retry_conditions "$head[2]"
end

# What tells how long to wait: a stream, or a list behind a time and a colon.
function __retry_waits
    set -l head (commandline -ct |
        string match -r -- '^(?:--[a-z-]+=)?([0-9][^:]*:(?:.*,)?)')
    and printf '%s\n' $head[2]http:
    printf '%s\n' "$head[2]"stderr: "$head[2]"stdout:
end

# The program itself knows its presets, whatever it is called.
function __retry_presets
    set -l head (commandline -ct | string match -r -- '^(?:--[a-z-]+=)?(.*,)?')
    set head "$head[2]"
    set -l words (commandline -opc)
    # "git      what it knows (programs)" becomes "git<TAB>what it knows"
    eval $words[1] --preset list 2>/dev/null |
        string replace -r '^(\S+) +(.*?)( \(.*)?$' $head'$1\t$2'
    printf '%s\t%s\n' $head"auto" 'the preset for the command'
    test -n "$head"
    or printf '%s\t%s\n' none 'take back all presets' list 'print all presets'
end

# Keys of budgets, as the names of their files show them. Left out are those
# that no file name can hold, and what is cut off.
function __retry_budgets
    set -l directory /dev/shm
    test -n "$RETRY_BUDGET_DIR"
    and set directory $RETRY_BUDGET_DIR
    set -l prefix $directory/retry-v6.
    # those that a group shares are nobody's own
    test -g $directory
    or set prefix $prefix(id -u).
    set -l paths $prefix*
    string replace -- $prefix '' $paths | string match -r '^[^%~]*$'
end

# Names of policies. A file's own name has to have a "/".
function __retry_policies
    set -l word (commandline -ct | string replace -r -- '^--[a-z-]+=' '')
    if string match -q -- '*/*' "$word"
        __fish_complete_path "$word"
        return
    end
    for directory in (string match -- '/*' $XDG_CONFIG_HOME $HOME/.config /etc)
        set -l paths $directory/retry/*.conf
        string replace -rf -- '.*/(.+)\.conf$' '$1' $paths
    end
end

# The command that a line for the shell begins with.
function __retry_lines
    set -l word (commandline -ct | string replace -r -- '^--[a-z-]+=' '')
    complete -C "$word"
end

complete -c retry -f -a '(__retry_complete)'

function __retry_option
    complete -c retry -n __retry_at_options $argv
end

__retry_option -s n -l attempts -x -a inf -d 'Make at most this many attempts, the first included'
__retry_option -l retries -x -a inf -d 'Make at most this many retries'
__retry_option -l limit -x -a '(__retry_limit)' -d 'Make at most so many retries after these failures'
__retry_option -s T -l deadline -x -d 'End everything after this time'
__retry_option -s w -l wait -x -d 'Wait for targets or until the command succeeds, at most this long'
__retry_option -s t -l timeout -x -d 'End an attempt after this time, or by a schedule'
__retry_option -l idle-timeout -x -d 'End an attempt that writes nothing for this long'
__retry_option -s s -l signal -x -a '(__retry_signals)' -d 'What ends an attempt at a limit'
__retry_option -s k -l kill-after -x -d 'Then KILL, this much later'
__retry_option -l kill-orphans -d 'End what a failed attempt left in the background'
__retry_option -l preserve-status -d 'Exit as the command did after a time limit'
__retry_option -s d -l delay -x -d 'Base delay, or an explicit schedule'
__retry_option -s b -l backoff -x -a 'exponential linear constant fibonacci' -d 'How delays grow'
__retry_option -l factor -x -d 'Of the exponential backoff, at least 1'
__retry_option -l max-delay -x -d 'No delay is longer'
__retry_option -l min-delay -x -d 'No delay is shorter'
__retry_option -s j -l jitter -x -a 'full equal decorrelated none' -d 'How delays are made random'
__retry_option -l seed -x -d 'Make the random delays repeatable'
__retry_option -l reset-after -x -d 'After an attempt this long the delays start anew'
__retry_option -l splay -x -d 'A random wait before the first attempt'
__retry_option -l retry-after -x -a '(__retry_waits)' -d 'The output tells how long to wait'
__retry_option -l retry-on -x -a '(__retry_list)' -d 'Retry only these failures'
__retry_option -l retry-if -x -a '(__retry_lines)' -d 'Retry only if this succeeds'
__retry_option -l stop-on -x -a '(__retry_list)' -d 'Never retry these failures'
__retry_option -l fail-on -x -a '(__retry_list)' -d 'A failure although the command exited with 0'
__retry_option -l success-on -x -a '(__retry_list)' -d 'A success although the command did not exit with 0'
__retry_option -l consecutive -x -d 'Succeed after so many successes in a row'
__retry_option -l keep-status -d 'Exit as the command did, however that was judged'
__retry_option -l exhausted-status -x -a 75 -d 'Exit so if only a limit has ended the retries'
__retry_option -s a -l auto -d 'Know the failures of the command'
__retry_option -l preset -x -a '(__retry_presets)' -d 'Retry by the rules for a tool'
__retry_option -l http -d 'Judge by the HTTP status'
__retry_option -l http-status -r -F -d 'The same, from a file that the command writes'
__retry_option -l max-retry-after -x -d 'Give up if the server asks for more'
__retry_option -l method -x -a 'GET HEAD OPTIONS PUT DELETE POST PATCH' -d 'Of the request'
__retry_option -l idempotency-key -x -a auto -d 'The same for each attempt'
__retry_option -s I -l replay-stdin -d 'Give each attempt the same input'
__retry_option -l stdin-max -x -d 'Most bytes of that input'
__retry_option -s O -l hold-stdout -d 'Write only the output of the attempt that succeeds'
__retry_option -s E -l hold-stderr -d 'Write error output only on final failure'
__retry_option -l chronic -d 'Write only what the last wrote if all fail'
__retry_option -l hold-max -x -d 'Most bytes of either held output'
__retry_option -s B -l budget -x -a '(__retry_budgets)' -d 'Share an allowance of retries'
__retry_option -l budget-ratio -x -d 'Retries for each success'
__retry_option -l budget-min -x -d 'Retries in any case'
__retry_option -l budget-window -x -d 'The time that these are counted in'
__retry_option -l budget-wait -x -d 'Wait for allowance'
__retry_option -l budget-cooldown -x -d 'No retries for this long once one was denied'
__retry_option -l rate -x -d 'Most attempts that begin in a time, as in 10/s'
__retry_option -l budget-dir -x -a '(__fish_complete_directories)' -d 'Where budgets live'
__retry_option -l budget-required -d 'Do not run if the budget cannot be used'
__retry_option -l breaker -x -a on -d 'Hold all attempts after failures in a row'
__retry_option -l budget-status -x -a '(__retry_budgets)' -d 'Show a budget, or all'
__retry_option -l json -d 'Show it as JSON'
__retry_option -l prom -d 'Show it as metrics for Prometheus'
__retry_option -l budget-reset -x -a '(__retry_budgets)' -d 'Forget all that a budget counted'
__retry_option -l budget-gc -d 'Remove budgets that nobody uses'
__retry_option -l nested -x -a 'share add once' -d 'What is left of the retries below another retry'
__retry_option -l fleet -x -d 'Share the budget with other hosts by this server'
__retry_option -l fleet-auth -r -F -d 'Its password'
__retry_option -l fleet-timeout -x -d 'For one question'
__retry_option -l fleet-min -x -d 'Retries of all hosts in any case'
__retry_option -l fleet-ratio -x -d 'Retries of all hosts for each success'
__retry_option -l fleet-alone -x -d 'Retries of this host without the server'
__retry_option -s q -l quiet -d 'None of its own lines'
__retry_option -s v -l verbose -d 'More of its own lines'
__retry_option -l label -x -d 'Begin each message with this'
__retry_option -l log-format -x -a 'text json github' -d 'Of its own lines'
__retry_option -l report -r -F -d 'Write what became of each attempt, as JSON'
__retry_option -l metrics -r -F -d 'Write how it ended, as metrics for Prometheus'
__retry_option -l trace -r -F -d 'Add a trace of the attempts, for OpenTelemetry'
__retry_option -l on-retry -x -a '(__retry_lines)' -d 'Run this once a retry is decided'
__retry_option -l on-give-up -x -a '(__retry_lines)' -d 'Run this once it has given up'
__retry_option -l progress -x -a 'auto always never' -d 'Count down long waits'
__retry_option -l dry-run -d 'Print delays, worst case and rules, run nothing'
__retry_option -l policy -x -a '(__retry_policies)' -d 'Options from a file'
__retry_option -s h -l help -d 'Show the options'
__retry_option -s V -l version -d 'Show the version'

for flag in $__retry_flags
    complete -c retry -n "__retry_at_options; and string match -q -- '--no-*' (commandline -ct)" \
        -l no-$flag -d "Take back --$flag"
end

functions -e __retry_option
