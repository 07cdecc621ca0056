/**
 * Cgroups of the driver systemd: each is a slice, which systemd makes and removes. Limits are set through systemd, too,
 * since it writes its own values whenever it starts something in a slice.
 */
import { execFileSync } from 'node:child_process'
import { basename } from 'node:path'
import { type CgroupTree, pathsTo } from '../../node/cgroups/tree/cgroup-tree.ts'
import { type CgroupValues, weightOfShares } from '../../node/cgroups/tree/cgroup-values.ts'

/** Runs `systemctl` with arguments. Throws an Error if it fails. */
export type Systemctl = (...args: string[]) => void

export class SystemdTree implements CgroupTree {
  readonly #tree: CgroupTree
  readonly #systemctl: Systemctl

  /** `tree` are the folders that systemd manages. */
  constructor(tree: CgroupTree, systemctl: Systemctl = runSystemctl) {
    this.#tree = tree
    this.#systemctl = systemctl
  }

  get version(): 1 | 2 {
    return this.#tree.version
  }

  missing(path: string): readonly string[] {
    return this.#tree.missing(path)
  }

  create(path: string): void {
    const slices = pathsTo(path).filter((one) => this.#tree.missing(one).length > 0)
    if (slices.length > 0) this.#systemctl('start', ...slices.map((one) => basename(one)))
    // systemd makes the folders of the controllers that it uses itself.
    this.#tree.create(path)
  }

  set(path: string, values: CgroupValues): void {
    const properties = propertiesOf(values, this.version)
    if (properties.length > 0) this.#systemctl('set-property', '--runtime', basename(path), ...properties)
    this.#tree.set(path, values)
  }

  read(path: string): CgroupValues {
    return this.#tree.read(path)
  }

  memoryUsage(path: string): bigint {
    return this.#tree.memoryUsage(path)
  }

  hasSwapLimit(path: string): boolean {
    return this.#tree.hasSwapLimit(path)
  }

  children(path: string): readonly string[] {
    return this.#tree.children(path)
  }

  processes(path: string): readonly number[] {
    return this.#tree.processes(path)
  }

  async remove(path: string): Promise<void> {
    const slice = basename(path)
    this.#systemctl('stop', slice)
    // Its properties are files, which would remain.
    this.#systemctl('revert', slice)
    await this.#tree.remove(path)
  }
}

function propertiesOf(values: CgroupValues, version: 1 | 2): string[] {
  const { cpuShares, cpuQuota, cpuPeriod, memory, pids } = values
  return [
    ...(cpuShares === undefined
      ? []
      : [version === 2 ? `CPUWeight=${weightOfShares(cpuShares)}` : `CPUShares=${cpuShares}`]),
    ...(cpuQuota && cpuPeriod ? [cpuQuota < 0n ? 'CPUQuota=' : `CPUQuota=${percentOf(cpuQuota, cpuPeriod)}`] : []),
    ...(memory ? [`${version === 2 ? 'MemoryMax' : 'MemoryLimit'}=${memory < 0n ? 'infinity' : memory}`] : []),
    ...(pids === undefined ? [] : [`TasksMax=${pids > 0n ? pids : 'infinity'}`]),
  ]
}

/** With two digits after the point, if they are needed: `1.50%`. */
function percentOf(quota: bigint, period: bigint): string {
  const hundredths = (quota * 10_000n) / period
  return hundredths % 100n === 0n ? `${hundredths / 100n}%` : `${(Number(hundredths) / 100).toFixed(2)}%`
}

function runSystemctl(...args: string[]): void {
  try {
    execFileSync('systemctl', args, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' })
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: string; readonly message: string }
    throw new Error(
      `systemctl ${args.join(' ')} has failed: ${(stderr || message).trim()}; without systemd, set cgroupDriver: ` +
        'cgroupfs here, and SystemdCgroup = false in the settings of containerd',
    )
  }
}
