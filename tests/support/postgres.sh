# shellcheck shell=sh
# A PostgreSQL server of its own for one test process: sh postgres.sh BIN LIBRARIES COPY PORT TLS
#
# BIN has initdb and postgres, LIBRARIES is for LD_LIBRARY_PATH or empty, COPY is the directory above BIN that must be
# copied because another user may not reach it, or empty. With TLS, a certificate beside the server.key that is its own, it
# listens on PORT too, else only on a socket. Says "at DIRECTORY", in which its socket is, and then obeys
# lines: stop, crash and start, each answered "done". Ends, and leaves nothing behind, when its input does: that is,
# with the process that started it, however that ends.
set -eu
bin=$1 libraries=$2 copy=$3 port=$4 tls=$5

dir=$(mktemp -d /tmp/uptake-postgres.XXXXXX)
server=
# The shell has its children ignore INT and QUIT until they say otherwise; TERM ends a server that has not come so far,
# and one that has heeds the stronger of two.
end() {
    [ -n "$server" ] || return 0
    kill -TERM "$server" || true
    kill -"$1" "$server" || true
    wait "$server" || true
    server=
} 2>/dev/null
finish() {
    end QUIT
    cd / && rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# PostgreSQL refuses to run as root.
as=
if [ "$(id -u)" = 0 ]; then
    as='setpriv --reuid=65534 --regid=65534 --clear-groups'
    if [ -n "$copy" ]; then
        cp -R "$copy" "$dir/server"
        chmod -R go+rX "$dir/server"
        bin=$dir/server${bin#"$copy"}
        libraries=$dir/server${libraries#"$copy"}
    fi
    chown 65534:65534 "$dir"
fi
chmod 755 "$dir"
listen='-c listen_addresses='
if [ -n "$tls" ]; then
    cp "$tls" "$dir/server.crt"
    cp "$(dirname "$tls")/server.key" "$dir/"
    chmod 644 "$dir/server.crt"
    chmod 600 "$dir/server.key"
    [ -z "$as" ] || chown 65534:65534 "$dir/server.key"
    listen="-c listen_addresses=localhost -c port=$port -c ssl=on -c ssl_cert_file=$dir/server.crt -c ssl_key_file=$dir/server.key"
fi
cd "$dir"
[ -z "$libraries" ] || export LD_LIBRARY_PATH="$libraries"

# shellcheck disable=SC2086 # Several words, or none.
start() {
    $as "$bin/postgres" -D "$dir/data" $listen -c unix_socket_directories="$dir" \
        -c fsync=off -c max_connections=200 -c shared_buffers=16MB >>"$dir/log" 2>&1 </dev/null &
    server=$!
}

# shellcheck disable=SC2086
$as "$bin/initdb" --pgdata="$dir/data" --username=uptake --auth=trust --encoding=UTF8 --no-locale --no-sync \
    >"$dir/initdb.log" 2>&1 </dev/null || { cat "$dir/initdb.log" >&2; exit 1; }
start
echo "at $dir"
while read -r command; do
    case $command in
        stop) end INT ;;
        crash) end QUIT ;;
        start) start ;;
    esac
    echo "done"
done
