/** The cgroups that hold pods back from the rest of the node: `kubepods`, and those of the system's own daemons. */
import { readFileSync } from 'node:fs'
import { signOf, subtractQuantities, wholeValue } from '../../machinery/values/quantity.ts'
import type { CgroupTree } from '../../node/cgroups/tree/cgroup-tree.ts'
import type { CgroupValues } from '../../node/cgroups/tree/cgroup-values.ts'
import { cpuShares, memoryLimit } from '../resources/cgroup-values.ts'
import { type CgroupDriver, type CgroupName, cgroupPath, nameOf } from './cgroup-names.ts'
import { hugePageLimits } from './pod-cgroup-values.ts'

type Amounts = Readonly<Record<string, string>>

export interface NodeCgroupsOptions {
  readonly tree: CgroupTree
  readonly driver: CgroupDriver
  readonly root: CgroupName
  /** The node's resources, `pid` among them. */
  readonly capacity: Amounts
  readonly systemReserved: Amounts
  readonly kubeReserved: Amounts
  readonly systemReservedCgroup: string
  readonly kubeReservedCgroup: string
  /** `enforceNodeAllocatable`: `pods`, `system-reserved`, `kube-reserved`, and the last two with `-compressible`. */
  readonly enforced: readonly string[]
  /** Records an event of the node. */
  readonly record: (type: 'Normal' | 'Warning', reason: string, message: string) => void
  readonly schedule: (callback: () => void, ms: number) => () => void
}

/** The interval in ms at which a limit that pods exceed is set again; evictions bring them below. */
const retryMs = 60_000

export class NodeCgroups {
  readonly #options: NodeCgroupsOptions
  #cancel: () => void = () => {}

  constructor(options: NodeCgroupsOptions) {
    this.#options = options
  }

  /** Makes the cgroup of all pods. Throws the errors of the file system. */
  createRoot(): void {
    const { tree, driver, root } = this.#options
    const path = cgroupPath(driver, root)
    if (tree.missing(path).length > 0) tree.create(path)
  }

  /** Sets the limits of all pods and of the system's daemons. Throws if a daemons' cgroup cannot be limited. */
  enforce(): void {
    this.#limitPods()
    const { systemReserved, kubeReserved, systemReservedCgroup, kubeReservedCgroup } = this.#options
    this.#limitDaemons('system', systemReservedCgroup, systemReserved)
    this.#limitDaemons('kube', kubeReservedCgroup, kubeReserved)
  }

  stop(): void {
    this.#cancel()
  }

  #limitPods(): void {
    const { tree, driver, root, record, schedule } = this.#options
    try {
      tree.set(cgroupPath(driver, root), valuesOf(this.#allocatable(), false))
      record('Normal', 'NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods')
    } catch (error) {
      const names = JSON.stringify(root).replaceAll(',', ' ')
      const message = `Failed to update Node Allocatable Limits ${names}: ${(error as Error).message}`
      record('Warning', 'FailedNodeAllocatableEnforcement', message)
      this.#cancel = schedule(() => this.#limitPods(), retryMs)
    }
  }

  /** The node's resources, less the reserved ones if they are enforced. Thresholds of evictions do not count. */
  #allocatable(): Amounts {
    const { capacity, systemReserved, kubeReserved, enforced } = this.#options
    if (!enforced.includes('pods')) return capacity
    const left = Object.entries(capacity).map(([name, amount]) => {
      const rest = [systemReserved[name], kubeReserved[name]].reduce<string>(
        (sum, reserved) => (reserved === undefined ? sum : subtractQuantities(sum, reserved)),
        amount,
      )
      return [name, signOf(rest) < 0 ? '0' : rest] as const
    })
    return Object.fromEntries(left)
  }

  #limitDaemons(kind: 'system' | 'kube', cgroup: string, reserved: Amounts): void {
    const { tree, driver, enforced, record } = this.#options
    const label = kind === 'system' ? 'System' : 'Kube'
    for (const suffix of ['', '-compressible'] as const) {
      if (!enforced.includes(`${kind}-reserved${suffix}`)) continue
      const path = driver === 'systemd' ? cgroup : `/${nameOf(cgroup).join('/')}`
      try {
        const missing = tree.missing(path)
        if (missing.length > 0) throw new Error(`cgroup "${cgroup}" has some missing paths: ${missing.join(', ')}`)
        tree.set(path, valuesOf(reserved, suffix !== ''))
        record('Normal', 'NodeAllocatableEnforced', `Updated limits on ${kind} reserved cgroup ${cgroup}`)
      } catch (error) {
        const kindText = suffix ? `${label} Reserved Compressible` : `${label} Reserved`
        const message = `Failed to enforce ${kindText} Cgroup Limits on "${cgroup}": ${(error as Error).message}`
        record('Warning', 'FailedNodeAllocatableEnforcement', message)
        throw new Error(message)
      }
    }
  }
}

function valuesOf(amounts: Amounts, isCompressible: boolean): CgroupValues {
  const cpu = amounts.cpu === undefined ? {} : { cpuShares: cpuShares(amounts.cpu) }
  if (isCompressible) return cpu
  return {
    ...cpu,
    ...(amounts.memory !== undefined && { memory: memoryLimit(amounts.memory) }),
    ...(amounts.pid !== undefined && { pids: wholeValue(amounts.pid) }),
    hugePages: hugePageLimits(amounts),
  }
}

/** The number of processes and threads that the node can have; undefined if the kernel does not report it. */
export function processCapacity(proc = '/proc'): string | undefined {
  const limits = ['pid_max', 'threads-max'].flatMap((name) => {
    try {
      return [Number(readFileSync(`${proc}/sys/kernel/${name}`, 'utf8'))]
    } catch {
      return []
    }
  })
  return limits.length > 0 ? String(Math.min(...limits)) : undefined
}
