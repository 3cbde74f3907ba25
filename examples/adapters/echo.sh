#!/bin/sh
# A channel in a dozen lines of shell: what the agent sends to the channel `echo` comes back to it.
# Usage: echo.sh [session]. Plain lines only: lines of a longer message come back one by one.
set -eu
folder=${COVEY_RUNTIME_DIR:-$(covey keep path "$@")} || exit
trap 'rm -f "$folder/in.echo" "$folder/out.echo"' EXIT
trap 'exit 143' TERM INT
mkfifo -m 600 "$folder/in.echo" "$folder/out.echo"
exec 3<>"$folder/out.echo" # for reading and writing: it does not end when a writer does
while IFS= read -r line <&3; do
    printf 'echo: %s\n' "$line" >"$folder/in.echo"
done
