# SPDX-License-Identifier: Apache-2.0
# bash completion of helio

_helio_experiments() {
	compopt -o filenames 2>/dev/null
	local name
	while IFS= read -r name; do
		case $name in
		*.er | *.erg) COMPREPLY+=("$name") ;;
		*) [[ -d $name ]] && COMPREPLY+=("$name") ;;
		esac
	done < <(compgen -f -- "$1")
}

_helio_words() {
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$1" -- "$2")
}

_helio_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen "$1" -- "$2")
}

_helio_print() {
	local cur=$1 prev=$2
	local commands='-functions -fsummary -fsingle -callers-callees -csingle -cprepend -cappend -crmfirst -crmlast -calltree -stacks -timeline
		-flamegraph -report -en_desc -procstats -locks -lock -experiment_list -thread_list -threads -objects -header
		-overview -statistics -sample_detail -metrics -sort -metric_list -cmetric_list -filters -describe -sample_list
		-lwp_list -cpu_list -sample_select -thread_select -lwp_select -cpu_select -compare -object_list -object_show
		-object_hide -object_api -object_select -objects_default -open_exp -add_exp -drop_exp -indxobj -indxobj_list
		-indxobj_define -indxobj_metrics -indxobj_sort -indx_metric_list -limit -name -viewmode -printmode -outfile -appendfile -script -version -help
		-quit -leaks -allocs -heapstat -ioactivity -iodetail -iocallstack -iostat -mpistat -mpimatrix -mpiwaits -mpicomms -data_objects -data_single
		-data_layout -memobj -mobj_list -mobj_define -machinemodel -pcs
		-psummary -lines -lsummary -disasm -scc -dcc -cc -inlines -sthresh -dthresh -setpath -addpath -pathmap'
	case $prev in
	-printmode) _helio_words 'text html json' "$cur" ;;
	-compare) _helio_words 'off on delta ratio' "$cur" ;;
	-inlines) _helio_words 'trees on off' "$cur" ;;
	-scc | -dcc | -cc) _helio_words 'basic all none warn parallel query loop pipe inline memops codegen hex intel nosrc asrc' "$cur" ;;
	-indxobj) _helio_words 'Threads CPUs Samples Seconds Processes Experiment_IDs Datasize Duration' "$cur" ;;
	-*_select) _helio_words 'all' "$cur" ;;
	-viewmode) _helio_words 'user expert machine' "$cur" ;;
	-name) _helio_words 'long short mangled long:soname short:soname mangled:soname' "$cur" ;;
	-metrics | -sort) _helio_words 'e.%totalcpu:i.%totalcpu:name e.user:i.user:name e.totalcpu i.totalcpu default any' "$cur" ;;
	-script | -outfile | -appendfile | -flamegraph)
		_helio_files -f "$cur"
		return
		;;
	-header | -statistics | -sample_detail) _helio_words 'all' "$cur" ;;
	-timeline | -from | -to | -events) _helio_words '-from -to -events' "$cur" ;;
	-stacks | -callers-first) _helio_words '-callers-first' "$cur" ;;
	-calltree | -inverted | -hottest) _helio_words '-inverted -depth -percent -hottest' "$cur" ;;
	-filters | -object_show | -object_hide | -object_api | -indxobj_define | -indxobj_metrics | -indxobj_sort | -fsingle | -csingle | -cprepend | -cappend | -limit | -depth | -percent) return ;;
	esac
	if [[ $cur == -* ]]; then
		_helio_words "$commands --color=auto --color=always --color=never --no-pager --no-startup --clear-cache --help --version" "$cur"
	else
		_helio_experiments "$cur"
	fi
}

