#!/bin/sh
# curl -f --retry 3 --retry-max-time 5, where a server answers 503 and asks to wait for
# 9 s: that is more than curl may take, so it makes no retry.
#
# Seen with curl 8.14.1 of Debian 13: it ends with 0, and says nothing, although the
# answer was 503. Without --retry it ends with 22, as curl 7.88.1 of Debian 12 does in
# both cases.
set -eu
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$dir"' EXIT
cd "$dir"
mmdebstrap --quiet --variant=extract --include=curl trixie root \
	--aptopt='Acquire::Check-Valid-Until "false"'
# The root is not set up: its loader starts the program.
lib=root/usr/lib/$(uname -m)-linux-gnu
loader=$(echo "$lib"/ld-linux-*)
curl() {
	"$loader" --library-path "$lib" root/usr/bin/curl -q "$@"
}
curl --version | sed -n 's/^\(curl [0-9.]*\) .*/\1/p' >seen

cat >server.py <<'END'
import http.server

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503)
        self.send_header("Retry-After", "9")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
END
mkfifo pipe
python3 server.py >pipe &
server=$!
read -r port <pipe
for options in '-f' '-f --retry 3 --retry-max-time 5'; do
	status=0
	# shellcheck disable=SC2086 # words
	curl -sS $options "http://127.0.0.1:$port/" 2>/dev/null || status=$?
	echo "curl $options: status $status"
done | tee -a seen
diff seen - <<'END'
curl 8.14.1
curl -f: status 22
curl -f --retry 3 --retry-max-time 5: status 0
END
