/**
 * The launchers `kube-apiserver` and `etcd` as shell scripts. Since a suite starts dozens of them, each is only a
 * shell: it requests its program from the shared process (`shared/files.ts` has the protocol), prints the output, and
 * forwards signals. A Node process for each would cost 40 MB, and more time than the cluster itself.
 */

export type ProgramName = 'etcd' | 'kube-apiserver'

/**
 * Version of the protocol between launchers and the shared process. Increase it with every change, since launchers
 * remain when the package is updated.
 */
export const protocol = '1'

export interface LauncherOptions {
  readonly program: ProgramName
  /** The command that runs `t8s`: Node with flags, and the bundle. */
  readonly command: readonly string[]
  /** The file with the build ID; different builds do not share a process. */
  readonly buildFile: string
  /** The text of `--help`. */
  readonly help: string
}

const controllersFlag = `[ -n "\${T8S_ENVTEST_CONTROLLERS:-}" ] && set -- "$@" "--controllers=$T8S_ENVTEST_CONTROLLERS"`

/** Returns the script. */
export const launcherScript = ({ program, command, buildFile, help }: LauncherOptions): string => `#!/bin/sh
# ${program} of Typernetes, for test suites. Written by \`t8s envtest-assets\`.
# T8S_ENVTEST_SHARED=false starts a process for each; T8S_ENVTEST_IDLE is how long the idle shared one lives (30s).
# T8S_ENVTEST_CONTROLLERS=namespace,garbagecollector,serviceaccount adds these controllers to kube-apiserver; * all.
for word in "$@"; do
  case $word in
    --help | -h | -help) exec sed '1,/^# help:$/d; s/^# \\{0,1\\}//' "$0" ;;
  esac
done

${program === 'kube-apiserver' ? controllersFlag : ''}
export MALLOC_ARENA_MAX="\${MALLOC_ARENA_MAX:-1}"
alone() { exec ${command.map(shellWord).join(' ')} envtest ${program} "$@"; }
[ "\${T8S_ENVTEST_SHARED:-true}" = false ] && alone "$@"
for word in "$@"; do
  case $word in
    --version | --version=*) alone "$@" ;;
  esac
done

build=
read -r build 2>/dev/null <${shellWord(buildFile)}
if [ -z "$build" ]; then
  echo '${program}: Typernetes was moved or removed: run t8s envtest-assets again' >&2
  exit 1
fi
umask 077
if [ -n "\${T8S_ENVTEST_RUNTIME_DIR:-}" ]; then
  base=$T8S_ENVTEST_RUNTIME_DIR
elif [ -n "\${XDG_RUNTIME_DIR:-}" ] && [ -O "$XDG_RUNTIME_DIR" ] && [ -w "$XDG_RUNTIME_DIR" ]; then
  base=$XDG_RUNTIME_DIR/t8s-envtest
else
  base=/tmp/t8s-envtest-$(id -u)
fi
meeting=$base/$build-${protocol}
[ -d "$meeting" ] || mkdir -p "$meeting" 2>/dev/null
# Do not use a directory of another user.
{ [ -O "$base" ] && [ ! -L "$base" ] && [ -O "$meeting" ]; } || alone "$@"
mine=$meeting/$$
[ -e "$mine.up" ] && rm -f "$mine.up" "$mine.down" "$mine.args"
mkfifo "$mine.up" "$mine.down" 2>/dev/null || alone "$@"
# Open for reading and writing first, since opening for one of them would block.
exec 3<>"$mine.up" 5<>"$mine.down" 4<"$mine.down"

asked= started=
# Before the request is served, a signal only removes the request. CHLD is reset, so that the end of rm is not taken for
# the end of the shared process.
trap 'trap - CHLD; rm -f "$mine.up" "$mine.down" "$mine.args"; exit 143' TERM INT HUP
trap '' PIPE
printf '%s\\0' ${program} "$PWD" "$@" end >"$mine.args"
serves() {
  read -r pid fd <"$meeting/server" || return 1
  if [ -d /proc/self/fd ]; then [ "/proc/$pid/fd/$fd" -ef "$meeting/requests" ]; else kill -0 "$pid"; fi
} 2>/dev/null
# Of concurrent launchers, one starts the process; it finds the requests of the others when it is ready.
first() {
  set -C
  echo $$ >"$meeting/starting"
  won=$?
  set +C
  [ $won = 0 ] && return
  read -r starter <"$meeting/starting" && kill -0 "$starter" && return 1
  echo $$ >"$meeting/starting"
} 2>/dev/null
start() {
  first || return
  [ -p "$meeting/requests" ] || mkfifo "$meeting/requests" 2>/dev/null
  detach=$(command -v setsid)
  started=1
  trap child CHLD
  (cd / && exec $detach ${command.map(shellWord).join(' ')} envtest shared "$meeting" ${protocol}) \\
    3>&- 4<&- 5>&- </dev/null >>"$meeting/log" 2>&1 &
  shared=$!
}
# If another process was faster, this one has ended with 0, and the other serves.
child() {
  trap - CHLD
  wait "$shared" && return
  echo '${program}: the shared process did not start:' >&2
  tail -n 5 "$meeting/log" >&2
  rm -f "$mine.up" "$mine.down" "$mine.args" "$meeting/starting"
  exit 1
}
if serves; then echo >"$meeting/requests"; else start; fi

while :; do
  line=
  if IFS= read -r line <&4; then
    case $line in
      h*)
        # The shared process has opened the pipe; close ours to notice its end.
        exec 5>&-
        trap 'asked=1; echo stop >&3' TERM INT HUP
        ;;
      o*) printf '%s\\n' "\${line#o}" ;;
      e*) printf '%s\\n' "\${line#e}" >&2 ;;
      x*) exit "\${line#x}" ;;
      k*) trap - "\${line#k}"; kill -s "\${line#k}" $$ ;;
      # Traps run between commands: a pending one has run by now.
      n*) ;;
    esac
  elif [ -n "$asked" ] || [ -n "$started" ]; then
    # A signal has interrupted the read once.
    asked= started=
  else
    echo '${program}: the shared process has ended' >&2
    exit 1
  fi
done

# help:
${help
  .trimEnd()
  .split('\n')
  .map((line) => `# ${line}`.trimEnd())
  .join('\n')}
`

/** Quotes a word for a shell. */
export const shellWord = (text: string): string =>
  /^[\w./@:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
