#!/usr/bin/env bash
# Whole processes side by side on one log: this project, mysqlbinlog of MySQL 9.7 and mysql_common.
# Prints the median of the wall times of each, and its ratio to ours.
#
#   benches/compare.sh LOG [RUNS]     LOG: made by make-log.sh with --tables 1
#
# Builds what is missing with cargo (release). The log is read once before, so that all find it in
# the page cache; the commands take turns, so that a slow moment hits all alike.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
log="$(realpath "$1")"
runs="${2:-5}"

cargo build --quiet --release --manifest-path "$here/../Cargo.toml"
ours="${CARGO_TARGET_DIR:-$here/../target}/release/binlogsql"
peer_target="${XDG_CACHE_HOME:-$HOME/.cache}/binlogsql/target-peer"
CARGO_TARGET_DIR="$peer_target" cargo build --quiet --release --manifest-path "$here/peer/Cargo.toml"
peer="$peer_target/release/binlog-peer"
server="${XDG_CACHE_HOME:-$HOME/.cache}/binlogsql/servers/mysql-9.7"
# Through its own loader: it runs outside of its system's tree.
lib="$server/usr/lib/x86_64-linux-gnu"
mysqlbinlog=("$server/lib64/ld-linux-x86-64.so.2" --library-path "$lib" "$server/usr/bin/mysqlbinlog" --no-defaults)

by_type="select type, count(*), sum(size) from binlog group by type"
# Every column of every row, of the one table of `make-log.sh --tables 1`.
typed="select count(id), sum(k), max(length(c)), max(length(pad)) from sbtest.sbtest1"
names=("binlogsql, by type" "mysql_common, framing" "binlogsql, typed rows" "binlogsql, typed, 2 threads" "mysql_common, rows"
  "binlogsql, changes as JSON" "mysqlbinlog" "mysqlbinlog -v, decoded rows")
run() {
  case "$1" in
    0) "$ours" --threads 1 "$log" -c "$by_type" ;;
    1) "$peer" frame "$log" ;;
    2) "$ours" --threads 1 "$log" -c "$typed" ;;
    3) "$ours" --threads 2 "$log" -c "$typed" ;;
    4) "$peer" rows "$log" ;;
    5) "$ours" --threads 1 "$log" --format ndjson -c "select * from changes" ;;
    6) "${mysqlbinlog[@]}" "$log" ;;
    7) "${mysqlbinlog[@]}" -v --base64-output=decode-rows "$log" ;;
  esac
}

cat "$log" >/dev/null
times="$(mktemp)"
trap 'rm -f "$times"' EXIT
for ((i = 0; i < runs; i++)); do
  for n in "${!names[@]}"; do
    start="$(date +%s%N)"
    run "$n" >/dev/null
    echo "$n $((($(date +%s%N) - start) / 1000))" >>"$times"
  done
done
median() { awk -v n="$1" '$1 == n { print $2 }' "$times" | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
printf '%-32s %10s %10s %10s\n' "$(basename "$log"), median of $runs" "seconds" "by type =1" "typed =1"
for n in "${!names[@]}"; do
  awk -v name="${names[n]}" -v t="$(median "$n")" -v a="$(median 0)" -v b="$(median 2)" \
    'BEGIN { printf "%-32s %10.3f %10.1f %10.1f\n", name, t / 1e6, t / a, t / b }'
done
