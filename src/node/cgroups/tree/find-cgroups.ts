/** Finds how this machine mounts its cgroups: v1, v2, or v1 with v2 beside it (hybrid). */
import { readFileSync } from 'node:fs'
import { isInUserNamespace } from '../../../lib/linux/user-namespace.ts'
import { CgroupTreeV1 } from './cgroup-tree-v1.ts'
import { CgroupTreeV2 } from './cgroup-tree-v2.ts'

const controllerNames = new Set([
  'cpu',
  'cpuacct',
  'cpuset',
  'memory',
  'devices',
  'freezer',
  'net_cls',
  'net_prio',
  'blkio',
  'perf_event',
  'hugetlb',
  'pids',
  'rdma',
  'misc',
])

/**
 * A tree without hierarchies, whose limits have no effect, if a user namespace has none. Throws an Error if no cgroups
 * are mounted otherwise. `mountInfo` is the text of `/proc/self/mountinfo`. */
export function findCgroups(mountInfo = readFileSync('/proc/self/mountinfo', 'utf8')): CgroupTreeV1 | CgroupTreeV2 {
  const controllers = new Map<string, string>()
  let unified: string | undefined
  for (const line of mountInfo.split('\n')) {
    const [before = '', after = ''] = line.split(' - ')
    const mountPoint = before.split(' ')[4] ?? ''
    const [type, , options = ''] = after.split(' ')
    // A sysfs that a user namespace mounts hides the machine's cgroups.
    if (type === 'sysfs' && mountPoint === '/sys') {
      controllers.clear()
      unified = undefined
    }
    if (type === 'cgroup2') unified ??= mountPoint
    if (type !== 'cgroup') continue
    for (const option of options.split(',')) {
      // systemd's own hierarchy has a name and no controller.
      const name = option === 'name=systemd' ? 'systemd' : option
      if (name !== 'systemd' && !controllerNames.has(name)) continue
      const known = controllers.get(name)
      // Of several mounts of one hierarchy, the shortest path is used.
      if (known === undefined || mountPoint.length < known.length) controllers.set(name, mountPoint)
    }
  }
  if (controllers.has('memory') || controllers.has('cpu')) return new CgroupTreeV1(controllers, unified)
  if (unified !== undefined) return new CgroupTreeV2(unified)
  if (isInUserNamespace()) return new CgroupTreeV1(new Map(), undefined)
  throw new Error('failed to find cgroup mounts: mount cgroup2 at /sys/fs/cgroup')
}
