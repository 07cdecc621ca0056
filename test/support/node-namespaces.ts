/** Mount and network namespaces of a test, or of a benchmark, in which a node runs. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'

/**
 * Shell commands that prepare the namespaces of their process: mounts of pods reach containers (`rshared`), and crun
 * finds no controllers in cgroup v2 beside those of v1, nor creates folders where v2 was mounted.
 */
export const nodeNamespaceScript = `
set -e
mount --make-rshared /
ip link set lo up
if mountpoint -q /sys/fs/cgroup/unified; then
  umount /sys/fs/cgroup/unified
  mount -t tmpfs tmpfs /sys/fs/cgroup/unified
fi
`

/** Prepares the namespaces of this process. Each folder of `covered` becomes an empty one. Needs root. */
export function prepareNodeNamespaces(covered: readonly string[] = []): void {
  for (const folder of covered) mkdirSync(folder, { recursive: true })
  execFileSync('sh', ['-c', nodeNamespaceScript])
  for (const folder of covered) execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder])
}
