/** Usage of containers and pods as CRI's messages, from the engine's statistics. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import type {
  ContainerStatsSchema,
  CpuUsageSchema,
  MemoryUsageSchema,
  NetworkUsageSchema,
  PodSandboxStatsSchema,
} from '#protobuf/cri-stats_pb.js'
import { isConflict, isMissing } from '../../../lib/docker-engine/index.ts'
import { CpuRates } from '../../stats/cpu-rates.ts'
import type { DockerParts } from '../docker-parts.ts'
import type { ContainerUsage } from '../engine-types.ts'
import type { Container, Sandbox } from '../pods/pods.ts'
import { WrittenSizes } from './written-sizes.ts'

type ContainerStats = MessageInitShape<typeof ContainerStatsSchema>
type Memory = MessageInitShape<typeof MemoryUsageSchema>

const value = (number: number): { value: bigint } => ({ value: BigInt(Math.round(number)) })

/** In ns. */
const timestampOf = (ms: number): bigint => BigInt(ms) * 1_000_000n

export class DockerUsage {
  readonly #parts: DockerParts
  readonly #rates = new CpuRates()
  readonly #sizes: WrittenSizes

  constructor(parts: DockerParts) {
    this.#parts = parts
    this.#sizes = new WrittenSizes(parts.pods)
  }

  /** Values of a container that does not run are missing. */
  async container({ id, config, state }: Container): Promise<ContainerStats> {
    const { metadata, labels, annotations } = config
    const usage = state === 'running' ? await this.#read(id) : undefined
    const time = Date.now()
    return {
      attributes: {
        ...{ id, labels, annotations },
        metadata: { name: metadata?.name ?? '', attempt: metadata?.attempt ?? 0 },
      },
      ...(usage && { cpu: this.#cpu(id, time, [usage]), memory: this.#memory(time, [usage]) }),
      writableLayer: {
        timestamp: timestampOf(time),
        fsId: { mountpoint: this.#parts.info.DockerRootDir },
        usedBytes: value(await this.#sizes.of(id)),
      },
    }
  }

  async pod({ id, config }: Sandbox): Promise<MessageInitShape<typeof PodSandboxStatsSchema>> {
    const { metadata, labels, annotations } = config
    const { name = '', uid = '', namespace = '', attempt = 0 } = metadata ?? {}
    const containers = (await this.#parts.pods.containers(id)).filter(({ state }) => state === 'running')
    const own = await this.#read(id)
    const readings = await Promise.all(containers.map((container) => this.#read(container.id)))
    const usages = [own, ...readings].filter((usage) => usage !== undefined)
    const time = Date.now()
    const processes = usages.reduce((sum, { pids_stats }) => sum + (pids_stats?.current ?? 0), 0)
    return {
      attributes: { id, metadata: { name, uid, namespace, attempt }, labels, annotations },
      linux: {
        cpu: this.#cpu(id, time, usages),
        memory: this.#memory(time, usages),
        process: { timestamp: timestampOf(time), processCount: value(processes) },
        ...(own?.networks && { network: networkOf(time, own.networks) }),
        containers: await Promise.all(containers.map((container) => this.container(container))),
      },
    }
  }

  /** Undefined for a container that has ended meanwhile. */
  async #read(id: string): Promise<ContainerUsage | undefined> {
    try {
      return await this.#parts.engine.json<ContainerUsage>({
        path: `/containers/${id}/stats`,
        query: { stream: false, 'one-shot': true },
      })
    } catch (error) {
      if (isMissing(error) || isConflict(error)) return undefined
      throw error
    }
  }

  #cpu(id: string, time: number, usages: readonly ContainerUsage[]): MessageInitShape<typeof CpuUsageSchema> {
    const total = usages.reduce((sum, { cpu_stats }) => sum + (cpu_stats?.cpu_usage?.total_usage ?? 0), 0)
    return {
      timestamp: timestampOf(time),
      usageCoreNanoSeconds: value(total),
      usageNanoCores: value(this.#rates.add(id, time, total)),
    }
  }

  #memory(time: number, usages: readonly ContainerUsage[]): Memory {
    // The names of cgroup v1, then of v2.
    const sum = (...names: readonly string[]): number =>
      usages.reduce((total, { memory_stats }) => {
        const stats = memory_stats?.stats ?? {}
        const name = names.find((one) => stats[one] !== undefined)
        return total + (name === undefined ? 0 : stats[name]!)
      }, 0)
    const usage = usages.reduce((total, { memory_stats }) => total + (memory_stats?.usage ?? 0), 0)
    const workingSet = Math.max(0, usage - sum('total_inactive_file', 'inactive_file'))
    const limit = usages.length === 1 ? (usages[0]!.memory_stats?.limit ?? 0) : 0
    // Without a limit, the engine reports the memory of the machine.
    const isLimited = limit > 0 && limit < this.#parts.info.MemTotal
    return {
      timestamp: timestampOf(time),
      workingSetBytes: value(workingSet),
      ...(isLimited && { availableBytes: value(Math.max(0, limit - workingSet)) }),
      usageBytes: value(usage),
      rssBytes: value(sum('total_rss', 'anon')),
      pageFaults: value(sum('total_pgfault', 'pgfault')),
      majorPageFaults: value(sum('total_pgmajfault', 'pgmajfault')),
    }
  }
}

function networkOf(
  time: number,
  networks: NonNullable<ContainerUsage['networks']>,
): MessageInitShape<typeof NetworkUsageSchema> {
  const interfaces = Object.entries(networks).map(([name, counters]) => ({
    name,
    rxBytes: value(counters.rx_bytes),
    rxErrors: value(counters.rx_errors),
    txBytes: value(counters.tx_bytes),
    txErrors: value(counters.tx_errors),
  }))
  const main = interfaces.find(({ name }) => name === 'eth0')
  return {
    timestamp: timestampOf(time),
    ...(main && { defaultInterface: main }),
    interfaces: interfaces.filter(({ name }) => name !== 'eth0'),
  }
}
