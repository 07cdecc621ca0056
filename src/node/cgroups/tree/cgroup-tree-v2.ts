/** Cgroups v2: one hierarchy, in which each parent passes its controllers on to its children. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CgroupTree,
  foldersIn,
  makeFolder,
  pathsTo,
  processesIn,
  readValue,
  removeFolder,
  writeValue,
} from './cgroup-tree.ts'
import { type CgroupValues, sharesOfWeight, weightOfShares } from './cgroup-values.ts'

/** The controllers that the kubelet and runtimes use. */
const used = ['cpu', 'cpuset', 'memory', 'hugetlb', 'pids', 'io']
/** Those without which a cgroup does not count as existing. */
const needed = used.filter((name) => name !== 'io')

export class CgroupTreeV2 implements CgroupTree {
  readonly version = 2
  readonly #mount: string
  readonly #controllers: readonly string[]

  constructor(mount: string) {
    this.#mount = mount
    this.#controllers = controllersOf(mount)
  }

  missing(path: string): readonly string[] {
    const folder = join(this.#mount, path)
    if (!existsSync(join(folder, 'cgroup.controllers'))) return [folder]
    const enabled = controllersOf(folder)
    return needed.filter((name) => this.#controllers.includes(name) && !enabled.includes(name))
  }

  create(path: string): void {
    const wanted = used.filter((name) => this.#controllers.includes(name)).map((name) => `+${name}`)
    let parent = this.#mount
    for (const one of pathsTo(path)) {
      if (wanted.length > 0) writeValue(parent, 'cgroup.subtree_control', wanted.join(' '))
      parent = join(this.#mount, one)
      makeFolder(parent)
    }
  }

  set(path: string, values: CgroupValues): void {
    const folder = join(this.#mount, path)
    const { cpuShares, memory, pids, hugePages } = values
    if (this.#has('cpu')) {
      if (cpuShares !== undefined) writeValue(folder, 'cpu.weight', weightOfShares(cpuShares))
      const max = maxOf(values)
      if (max !== undefined) writeValue(folder, 'cpu.max', max)
    }
    if (memory !== undefined && memory !== 0n && this.#has('memory'))
      writeValue(folder, 'memory.max', memory < 0n ? 'max' : memory)
    if (pids !== undefined && this.#has('pids')) writeValue(folder, 'pids.max', pids > 0n ? pids : 'max')
    if (hugePages && this.#has('hugetlb'))
      for (const [size, limit] of hugePages) writeValue(folder, `hugetlb.${size}.max`, limit)
  }

  read(path: string): CgroupValues {
    const folder = join(this.#mount, path)
    const [quota = 'max', period = '100000'] = readValue(folder, 'cpu.max').split(' ')
    return {
      cpuShares: sharesOfWeight(BigInt(readValue(folder, 'cpu.weight'))),
      cpuQuota: amountOf(quota),
      cpuPeriod: BigInt(period),
      memory: amountOf(readValue(folder, 'memory.max')),
    }
  }

  memoryUsage(path: string): bigint {
    return BigInt(readValue(join(this.#mount, path), 'memory.current'))
  }

  hasSwapLimit(path: string): boolean {
    return existsSync(join(this.#mount, path, 'memory.swap.max'))
  }

  /** The folder of a cgroup, which is the same for all controllers. */
  folder(path: string): string {
    return join(this.#mount, path)
  }

  children(path: string): readonly string[] {
    return foldersIn(join(this.#mount, path))
  }

  processes(path: string): readonly number[] {
    return processesIn(join(this.#mount, path))
  }

  remove(path: string): Promise<void> {
    return removeFolder(join(this.#mount, path))
  }

  #has(controller: string): boolean {
    return this.#controllers.includes(controller)
  }
}

const controllersOf = (folder: string): string[] => readValue(folder, 'cgroup.controllers').split(' ').filter(Boolean)

/** -1 for no limit. */
const amountOf = (text: string): bigint => (text === 'max' ? -1n : BigInt(text))

/** The text of `cpu.max`; undefined if neither quota nor period changes. */
function maxOf({ cpuQuota, cpuPeriod }: CgroupValues): string | undefined {
  const isQuotaSet = cpuQuota !== undefined && cpuQuota !== 0n
  if (!isQuotaSet && cpuPeriod === undefined) return undefined
  const quota = isQuotaSet && cpuQuota > 0n ? String(cpuQuota) : 'max'
  return cpuPeriod === undefined ? quota : `${quota} ${cpuPeriod}`
}
