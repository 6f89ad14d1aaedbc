#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# server.sh redis|nginx|postgres DIRECTORY AMOUNT [MORE]: starts the server as a child with all its files in the
# directory, puts a load of that amount on it, stops it and waits for it. Prints what came out, and the throughput on
# a line of its own. The words in UNDER, such as `helio collect -o x.er`, go before the server.
set -euo pipefail
name=$1
directory=$2
amount=$3
more=${4-}

# Runs the command until it succeeds, for at most 20 seconds.
await() {
	local tries=400
	until "$@" >"$directory/await.log" 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || { cat "$directory/await.log" >&2; exit 1; }
		sleep 0.05
	done
}

serve() {
	local under
	read -ra under <<<"${UNDER-}"
	exec ${under[@]+"${under[@]}"} "$@"
}

# Stops the server, whose process id is in a file, and tells how it ended.
stop() {
	local status=0
	kill -"$1" "$(head -n 1 "$2")"
	wait "$server" || status=$?
	echo "server ended with $status"
}

# Sets, gets and increments through a UNIX socket, read back at the end.
redis() {
	local socket=$directory/redis.socket
	ask() { redis-cli -s "$socket" "$@"; }
	serve redis-server --port 0 --unixsocket "$socket" --dir "$directory" --save '' --appendonly yes --daemonize no \
		--pidfile "$directory/redis.pid" \
		--logfile "$directory/redis.log" &
	server=$!
	await ask ping
	redis-benchmark -s "$socket" -n "$amount" -c 20 -t set,get,incr,lpush --csv >"$directory/redis.csv"
	ask rpush list a b c
	ask lrange list 0 -1
	ask bgrewriteaof
	ask get counter:__rand_int__
	ask llen mylist
	ask set survivor yes
	stop TERM "$directory/redis.pid"
	echo "throughput $(awk -F'"' 'NR > 1 { time += 1 / $4 } END { print 1 / time }' "$directory/redis.csv")"
}

# GET by the shell alone: the number of bytes of the answer's body.
get() {
	exec 3<>"/dev/tcp/127.0.0.1/$more" || return 1
	printf 'GET /%s HTTP/1.0\r\n\r\n' "$1" >&3
	sed '1,/^\r$/d' <&3 | wc -c
	exec 3>&-
}

nginx_configuration() {
	cat <<-EOT
		daemon off;
		worker_processes 2;
		pid $directory/nginx.pid;
		error_log $directory/error.log;
		events { worker_connections 256; }
		http {
			access_log $directory/access.log;
			client_body_temp_path $directory/body;
			proxy_temp_path $directory/proxy;
			fastcgi_temp_path $directory/fastcgi;
			uwsgi_temp_path $directory/uwsgi;
			scgi_temp_path $directory/scgi;
			sendfile on;
			server { listen 127.0.0.1:$more reuseport; root $directory/www; }
		}
	EOT
}

# A small and a large file, MORE being the port, from two workers that are told to open their logs again.
nginx() {
	chmod a+rx "$directory"
	mkdir -p "$directory/www"
	echo small >"$directory/www/small"
	head -c 200000 /dev/zero >"$directory/www/large"
	nginx_configuration >"$directory/nginx.conf"
	serve nginx -c "$directory/nginx.conf" -e "$directory/error.log" &
	server=$!
	await get small
	wrk -t 1 -c 16 -d "$amount" "http://127.0.0.1:$more/small" >"$directory/wrk.log"
	echo "small $(get small) large $(get large)"
	kill -USR1 "$(cat "$directory/nginx.pid")"
	get small
	stop QUIT "$directory/nginx.pid"
	grep -hE 'Non-2xx|Socket errors|\[(alert|crit|emerg)' "$directory/wrk.log" "$directory/error.log" || true
	echo "throughput $(awk '/^Requests\/sec/ { print $2 }' "$directory/wrk.log")"
}

# pgbench with 8 clients on a fresh cluster, or on a copy of the one in MORE; the balances checked, a backend
# cancelled, a parallel query. Not for root: PostgreSQL refuses it.
postgres() {
	local bin data=$directory/data
	bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | tail -n 1)
	ask() { "$bin/psql" -X -A -t -q -h "$directory" -d postgres -c "$1" 2>&1; }
	if [ -n "$more" ]; then
		cp -r "$more" "$data"
	else
		"$bin/initdb" -D "$data" -A trust -N --no-locale >"$directory/initdb.log"
	fi
	serve "$bin/postgres" -D "$data" -k "$directory" -c listen_addresses= -c fsync=off -c shared_buffers=32MB \
		2>"$directory/postgres.log" &
	server=$!
	await ask 'select 1'
	"$bin/pgbench" -h "$directory" -q -i -s 2 postgres 2>"$directory/init.log"
	"$bin/pgbench" -h "$directory" -n -c 8 -j 2 -t "$amount" postgres >"$directory/pgbench.log" 2>&1
	grep -E 'actually|failed' "$directory/pgbench.log"
	ask 'select count(*) from pgbench_history'
	ask 'select (select sum(abalance) from pgbench_accounts) = (select sum(delta) from pgbench_history)'
	ask 'set statement_timeout = 100; select count(*) from generate_series(1, 1000000000)' || true
	ask 'set max_parallel_workers_per_gather = 2; set parallel_setup_cost = 0; set parallel_tuple_cost = 0;
		set min_parallel_table_scan_size = 0; select count(*) from pgbench_accounts where aid % 3 = 0'
	ask 'select pg_sleep(0.3)'
	stop INT "$data/postmaster.pid"
	grep -oE 'PANIC.*|terminated by signal.*|database system is shut down' "$directory/postgres.log"
	echo "throughput $(awk '/^tps/ { print $3 }' "$directory/pgbench.log")"
}

"$name"
