#!/bin/sh
# wget2, where a server answers 404, 429 or 503. Its manual says of status 8: "Server
# issued an error response".
#
# Seen with wget2 1.99.1 of Debian 12: it ends with 8 after 404 alone; after 429 and 503
# it ends with 0, and there is no file. Version 2.2.0 of Debian 13 has 8 for 503, too,
# and still 0 for 429. Both write "HTTP ERROR response" to standard output, and nothing
# to standard error.
set -eu
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$dir"' EXIT
cd "$dir"
cat >server.py <<'END'
import http.server

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(self.path[1:]))
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
mkdir home
for suite in bookworm trixie; do
	mmdebstrap --quiet --variant=extract --include=wget2 "$suite" $suite \
		--aptopt='Acquire::Check-Valid-Until "false"'
	# The root is not set up: its loader starts the program.
	loader=$(find $suite -name 'ld-linux-*.so*' -type f)
	lib=$suite/usr/lib/$(uname -m)-linux-gnu
	wget2() {
		HOME=$dir/home "$loader" --library-path "${loader%/*}:$lib:$lib/libproxy" \
			$suite/usr/bin/wget2 --no-config "$@"
	}
	wget2 --version | sed -n '1s/ - .*//p'
	for code in 404 429 503; do
		status=0
		wget2 -t 1 "http://127.0.0.1:$port/$code" >out 2>err || status=$?
		[ ! -e $code ] || echo "there is a file"
		echo "$code: status $status"
		sed -n 's/^HTTP ERROR/standard output: &/p' out | sed 's/ \[.*//'
		sed 's/^/standard error: /' err
	done
done >seen
cat seen
diff seen - <<'END'
GNU Wget2 1.99.1
404: status 8
standard output: HTTP ERROR response 404 Not Found
429: status 0
standard output: HTTP ERROR response 429 Too Many Requests
503: status 0
standard output: HTTP ERROR response 503 Service Unavailable
GNU Wget2 2.2.0
404: status 8
standard output: HTTP ERROR response 404 Not Found
429: status 0
standard output: HTTP ERROR response 429 Too Many Requests
503: status 8
standard output: HTTP ERROR response 503 Service Unavailable
END