# The program to measure and its arguments are completed as a command of their own.
_helio_collect() {
	local cur=$1 prev=$2 first=$3 index
	for ((index = first; index < COMP_CWORD; index++)); do
		case ${COMP_WORDS[index]} in
		-p | -h | -H | -s | -i | -m | -M | -S | -F | -o | -O | -C | -t | -l | -y | -L | -d | -g | -A | -a | -P | --clock | --hwc | --heap | --sync | --io | --mpi | --mpi-launcher | --sample | --follow | --output | \
			--overwrite | --comment | --duration | --engine | --depth | --max-overhead | --sample-signal | --pause-signal | --size-limit | \
			--directory | --group | --archive | --attach) ((index++)) ;;
		-*) ;;
		*)
			if declare -F _command_offset >/dev/null; then
				_command_offset "$index"
			else
				_helio_files -f "$cur"
			fi
			return
			;;
		esac
	done
	case $prev in
	-p | --clock) _helio_words 'on off hi lo' "$cur" ;;
	-h | --hwc) _helio_words 'page-faults minor-faults major-faults context-switches cpu-migrations task-clock cycles insts on off' "$cur" ;;
	-H | --heap) _helio_words 'on off sample=512k' "$cur" ;;
	-s | --sync) _helio_words 'on all off' "$cur" ;;
	-M | --mpi-launcher) _helio_words 'OPENMPI MPICH MVAPICH2 INTEL CT PLATFORM SLURM off' "$cur" ;;
	-i | --io | -m | --mpi | -S | --sample | -F | --follow) _helio_words 'on off' "$cur" ;;
	--engine) _helio_words 'auto perf monitor' "$cur" ;;
	-o | -O | --output | --overwrite) _helio_experiments "$cur" ;;
	-l | -y | --sample-signal | --pause-signal) _helio_words 'USR1 USR2' "$cur" ;;
	-L | --size-limit) _helio_words 'unlimited' "$cur" ;;
	-d | --directory) _helio_files -d "$cur" ;;
	-g | --group) _helio_experiments "$cur" ;;
	-A | --archive) _helio_words 'on off copy src' "$cur" ;;
	-P | --attach) _helio_words "$(ps -eo pid=)" "$cur" ;;
	-a) _helio_words 'on off ldobjects usedldobjects src usedsrc all' "$cur" ;;
	-C | -t | --comment | --duration | --depth | --max-overhead) ;;
	*)
		if [[ $cur == -* ]]; then
			_helio_words '-p -h -H -s -i -m -M -S -F -o -O -C -t -l -y -L -d -g -A -P -n -v -q -V --clock --hwc --heap --sync --io --mpi --mpi-launcher --sample --follow --output --overwrite
				--comment --duration --sample-signal --pause-signal --size-limit --directory --group --archive --attach
				--engine --depth --max-overhead --dry-run --verbose --quiet --version --help' "$cur"
		else
			_helio_files -c "$cur"
			[[ $cur == */* ]] && _helio_files -f "$cur"
		fi
		;;
	esac
}

_helio_attach() {
	local cur=$1 prev=$2
	case $prev in
	-p | --clock) _helio_words 'on off hi lo' "$cur" ;;
	-S | --sample) _helio_words 'on off' "$cur" ;;
	--engine) _helio_words 'auto perf monitor' "$cur" ;;
	-o | -O | --output | --overwrite) _helio_experiments "$cur" ;;
	-d | --directory) _helio_files -d "$cur" ;;
	--for | -C | -t | -L | --comment | --duration | --size-limit | --depth | --max-overhead) ;;
	*)
		if [[ $cur == -* ]]; then
			_helio_words '--for --tree -p -S -o -O -C -t -L -d -q -V --clock --sample --output --overwrite --comment
				--duration --size-limit --directory --engine --depth --max-overhead --quiet --version --help' "$cur"
		else
			_helio_words "$(ps -eo pid=)" "$cur"
		fi
		;;
	esac
}

_helio_src() {
	local cur=$1
	case $2 in
	-source | -src | -disasm | -dis) _helio_words 'all' "$cur" ;;
	-scc | -dcc | -cc) _helio_words 'basic all none hex intel nosrc asrc' "$cur" ;;
	*)
		if [[ $cur == -* ]]; then
			_helio_words '-func -source -src -disasm -dis -scc -dcc -cc -outfile --help --version' "$cur"
		else
			_helio_files -f "$cur"
		fi
		;;
	esac
}

_helio_diff() {
	local cur=$1
	case $2 in
	-m | --metric) _helio_words 'e.totalcpu i.totalcpu e.user i.user e.total i.total' "$cur" ;;
	-f | --filter | -n | --limit | --fail-on) ;;
	*)
		if [[ $cur == -* ]]; then
			_helio_words '--metric --filter --limit --all --fail-on --json --version --help' "$cur"
		else
			_helio_experiments "$cur"
		fi
		;;
	esac
}

_helio_ctl() {
	local cur=$1
	if ((COMP_CWORD == 2)); then
		_helio_words 'pause resume sample stop status --version --help' "$cur"
	else
		_helio_experiments "$cur"
	fi
}

# Tools for experiments: their options, then experiments, in ls also directories.
_helio_manage() {
	local subcommand=$1 cur=$2 prev=$3 options='--version --help'
	case $prev in
	-a | --archive) [[ $subcommand == archive ]] && _helio_words 'off own usedldobjects ldobjects usedsrc src' "$cur" && return ;;
	-s | --source) _helio_words 'no used all' "$cur" && return ;;
	-m | --match) return ;;
	-d | --directory | -r | --relative) _helio_files -d "$cur" && return ;;
	esac
	case $subcommand in
	archive) options+=' --archive --source --match --directory --relative --founder --force --quiet' ;;
	rm) options+=' --interactive --force' ;;
	check) options+=' --json --quiet' ;;
	ls | info) options+=' --json' ;;
	esac
	if [[ $cur == -* ]]; then
		_helio_words "$options" "$cur"
	else
		_helio_experiments "$cur"
	fi
}

_helio() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_helio_words 'attach collect ctl doctor print src diff ls info check archive cp mv rm help version --help --version' "$cur"
		return
	fi
	case ${COMP_WORDS[1]} in
	collect) _helio_collect "$cur" "$prev" 2 ;;
	print) _helio_print "$cur" "$prev" ;;
	ls | info | check | archive | cp | mv | rm) _helio_manage "${COMP_WORDS[1]}" "$cur" "$prev" ;;
	attach) _helio_attach "$cur" "$prev" ;;
	ctl) _helio_ctl "$cur" ;;
	doctor) _helio_words '--json --version --help' "$cur" ;;
	diff) _helio_diff "$cur" "$prev" ;;
	src) _helio_src "$cur" "$prev" ;;
	help) ((COMP_CWORD == 2)) && _helio_words 'attach collect ctl doctor print src diff ls info check archive cp mv rm help version' "$cur" ;;
	esac
}

complete -F _helio helio
