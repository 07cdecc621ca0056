/** The remains of killed clusters on this machine, and the removal of those that nothing can use. */
import { reasonOf } from '../../../lib/explained-error.ts'
import { type Finding, good, hint } from '../finding.ts'
import { type Cgroup, nodeCgroups, removeCgroup } from './cgroups.ts'
import { folderFindings, killedFolders } from './folders.ts'
import { runningInstances } from './instances.ts'

/** A cluster that starts has its cgroups before its runtime listens. */
const startMs = 60_000

export interface Leftovers {
  /** Empty cgroups: nothing uses them. */
  readonly empty: readonly Cgroup[]
  /** Cgroups of containers that continue to run without their cluster. */
  readonly populated: readonly Cgroup[]
}

/** Separates the cgroups of clusters that do not run. `now` is in ms since 1970. */
export function leftoversOf(cgroups: readonly Cgroup[], running: ReadonlySet<string>, now: number): Leftovers {
  const left = cgroups.filter(({ instance, changedAt }) => !running.has(instance) && changedAt < now - startMs)
  return {
    empty: left.filter(({ processes }) => processes.length === 0),
    populated: left.filter(({ processes }) => processes.length > 0),
  }
}

export interface LeftoverOptions {
  /** Removes empty cgroups. */
  readonly fix: boolean
  readonly isRoot: boolean
}

/** Reports what clusters have left, and removes what is surely not in use if `fix` is set. */
export function leftoverFindings({ fix, isRoot }: LeftoverOptions): readonly Finding[] {
  // Without root, sockets of other users' processes are unknown.
  const running: ReadonlySet<string> = isRoot ? runningInstances() : new Set()
  const { empty, populated } = leftoversOf(nodeCgroups(), running, Date.now())
  const findings = [
    ...populatedFindings(populated),
    ...folderFindings(isRoot ? killedFolders(running) : []),
    ...emptyFindings(empty, fix && isRoot, isRoot),
  ]
  return findings.length > 0 ? findings : [good('no leftovers of killed clusters')]
}

/** One finding for each cluster: its containers are in several cgroups. */
function populatedFindings(populated: readonly Cgroup[]): Finding[] {
  const byInstance = new Map<string, Set<number>>()
  for (const { instance, processes } of populated)
    byInstance.set(instance, new Set([...(byInstance.get(instance) ?? []), ...processes]))
  return [...byInstance].map(([instance, processes]) =>
    hint(
      `${counted(processes.size, 'process', 'processes')} in cgroups t8s-${instance} of a cluster that does not run: ` +
        [...processes].slice(0, 5).join(', ') +
        (processes.size > 5 ? ', …' : ''),
      'start the cluster with the same --data-dir, which takes its containers over or removes them',
    ),
  )
}

function emptyFindings(empty: readonly Cgroup[], fix: boolean, isRoot: boolean): Finding[] {
  if (empty.length === 0) return []
  const instances = counted(new Set(empty.map(({ instance }) => instance)).size, 'killed cluster', 'killed clusters')
  const found = `${counted(empty.length, 'empty cgroup', 'empty cgroups')} of ${instances}`
  if (!fix) return [hint(found, isRoot ? 't8s doctor --fix removes them' : 'sudo t8s doctor --fix removes unused ones')]
  const errors = empty.flatMap(({ path }) => {
    try {
      removeCgroup(path)
      return []
    } catch (error) {
      return [`${path}: ${reasonOf(error)}`]
    }
  })
  const removed = empty.length - errors.length
  return [
    ...(removed > 0 ? [good(`removed ${counted(removed, 'empty cgroup', 'empty cgroups')} of killed clusters`)] : []),
    ...errors.map((text) => hint(`cannot remove the cgroup ${text}`, 'run t8s doctor --fix again, or restart')),
  ]
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`
