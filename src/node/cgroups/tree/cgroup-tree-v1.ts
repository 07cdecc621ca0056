/** Cgroups v1: each controller has a hierarchy of its own, in which a cgroup has the same path. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CgroupTree,
  codeOf,
  foldersIn,
  makeFolder,
  pathsTo,
  processesIn,
  readValue,
  removeFolder,
  writeValue,
} from './cgroup-tree.ts'
import type { CgroupValues } from './cgroup-values.ts'

/** Controllers without which a cgroup does not count as existing. */
const needed = ['cpu', 'cpuacct', 'cpuset', 'memory', 'systemd', 'pids', 'hugetlb']
/** Files of memory use pages; the kernel's largest number of them means no limit. */
const noMemoryLimit = 1n << 62n

export class CgroupTreeV1 implements CgroupTree {
  readonly version = 1
  /** By controller: where its hierarchy is mounted. */
  readonly #mounts: ReadonlyMap<string, string>
  /** Where cgroup v2 is mounted beside (hybrid mode): runtimes may use it, the kubelet only removes there. */
  readonly #unified: string | undefined

  constructor(mounts: ReadonlyMap<string, string>, unified: string | undefined) {
    this.#mounts = mounts
    this.#unified = unified
  }

  /** True if no hierarchy is mounted, so that nothing has an effect. */
  get isEmpty(): boolean {
    return this.#mounts.size === 0
  }

  missing(path: string): readonly string[] {
    return needed.flatMap((controller) => {
      const folder = this.#folder(controller, path)
      return folder === undefined || existsSync(folder) ? [] : [folder]
    })
  }

  create(path: string): void {
    for (const mount of this.#hierarchies()) for (const one of pathsTo(path)) makeFolder(join(mount, one))
    for (const one of pathsTo(path)) this.#inheritProcessors(one)
  }

  /** A new cgroup of `cpuset` has no processors and no memory, and takes no process, until both are written. */
  #inheritProcessors(path: string): void {
    const folder = this.#folder('cpuset', path)
    const parent = this.#folder('cpuset', join(path, '..'))
    if (folder === undefined || parent === undefined) return
    for (const name of ['cpuset.cpus', 'cpuset.mems'])
      if (readValue(folder, name) === '') writeValue(folder, name, readValue(parent, name))
  }

  set(path: string, { cpuShares, cpuQuota, cpuPeriod, memory, pids, hugePages }: CgroupValues): void {
    const cpu = this.#folder('cpu', path)
    if (cpu !== undefined) {
      if (cpuShares !== undefined) writeValue(cpu, 'cpu.shares', cpuShares)
      setQuota(cpu, cpuQuota, cpuPeriod)
    }
    const memoryFolder = this.#folder('memory', path)
    if (memory !== undefined && memory !== 0n && memoryFolder !== undefined) setMemory(memoryFolder, memory)
    const pidsFolder = this.#folder('pids', path)
    if (pids !== undefined && pidsFolder !== undefined) writeValue(pidsFolder, 'pids.max', pids > 0n ? pids : 'max')
    const hugetlb = this.#folder('hugetlb', path)
    if (hugePages && hugetlb !== undefined)
      for (const [size, limit] of hugePages) writeValue(hugetlb, `hugetlb.${size}.limit_in_bytes`, limit)
  }

  read(path: string): CgroupValues {
    const cpu = this.#needed('cpu', path)
    const memory = BigInt(readValue(this.#needed('memory', path), 'memory.limit_in_bytes'))
    return {
      cpuShares: BigInt(readValue(cpu, 'cpu.shares')),
      cpuQuota: BigInt(readValue(cpu, 'cpu.cfs_quota_us')),
      cpuPeriod: BigInt(readValue(cpu, 'cpu.cfs_period_us')),
      memory: memory >= noMemoryLimit ? -1n : memory,
    }
  }

  memoryUsage(path: string): bigint {
    return BigInt(readValue(this.#needed('memory', path), 'memory.usage_in_bytes'))
  }

  hasSwapLimit(): boolean {
    const folder = this.#folder('memory', '/')
    return folder !== undefined && existsSync(join(folder, 'memory.memsw.limit_in_bytes'))
  }

  /** The folders of a cgroup by controllers, such as `cpu` or `systemd`. */
  folders(path: string): ReadonlyMap<string, string> {
    return new Map([...this.#mounts].map(([controller, mount]) => [controller, join(mount, path)]))
  }

  children(path: string): readonly string[] {
    return [...new Set(this.#hierarchies().flatMap((mount) => foldersIn(join(mount, path))))]
  }

  processes(path: string): readonly number[] {
    return [...new Set(this.#hierarchies().flatMap((mount) => processesIn(join(mount, path))))]
  }

  async remove(path: string): Promise<void> {
    const mounts = [...this.#hierarchies(), ...(this.#unified === undefined ? [] : [this.#unified])]
    await Promise.all(mounts.map((mount) => removeFolder(join(mount, path))))
  }

  /** Several controllers may share one hierarchy. */
  #hierarchies(): string[] {
    return [...new Set(this.#mounts.values())]
  }

  #folder(controller: string, path: string): string | undefined {
    const mount = this.#mounts.get(controller)
    return mount === undefined ? undefined : join(mount, path)
  }

  #needed(controller: string, path: string): string {
    const folder = this.#folder(controller, path)
    if (folder === undefined) throw new Error(`no cgroup v1 mountpoint for ${controller} controller found`)
    return folder
  }
}

/** The kernel rejects a smaller period that would raise the quota above the parent's: the quota comes first then. */
function setQuota(folder: string, quota: bigint | undefined, period: bigint | undefined): void {
  let isPeriodSet = period === undefined
  if (period !== undefined)
    try {
      writeValue(folder, 'cpu.cfs_period_us', period)
      isPeriodSet = true
    } catch (error) {
      if (codeOf(error) !== 'EINVAL' || !quota) throw error
    }
  if (quota === undefined || quota === 0n) return
  writeValue(folder, 'cpu.cfs_quota_us', quota)
  if (!isPeriodSet) writeValue(folder, 'cpu.cfs_period_us', period!)
}

function setMemory(folder: string, limit: bigint): void {
  try {
    writeValue(folder, 'memory.limit_in_bytes', limit)
  } catch (error) {
    if (codeOf(error) !== 'EBUSY') throw error
    const usage = readValue(folder, 'memory.usage_in_bytes')
    const peak = readValue(folder, 'memory.max_usage_in_bytes')
    throw new Error(`unable to set memory limit to ${limit} (current usage: ${usage}, peak usage: ${peak})`)
  }
}
