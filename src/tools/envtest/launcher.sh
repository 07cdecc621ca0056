# `launcher-script.ts` writes the lines above: variables and the function t8s.
# T8S_ENVTEST_SHARED=false starts a process for each; T8S_ENVTEST_IDLE is how long the idle shared one lives (30s).
# T8S_ENVTEST_CONTROLLERS=namespace,garbagecollector,serviceaccount adds these controllers to kube-apiserver; * all.
for word in "$@"; do
  case $word in
    --help | -h | -help) exec sed '1,/^# help:$/d; s/^# \{0,1\}//' "$0" ;;
  esac
done

if [ "$program" = kube-apiserver ] && [ -n "${T8S_ENVTEST_CONTROLLERS:-}" ]; then
  set -- "$@" "--controllers=$T8S_ENVTEST_CONTROLLERS"
fi
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"
run_alone() { t8s "$program" "$@"; }
[ "${T8S_ENVTEST_SHARED:-true}" = false ] && run_alone "$@"
for word in "$@"; do
  case $word in
    --version | --version=*) run_alone "$@" ;;
  esac
done

build=
read -r build 2>/dev/null <"$build_file"
if [ -z "$build" ]; then
  echo "$program: Typernetes was moved or removed: run t8s envtest-assets again" >&2
  exit 1
fi
umask 077
if [ -n "${T8S_ENVTEST_RUNTIME_DIR:-}" ]; then
  base=$T8S_ENVTEST_RUNTIME_DIR
elif [ -n "${XDG_RUNTIME_DIR:-}" ] && [ -O "$XDG_RUNTIME_DIR" ] && [ -w "$XDG_RUNTIME_DIR" ]; then
  base=$XDG_RUNTIME_DIR/t8s-envtest
else
  base=/tmp/t8s-envtest-$(id -u)
fi
directory=$base/$build-$protocol
[ -d "$directory" ] || mkdir -p "$directory" 2>/dev/null
# Do not use a directory of another user.
{ [ -O "$base" ] && [ ! -L "$base" ] && [ -O "$directory" ]; } || run_alone "$@"
request=$directory/$$
[ -e "$request.up" ] && rm -f "$request.up" "$request.down" "$request.args"
mkfifo "$request.up" "$request.down" 2>/dev/null || run_alone "$@"
# Open for reading and writing first, since opening for one of them would block.
exec 3<>"$request.up" 5<>"$request.down" 4<"$request.down"

stop_requested= started=
# Before the request is served, a signal only removes the request. CHLD is reset, so that the end of rm is not taken for
# the end of the shared process.
trap 'trap - CHLD; rm -f "$request.up" "$request.down" "$request.args"; exit 143' TERM INT HUP
trap '' PIPE
printf '%s\0' "$program" "$PWD" "$@" end >"$request.args"
is_served() {
  read -r pid fd <"$directory/server" || return 1
  if [ -d /proc/self/fd ]; then [ "/proc/$pid/fd/$fd" -ef "$directory/requests" ]; else kill -0 "$pid"; fi
} 2>/dev/null
# Of concurrent launchers, one starts the process; it finds the requests of the others when it is ready.
is_starter() {
  set -C
  echo $$ >"$directory/starting"
  won=$?
  set +C
  [ $won = 0 ] && return
  read -r starter <"$directory/starting" && kill -0 "$starter" && return 1
  echo $$ >"$directory/starting"
} 2>/dev/null
start_shared() {
  is_starter || return
  [ -p "$directory/requests" ] || mkfifo "$directory/requests" 2>/dev/null
  session=$(command -v setsid)
  started=1
  trap shared_ended CHLD
  (cd / && t8s shared "$directory" "$protocol") 3>&- 4<&- 5>&- </dev/null >>"$directory/log" 2>&1 &
  shared=$!
}
# If another process was faster, this one has ended with 0, and the other serves.
shared_ended() {
  trap - CHLD
  wait "$shared" && return
  echo "$program: the shared process did not start:" >&2
  tail -n 5 "$directory/log" >&2
  rm -f "$request.up" "$request.down" "$request.args" "$directory/starting"
  exit 1
}
if is_served; then echo >"$directory/requests"; else start_shared; fi

while :; do
  line=
  if IFS= read -r line <&4; then
    case $line in
      h*)
        # The shared process has opened the pipe; close ours to notice its end.
        exec 5>&-
        trap 'stop_requested=1; echo stop >&3' TERM INT HUP
        ;;
      o*) printf '%s\n' "${line#o}" ;;
      e*) printf '%s\n' "${line#e}" >&2 ;;
      x*) exit "${line#x}" ;;
      k*) trap - "${line#k}"; kill -s "${line#k}" $$ ;;
      # Traps run between commands: a pending one has run by now.
      n*) ;;
    esac
  elif [ -n "$stop_requested" ] || [ -n "$started" ]; then
    # A signal has interrupted the read once.
    stop_requested= started=
  else
    echo "$program: the shared process has ended" >&2
    exit 1
  fi
done
