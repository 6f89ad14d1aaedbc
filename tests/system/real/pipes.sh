#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pipelines, jobs, traps, here documents, process substitution and signals of a shell.
children=0
trap 'echo "usr1 $((++usr1))"' USR1
trap 'echo "exit with $?"' EXIT
trap 'children=$((children + 1))' CHLD
set -o pipefail -m

seq 20000 | tee >(wc -l >"$1/count") | sort -r | awk '{ s += $1 } END { print NR, s }'
while [ ! -s "$1/count" ]; do sleep 0.02; done
cat "$1/count"
yes | head -n 1000 | md5sum
false | true
echo "pipeline ${PIPESTATUS[*]}"
for n in 1 2 3; do kill -USR1 $$; done
(trap 'echo term; exit 7' TERM; echo ready >"$1/ready"; while :; do sleep 0.02; done) &
while [ ! -s "$1/ready" ]; do sleep 0.02; done
kill -TERM $!
wait $!
echo "term gave $?"
sleep 60 &
kill -KILL $!
wait $! 2>/dev/null
echo "kill gave $?"
read -r -t 0.2 <><(sleep 1) || echo "timeout $?"
for n in $(seq 60); do (exit $((n % 4))) || failed=$((failed + 1)); done
echo "$failed of 60 failed"
cat <<<"here $(printf %s "$(basename /nested)")"
coproc { read -r line; echo "got $line"; }
echo word >&"${COPROC[1]}"
read -r line <&"${COPROC[0]}"
echo "$line"
[ "$children" -gt 0 ] && echo children
exit 3
