#!/bin/sh
# Starts a cluster that outlives this step of a GitHub workflow, and sets KUBECONFIG and PATH for the next ones (action.yml).
# Inputs are variables: T8S_VERSION, T8S_NODES, T8S_CONFIG, T8S_NAME, T8S_FLAGS, T8S_DATA_DIR. T8S_PROGRAM runs that
# program, not the package.
set -eu

fail() {
  echo "::error title=Typernetes::$1" >&2
  exit 1
}
for variable in GITHUB_ENV GITHUB_OUTPUT GITHUB_PATH; do
  eval "[ -n \"\${$variable:-}\" ]" || fail "start.sh runs in a GitHub workflow, which sets $variable"
done
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

data=${T8S_DATA_DIR:-}
port=
# A name and a configuration have their own data directory and port.
if [ -z "${T8S_NAME:-}${T8S_CONFIG:-}" ]; then
  data=${data:-$folder/data}
  port=0
fi
# Flags are separated by spaces; patterns in them are not expanded.
set -f
set -- ${T8S_FLAGS:-}
set +f
set -- ${T8S_NAME:+"--name=$T8S_NAME"} ${T8S_CONFIG:+"--config=$T8S_CONFIG"} ${data:+"--data-dir=$data"} \
  ${port:+"--secure-port=$port"} ${T8S_NODES:+--node-type=simulated "--nodes=$T8S_NODES"} "$@"
started=$("$program" up --detach "$@") || fail 'the cluster did not start: see its log above'
echo "$started"

name=$(echo "$started" | sed -n 's/ serves on .*//p' | head -n 1)
field() {
  "$program" list -o json | node -p 'JSON.parse(fs.readFileSync(0)).find(({ name }) => name === process.argv[1])[process.argv[2]]' "$name" "$1"
}
kubeconfig=$(field kubeconfig)
echo "KUBECONFIG=$kubeconfig" >>"$GITHUB_ENV"
dirname "$program" >>"$GITHUB_PATH"
{
  echo "kubeconfig=$kubeconfig"
  echo "url=$(field url)"
  echo "name=$name"
  echo "pid=$(field pid)"
  echo "log=$(field log)"
} >>"$GITHUB_OUTPUT"
