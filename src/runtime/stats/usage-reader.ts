/** Usage of containers and pods as CRI's messages. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import type {
  ContainerStatsSchema,
  CpuUsageSchema,
  MemoryUsageSchema,
  NetworkUsageSchema,
  PodSandboxStatsSchema,
} from '#protobuf/cri-stats_pb.js'
import { CgroupReader } from '../../node/cgroups/cgroup-reader.ts'
import type { CgroupUsage } from '../../node/cgroups/cgroup-usage.ts'
import type { Container } from '../containers/container.ts'
import type { Containers } from '../containers/containers.ts'
import { textOf } from '../host/processes.ts'
import type { ContainerImages } from '../images-interface.ts'
import { type Sandbox, usesHostNetwork } from '../sandboxes/sandbox.ts'
import { cgroupParentOf } from '../sandboxes/sandboxes.ts'
import { interfacesIn } from './network-devices.ts'

type ContainerStats = MessageInitShape<typeof ContainerStatsSchema>
type PodSandboxStats = MessageInitShape<typeof PodSandboxStatsSchema>

const nsPerMs = 1_000_000

const value = (number: number): { value: bigint } => ({ value: BigInt(Math.round(number)) })

export class UsageReader {
  readonly #cgroups = new CgroupReader('/sys/fs/cgroup', '/proc', Date.now)
  readonly #images: ContainerImages
  readonly #containers: Containers
  /** The last readings of CPU time, for rates. */
  readonly #last = new Map<string, { readonly time: number; readonly usage: number; readonly rate: number }>()

  constructor(images: ContainerImages, containers: Containers) {
    this.#images = images
    this.#containers = containers
  }

  /** Values of a container that does not run are missing. */
  async container(container: Container): Promise<ContainerStats> {
    const { id, config } = container.record
    const { metadata, labels, annotations } = config
    const usage = this.#usageOf(container)
    const timestamp = BigInt(Date.now()) * BigInt(nsPerMs)
    const layer = await this.#images.writableUsage(id)
    return {
      attributes: {
        id,
        metadata: { name: metadata?.name ?? '', attempt: metadata?.attempt ?? 0 },
        labels,
        annotations,
      },
      ...(usage && {
        cpu: this.#cpu(id, usage),
        memory: memoryOf(usage),
        swap: { timestamp, swapUsageBytes: value(usage.memory.swap) },
      }),
      writableLayer: {
        timestamp,
        fsId: { mountpoint: layer.mountpoint },
        usedBytes: value(layer.bytes),
        inodesUsed: value(layer.inodes),
      },
    }
  }

  async pod(sandbox: Sandbox): Promise<PodSandboxStats> {
    const { id, config } = sandbox
    const { metadata, labels, annotations } = config
    const containers = this.#containers.ofSandbox(id).filter(({ state }) => state === 'running')
    const usage = this.#cgroups.read(cgroupParentOf(config))
    const { name = '', uid = '', namespace = '', attempt = 0 } = metadata ?? {}
    return {
      attributes: { id, metadata: { name, uid, namespace, attempt }, labels, annotations },
      linux: {
        ...(usage && { cpu: this.#cpu(id, usage), memory: memoryOf(usage) }),
        ...(usage?.processes !== undefined && {
          process: { timestamp: nanoseconds(usage), processCount: value(usage.processes) },
        }),
        ...this.#network(sandbox),
        containers: await Promise.all(containers.map((container) => this.container(container))),
      },
    }
  }

  /** Forgets the readings of a container or sandbox that was removed. */
  forget(id: string): void {
    this.#last.delete(id)
  }

  #usageOf({ state, record: { process } }: Container): CgroupUsage | undefined {
    const path = state === 'running' && process ? this.#cgroups.pathOf(process.pid) : undefined
    return path === undefined ? undefined : this.#cgroups.read(path)
  }

  #cpu(id: string, usage: CgroupUsage): MessageInitShape<typeof CpuUsageSchema> {
    const { time, cpu } = usage
    const last = this.#last.get(id)
    const elapsedMs = last ? time - last.time : 0
    const rate = last && elapsedMs > 0 ? ((cpu.usage - last.usage) / (elapsedMs * nsPerMs)) * 1e9 : (last?.rate ?? 0)
    if (!last || elapsedMs > 0) this.#last.set(id, { time, usage: cpu.usage, rate })
    return {
      timestamp: nanoseconds(usage),
      usageCoreNanoSeconds: value(cpu.usage),
      usageNanoCores: value(Math.max(0, rate)),
    }
  }

  #network(sandbox: Sandbox): { network?: MessageInitShape<typeof NetworkUsageSchema> } {
    if (usesHostNetwork(sandbox.config)) return {}
    // Each process of the pod shows the interfaces of its network.
    const running = this.#containers.ofSandbox(sandbox.id).find(({ state }) => state === 'running')
    const pid = sandbox.record.infra?.pid ?? running?.record.process?.pid
    if (pid === undefined) return {}
    const interfaces = interfacesIn(textOf(`/proc/${pid}/net/dev`)).filter(({ name }) => name !== 'lo')
    const messages = interfaces.map(({ name, ...counters }) => ({
      name,
      rxBytes: value(counters.rxBytes),
      rxErrors: value(counters.rxErrors),
      txBytes: value(counters.txBytes),
      txErrors: value(counters.txErrors),
    }))
    const main = messages.find(({ name }) => name === 'eth0')
    return {
      network: {
        timestamp: BigInt(Date.now()) * BigInt(nsPerMs),
        ...(main && { defaultInterface: main }),
        interfaces: messages.filter(({ name }) => name !== 'eth0'),
      },
    }
  }
}

const nanoseconds = ({ time }: CgroupUsage): bigint => BigInt(time) * BigInt(nsPerMs)

function memoryOf(usage: CgroupUsage): MessageInitShape<typeof MemoryUsageSchema> {
  const { memory } = usage
  return {
    timestamp: nanoseconds(usage),
    workingSetBytes: value(memory.workingSet),
    ...(memory.limit !== undefined && { availableBytes: value(Math.max(0, memory.limit - memory.workingSet)) }),
    usageBytes: value(memory.usage),
    rssBytes: value(memory.rss),
    pageFaults: value(memory.pageFaults),
    majorPageFaults: value(memory.majorPageFaults),
  }
}
