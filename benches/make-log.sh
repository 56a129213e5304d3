#!/usr/bin/env bash
# Makes a large log of sysbench OLTP traffic on a real server; needs root on Linux, Debian's debootstrap and sysbench.
#
#   make-log.sh SIZE_MIB OUT_FILE [--server NAME] [--tables N]
#
# NAME is one of the servers of tests/fixtures/servers.sh, mysql-9.7 unless given; N is 4 unless given. One file holds
# it all, from the creation of the tables on; it ends a little above the size, at the first moment when the server was
# seen to be there.

usage() { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[[ $# -ge 2 && $1 =~ ^[0-9]+$ && $1 -le 1000 ]] || usage # servers change to a new file at 1 GiB
# Parsed before the script starts itself anew in a namespace, and again there.
size=$(($1 * 1024 * 1024)) out=$2 name=mysql-9.7 tables=4
for ((i = 3; i <= $#; i += 2)); do
  value=$((i + 1))
  case ${!i} in
    --server) name=${!value:-} ;;
    --tables) tables=${!value:-} ;;
    *) usage ;;
  esac
done
[[ -n $name && $tables =~ ^[1-9][0-9]*$ ]] || usage
source "$(dirname "${BASH_SOURCE[0]}")/../tests/fixtures/servers.sh"

command -v sysbench >/dev/null || apt-get install -y sysbench >&2
install_server "$name"

# Nothing of the server's data is kept, so it need not be safe on disk.
options=(--server-id=1 --log-bin=binlog --binlog-format=ROW --max-binlog-size=1G --sync-binlog=0
  --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=256M)
if is_mysql "$name"; then options+=(--gtid-mode=ON --enforce-gtid-consistency=ON); fi
start_server "$name" bench "${options[@]}"
sql bench -e 'CREATE DATABASE sbtest'

sysbench=(sysbench oltp_write_only --db-driver=mysql --mysql-socket="$work/bench/socket" --mysql-user=root
  --tables="$tables" --table-size=$((40000 / tables)) --rand-seed=1 --threads=4 --time=3600)
"${sysbench[@]}" prepare >"$work/sysbench.out" || die "$(tail "$work/sysbench.out")"

log=$work/bench/binlog.000001
"${sysbench[@]}" run >"$work/sysbench.out" &
traffic=$!
while (($(stat -c %s "$log") < size)); do
  kill -0 $traffic 2>/dev/null || die "sysbench ended early: $(tail "$work/sysbench.out")"
  sleep 0.2
done
kill $traffic
wait $traffic 2>/dev/null || true

sql bench -e 'FLUSH BINARY LOGS'
stop_server bench
install -m 644 -D "$log" "$out"
say "$out: $(stat -c %s "$out") bytes"
