#!/usr/bin/env bash
# Runs a script of statements on a real server: run.sh SERVER DIRECTORY
#
# In DIRECTORY: script.sql is run on one connection; its answers go to answers.tsv, what it complains of to
# complaints.txt, and the server's logs to logs/. With BINLOG_SERVERS=install a server that is missing is
# installed in the cache folder first. Needs root on Linux.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../fixtures/servers.sh"

name=$1 directory=$2
[[ -e $servers/$name/.complete || ${BINLOG_SERVERS:-} == install ]] || die "$name is not installed"
mkdir -p "$servers"
exec {lock}>"$servers/.lock" # one installation at a time
flock "$lock"
install_server "$name"
exec {lock}>&-

options=(--server-id=1 --log-bin=binlog --binlog-format=ROW --sync-binlog=0 --innodb-flush-log-at-trx-commit=0
  --max-allowed-packet=64M --innodb-buffer-pool-size=64M)
if is_mysql "$name"; then
  options+=(--gtid-mode=ON --enforce-gtid-consistency=ON)
else
  options+=(--innodb-log-file-size=64M)
fi
start_server "$name" replay "${options[@]}"
# --force: statements that meet a duplicate key are part of the work; the caller looks at the complaints.
sql replay --force --skip-column-names --max-allowed-packet=64M \
  <"$directory/script.sql" >"$directory/answers.tsv" 2>"$directory/complaints.txt" || true
stop_server replay
mkdir "$directory/logs"
install -m 644 "$work"/replay/binlog.[0-9][0-9][0-9][0-9][0-9][0-9] "$directory/logs/"
