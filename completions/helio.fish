# SPDX-License-Identifier: Apache-2.0
# fish completion of helio

function __helio_subcommand
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end

function __helio_experiments
    for name in *.er *.erg (commandline -ct)*.er (commandline -ct)*.erg
        test -e $name; and echo $name
    end | sort -u
    __fish_complete_directories
end

# The program to measure comes after the options: everything behind it is a command of its own.
function __helio_collect_program
    __helio_subcommand collect
end

complete -c helio -f
complete -c helio -n __fish_is_first_arg -a collect -d 'run a program and record where its time goes'
complete -c helio -n __fish_is_first_arg -a ctl -d 'pause, resume, sample or end a recording in progress'
complete -c helio -n __fish_is_first_arg -a doctor -d 'say what this machine and this user can record'
complete -c helio -n __fish_is_first_arg -a print -d 'print what was recorded'
complete -c helio -n __fish_is_first_arg -a help -d 'show help'
complete -c helio -n __fish_is_first_arg -a version -d 'show the version'
complete -c helio -n __fish_is_first_arg -l help -s h -d 'show help'
complete -c helio -n __fish_is_first_arg -l version -s V -d 'show the version'
complete -c helio -n '__helio_subcommand help' -a 'collect ctl doctor print help version'

complete -c helio -n '__helio_subcommand print' -a '(__helio_experiments)'
complete -c helio -n '__helio_subcommand print' -o functions -d 'the functions with the current metrics'
complete -c helio -n '__helio_subcommand print' -o fsummary -d 'all metrics of every function'
complete -c helio -n '__helio_subcommand print' -o fsingle -x -d 'all metrics of one function'
complete -c helio -n '__helio_subcommand print' -o callers-callees -d 'who calls whom'
complete -c helio -n '__helio_subcommand print' -o csingle -x -d 'callers and callees of one function'
complete -c helio -n '__helio_subcommand print' -o calltree -d 'the tree of calls'
complete -c helio -n '__helio_subcommand print' -o experiment_list -d 'the experiments and their ids'
complete -c helio -n '__helio_subcommand print' -o thread_list -d 'how many threads there were'
complete -c helio -n '__helio_subcommand print' -o threads -d 'the threads with the current metrics'
complete -c helio -n '__helio_subcommand print' -o objects -d 'the load objects'
complete -c helio -n '__helio_subcommand print' -o header -d 'what was recorded, where and how'
complete -c helio -n '__helio_subcommand print' -o overview -d 'the total of every metric'
complete -c helio -n '__helio_subcommand print' -o statistics -d 'resources used by the whole process'
complete -c helio -n '__helio_subcommand print' -o sample_detail -d 'the same between sample points'
complete -c helio -n '__helio_subcommand print' -o metrics -x -a 'e.%totalcpu:i.%totalcpu:name e.user:i.user:name default any' -d 'set the metrics to show'
complete -c helio -n '__helio_subcommand print' -o sort -x -a 'e.totalcpu i.totalcpu e.user i.user name' -d 'set the metric to sort by'
complete -c helio -n '__helio_subcommand print' -o metric_list -d 'the current and all available metrics'
complete -c helio -n '__helio_subcommand print' -o cmetric_list -d 'the metrics of callers-callees and calltree'
complete -c helio -n '__helio_subcommand print' -o limit -x -d 'print at most N rows'
complete -c helio -n '__helio_subcommand print' -o name -x -a 'long short mangled long:soname short:soname mangled:soname' -d 'how to write function names'
complete -c helio -n '__helio_subcommand print' -o viewmode -x -a 'user expert machine' -d 'which call stacks to show'
complete -c helio -n '__helio_subcommand print' -o printmode -x -a 'text json' -d 'text, JSON or a delimiter'
complete -c helio -n '__helio_subcommand print' -o outfile -r -F -d 'print to a file'
complete -c helio -n '__helio_subcommand print' -o appendfile -r -F -d 'print to the end of a file'
complete -c helio -n '__helio_subcommand print' -o script -r -F -d 'run the commands in a file'
complete -c helio -n '__helio_subcommand print' -o version -d 'show the version'
complete -c helio -n '__helio_subcommand print' -o help -d 'list the commands'
complete -c helio -n '__helio_subcommand print' -o quit -d 'run nothing that follows'
complete -c helio -n '__helio_subcommand print' -l color -x -a 'auto always never' -d colours
complete -c helio -n '__helio_subcommand print' -l no-pager -d 'do not start a pager'
complete -c helio -n '__helio_subcommand print' -s h -l help -d 'show help'
complete -c helio -n '__helio_subcommand print' -s V -l version -d 'show the version'

complete -c helio -n __helio_collect_program -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c helio -n '__helio_subcommand collect' -s p -l clock -x -a 'on off hi lo' -d 'clock profiling'
complete -c helio -n '__helio_subcommand collect' -s S -l sample -x -a 'on off' -d 'sample points'
complete -c helio -n '__helio_subcommand collect' -s F -l follow -x -a 'on off' -d 'follow descendants'
complete -c helio -n '__helio_subcommand collect' -s o -l output -r -d 'the experiment to make'
complete -c helio -n '__helio_subcommand collect' -s O -l overwrite -r -d 'the same, removing what is there'
complete -c helio -n '__helio_subcommand collect' -s C -l comment -x -d 'a line of notes'
complete -c helio -n '__helio_subcommand collect' -s t -l duration -x -d 'record only in this time'
complete -c helio -n '__helio_subcommand collect' -s l -l sample-signal -x -a 'USR1 USR2' -d 'a signal that takes a sample point'
complete -c helio -n '__helio_subcommand collect' -s y -l pause-signal -x -a 'USR1 USR2' -d 'a signal that pauses and resumes'
complete -c helio -n '__helio_subcommand collect' -s L -l size-limit -x -a unlimited -d 'record no more than this'
complete -c helio -n '__helio_subcommand collect' -s d -l directory -x -a '(__fish_complete_directories)' -d 'where to make the experiment'
complete -c helio -n '__helio_subcommand collect' -s g -l group -r -d 'add the experiment to this group'
complete -c helio -n '__helio_subcommand collect' -s A -l archive -x -a 'on off copy src' -d 'what to keep in the experiment'
complete -c helio -n '__helio_subcommand collect' -s a -x -a 'on off ldobjects usedldobjects src usedsrc all' -d 'the same, in the words of the newer tool'
complete -c helio -n '__helio_subcommand collect' -l engine -x -a 'auto perf monitor' -d 'how to measure'
complete -c helio -n '__helio_subcommand collect' -l depth -x -d 'the deepest call stack'
complete -c helio -n '__helio_subcommand collect' -s n -l dry-run -d 'run and create nothing'
complete -c helio -n '__helio_subcommand collect' -s v -l verbose -d 'show version and parameters'
complete -c helio -n '__helio_subcommand collect' -s q -l quiet -d 'only errors and warnings'
complete -c helio -n '__helio_subcommand collect' -s V -l version -d 'show the version'
complete -c helio -n '__helio_subcommand collect' -l help -d 'show help'

complete -c helio -n '__helio_subcommand ctl; and test (count (commandline -opc)) -eq 2' -a 'pause resume sample stop status'
complete -c helio -n '__helio_subcommand ctl; and test (count (commandline -opc)) -gt 2' -a '(__helio_experiments)'
complete -c helio -n '__helio_subcommand ctl' -l help -d 'show help'
complete -c helio -n '__helio_subcommand doctor' -l json -d 'print JSON'
complete -c helio -n '__helio_subcommand doctor' -l help -d 'show help'
