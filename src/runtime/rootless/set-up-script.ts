/** The first program in user namespaces: it waits for the maps of users, mounts, and becomes the program to run. */

/**
 * Arguments: the user's folder of sockets, the `resolv.conf` or '', and the program.
 *
 * `/proc` and `/sys` are those of the new namespaces, without cgroups. `/run` is empty but for the user's folder, as at
 * the start of a machine. The folder is reached through the current one, since the new `/run` hides it.
 */
export const setUpScript = `
echo >&4
read -r line <&3 || exit 1
exec 3<&- 4>&-
set -e
own=$1 resolver=$2
shift 2
here=$PWD
mount -t proc -o nosuid,nodev,noexec proc /proc
mount -t sysfs -o nosuid,nodev,noexec sysfs /sys
names=$(readlink -m /etc/resolv.conf)
cd "$own"
mount -t tmpfs -o nosuid,nodev,mode=755 tmpfs /run
case $own in
  /run/*)
    mkdir -p "$own"
    mount --no-canonicalize --rbind /proc/self/cwd "$own"
    ;;
esac
if [ -n "$resolver" ]; then
  if [ ! -e "$names" ]; then
    mkdir -p "\${names%/*}"
    : >"$names"
  fi
  mount --bind "$resolver" "$names"
fi
mount --make-rshared /
cd "$here"
exec "$@"
`
