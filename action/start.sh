#!/bin/sh
# Starts a cluster that outlives this step of a GitHub workflow, and sets KUBECONFIG for the next ones (action.yml).
# Inputs are variables: T8S_VERSION, T8S_NODES, T8S_FLAGS, T8S_DATA_DIR. T8S_PROGRAM runs that program, not the package.
set -eu

fail() {
  echo "::error title=Typernetes::$1" >&2
  exit 1
}
: "${GITHUB_ENV:?start.sh runs in a GitHub workflow, which sets GITHUB_ENV}"
: "${GITHUB_OUTPUT:?start.sh runs in a GitHub workflow, which sets GITHUB_OUTPUT}"
case ${T8S_NODES:-} in *[!0-9]*) fail "nodes must be a number, not '$T8S_NODES'" ;; esac
# The package manager would take another form for a path or an URL, and run what is there.
case ${T8S_VERSION:-latest} in *[!0-9A-Za-z.-]* | -*) fail "version must be that of a package, such as latest or 1.2.3" ;; esac

folder=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/typernetes-XXXXXX")
program=${T8S_PROGRAM:-}
if [ -z "$program" ]; then
  command -v npm >/dev/null || fail 'npm is missing: add a step with actions/setup-node before this one'
  npm install --prefix "$folder" --no-fund --no-audit --loglevel=error "typernetes@${T8S_VERSION:-latest}"
  program=$folder/node_modules/.bin/t8s
fi

log=$folder/cluster.log
data=${T8S_DATA_DIR:-$folder/data}
# Flags are separated by spaces; patterns in them are not expanded.
set -f
set -- up --secure-port=0 "--data-dir=$data" ${T8S_NODES:+--node-type=simulated "--nodes=$T8S_NODES"} ${T8S_FLAGS:-}
set +f
# The end of this step does not end it; the runner ends it with the job.
"$program" "$@" >"$log" 2>&1 </dev/null &
pid=$!

tries=0
until grep -q '^Ctrl-C stops it$' "$log"; do
  tries=$((tries + 1))
  if ! kill -0 "$pid" 2>/dev/null || [ "$tries" -gt 1200 ]; then
    kill "$pid" 2>/dev/null || true
    cat "$log" >&2
    fail 'the cluster did not start: see its log above'
  fi
  sleep 0.1
done

value() { sed -n "s/^$1 //p" "$log" | head -n 1; }
kubeconfig=$(value 'kubeconfig written to')
url=$(value 'serving on')
echo "KUBECONFIG=$kubeconfig" >>"$GITHUB_ENV"
{
  echo "kubeconfig=$kubeconfig"
  echo "url=$url"
  echo "pid=$pid"
  echo "log=$log"
} >>"$GITHUB_OUTPUT"
echo "cluster $url is ready; KUBECONFIG=$kubeconfig; log in $log"
