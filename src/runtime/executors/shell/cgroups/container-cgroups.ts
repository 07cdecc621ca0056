/** The cgroups of containers, which are written directly: v1, v2, or v1 with v2 beside it. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../../lib/message-of.ts'
import type { CgroupTreeV1 } from '../../../../node/cgroups/tree/cgroup-tree-v1.ts'
import type { CgroupTreeV2 } from '../../../../node/cgroups/tree/cgroup-tree-v2.ts'
import type { CgroupValues } from '../../../../node/cgroups/tree/cgroup-values.ts'
import { findCgroups } from '../../../../node/cgroups/tree/find-cgroups.ts'
import { killProcessesIn } from '../../../host/cgroup-processes.ts'
import type { OciResources } from '../../../spec/oci-spec.ts'
import type { VisibleCgroup } from '../setup/root-file-system.ts'
import { allRules, isUnlimited, ruleText } from './device-rules.ts'

export class ContainerCgroups {
  readonly #tree: CgroupTreeV1 | CgroupTreeV2 = findCgroups()

  get version(): 1 | 2 {
    return this.#tree.version
  }

  /** Makes a cgroup with its limits. Throws an Error that names the limit if the kernel refuses one. */
  create(path: string, resources: OciResources): void {
    this.#tree.create(path)
    this.set(path, resources)
    if (this.#tree.version === 1) this.#limitDevices(this.#tree, path, resources)
  }

  /** Limits that are absent do not change. */
  set(path: string, { memory, cpu, hugepageLimits, unified }: OciResources): void {
    const values: CgroupValues = {
      ...(cpu?.shares !== undefined && { cpuShares: BigInt(cpu.shares) }),
      ...(cpu?.quota !== undefined && { cpuQuota: BigInt(cpu.quota) }),
      ...(cpu?.period !== undefined && { cpuPeriod: BigInt(cpu.period) }),
      ...(hugepageLimits && {
        hugePages: new Map(hugepageLimits.map(({ pageSize, limit }) => [pageSize, BigInt(limit)])),
      }),
    }
    explain('CPU and huge pages', () => this.#tree.set(path, values))
    if (memory) explain('memory', () => this.#setMemory(path, memory))
    for (const [name, value] of [
      ['cpuset.cpus', cpu?.cpus],
      ['cpuset.mems', cpu?.mems],
    ] as const)
      if (value) explain(name, () => writeFileSync(join(this.#folder('cpuset', path), name), value))
    if (this.#tree.version === 2)
      for (const [name, value] of Object.entries(unified ?? {}))
        explain(name, () => writeFileSync(join(this.#folder('', path), fileName(name)), value))
  }

  /** The folders whose files `cgroup.procs` take the processes of the cgroup. */
  folders(path: string): readonly string[] {
    return this.#tree.version === 2 ? [this.#tree.folder(path)] : [...new Set(this.#tree.folders(path).values())]
  }

  /** The folders of v1 that the container sees; none with v2. */
  visible(path: string): readonly VisibleCgroup[] {
    if (this.#tree.version === 2) return []
    const controllers = new Map<string, string[]>()
    for (const [controller, folder] of this.#tree.folders(path))
      controllers.set(folder, [...(controllers.get(folder) ?? []), controller])
    return [...controllers].map(([folder, names]) => ({
      name: names.join(','),
      links: names.length > 1 ? names : [],
      folder,
    }))
  }

  /** Kills the processes of a cgroup and removes it. Does nothing if there is none. */
  async remove(path: string): Promise<void> {
    killProcessesIn(path)
    await this.#tree.remove(path)
  }

  /** A limit above that of memory and swap comes after it. */
  #setMemory(path: string, { limit, swap }: NonNullable<OciResources['memory']>): void {
    const setLimit = (): void => {
      if (limit !== undefined) this.#tree.set(path, { memory: BigInt(limit) })
    }
    const setSwap = (): void => {
      if (swap !== undefined) this.#setSwap(path, swap, limit ?? 0)
    }
    try {
      setLimit()
    } catch (error) {
      if (swap === undefined || this.#tree.version === 2) throw error
      setSwap()
      setLimit()
    }
    setSwap()
  }

  /** `swap` is the limit of memory and swap together. */
  #setSwap(path: string, swap: number, limit: number): void {
    const isV2 = this.#tree.version === 2
    const file = join(this.#folder('memory', path), isV2 ? 'memory.swap.max' : 'memory.memsw.limit_in_bytes')
    if (!existsSync(file)) return
    writeFileSync(file, isV2 ? (swap < 0 ? 'max' : String(Math.max(0, swap - limit))) : String(swap))
  }

  #folder(controller: string, path: string): string {
    if (this.#tree.version === 2) return this.#tree.folder(path)
    const folder = this.#tree.folders(path).get(controller)
    if (folder) return folder
    throw new Error(`this machine has no cgroups of the controller ${controller}`)
  }

  #limitDevices(tree: CgroupTreeV1, path: string, { devices = [] }: OciResources): void {
    const folder = tree.folders(path).get('devices')
    if (!folder || isUnlimited(devices)) return
    // Rules cannot change while a cgroup has children.
    if (readdirSync(folder, { withFileTypes: true }).some((one) => one.isDirectory())) return
    explain('devices', () => {
      writeFileSync(join(folder, 'devices.deny'), 'a')
      for (const rule of allRules(devices))
        writeFileSync(join(folder, rule.allow ? 'devices.allow' : 'devices.deny'), ruleText(rule))
    })
  }
}

/** Names come from pods. */
function fileName(name: string): string {
  if (/^[\w.]+$/.test(name)) return name
  throw new Error(`invalid name of a cgroup's file: ${JSON.stringify(name)}`)
}

function explain(limit: string, set: () => void): void {
  try {
    set()
  } catch (error) {
    throw new Error(`cannot set ${limit} of the cgroup: ${messageOf(error)}`, { cause: error })
  }
}
