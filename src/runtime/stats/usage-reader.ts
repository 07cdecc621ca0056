/** Usage of containers and pods as CRI's messages. */
import { statfsSync } from 'node:fs'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type {
  ContainerMetricsSchema,
  ContainerStatsSchema,
  CpuUsageSchema,
  MemoryUsageSchema,
  NetworkUsageSchema,
  PodSandboxMetricsSchema,
  PodSandboxStatsSchema,
} from '#protobuf/cri-stats_pb.js'
import { CgroupReader } from '../../node/cgroups/cgroup-reader.ts'
import type { CgroupUsage } from '../../node/cgroups/cgroup-usage.ts'
import { findCgroups } from '../../node/cgroups/tree/find-cgroups.ts'
import type { Container } from '../containers/container.ts'
import type { Containers } from '../containers/containers.ts'
import { textOf } from '../host/processes.ts'
import type { ContainerImages } from '../images-interface.ts'
import { type Sandbox, usesHostNetwork } from '../sandboxes/sandbox.ts'
import { cgroupParentOf } from '../sandboxes/sandboxes.ts'
import { CpuRates } from './cpu-rates.ts'
import { containerDefinitions } from './metrics/container-metrics.ts'
import { descriptorOf, type MetricDescriptor, metricsOf } from './metrics/metric.ts'
import { networkDefinitions } from './metrics/network-metrics.ts'
import { processCounts } from './metrics/process-counts.ts'
import { type InterfaceCounters, interfacesIn } from './network-devices.ts'

type ContainerStats = MessageInitShape<typeof ContainerStatsSchema>
type ContainerMetrics = MessageInitShape<typeof ContainerMetricsSchema>
type PodSandboxMetrics = MessageInitShape<typeof PodSandboxMetricsSchema>
type PodSandboxStats = MessageInitShape<typeof PodSandboxStatsSchema>

const nsPerMs = 1_000_000

const value = (number: number): { value: bigint } => ({ value: BigInt(Math.round(number)) })

/** All metrics that pods and containers may have. */
export const metricDescriptors = (): MetricDescriptor[] => [
  ...containerDefinitions.map(descriptorOf),
  ...networkDefinitions.map(descriptorOf),
]

export class UsageReader {
  readonly #cgroups = new CgroupReader('/sys/fs/cgroup', '/proc', Date.now)
  readonly #images: ContainerImages
  readonly #containers: Containers
  readonly #rates = new CpuRates()

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

  /** The metrics of a pod and of its running containers. */
  async metrics(sandbox: Sandbox): Promise<PodSandboxMetrics> {
    const { name: pod = '', namespace = '' } = sandbox.config.metadata ?? {}
    const interfaces = this.#interfaces(sandbox) ?? []
    const common = ['', cgroupParentOf(sandbox.config), '', sandbox.id, namespace, pod] as const
    const containers = this.#containers.ofSandbox(sandbox.id)
    const readings = await Promise.all(containers.map((container) => this.#containerMetrics(container, namespace, pod)))
    return {
      podSandboxId: sandbox.id,
      metrics: metricsOf(networkDefinitions, interfaces, common, Date.now()),
      containerMetrics: readings.filter((reading) => reading !== undefined),
    }
  }

  async #containerMetrics(container: Container, namespace: string, pod: string): Promise<ContainerMetrics | undefined> {
    const { id, config, process, startedAt = 0n } = container.record
    const path = container.state === 'running' && process ? this.#cgroups.pathOf(process.pid) : undefined
    const usage = path === undefined ? undefined : this.#cgroups.read(path)
    if (!process || path === undefined || !usage) return undefined
    const layer = await this.#images.writableUsage(id)
    const { blocks, bsize, files, ffree } = statfsSync(layer.mountpoint)
    const reading = {
      usage,
      processes: processCounts(findCgroups().processes(path), process.pid),
      startedAt: Number(startedAt) / 1e9,
      changedBytes: layer.bytes,
      fileSystem: { bytes: blocks * bsize, inodes: files, freeInodes: ffree },
    }
    const image = config.image?.userSpecifiedImage || (config.image?.image ?? '')
    const common = [config.metadata?.name ?? '', path, image, id, namespace, pod] as const
    return { containerId: id, metrics: metricsOf(containerDefinitions, reading, common, usage.time) }
  }

  /** Forgets the readings of a container or sandbox that was removed. */
  forget(id: string): void {
    this.#rates.forget(id)
  }

  #usageOf({ state, record: { process } }: Container): CgroupUsage | undefined {
    const path = state === 'running' && process ? this.#cgroups.pathOf(process.pid) : undefined
    return path === undefined ? undefined : this.#cgroups.read(path)
  }

  #cpu(id: string, usage: CgroupUsage): MessageInitShape<typeof CpuUsageSchema> {
    const { time, cpu } = usage
    return {
      timestamp: nanoseconds(usage),
      usageCoreNanoSeconds: value(cpu.usage),
      usageNanoCores: value(this.#rates.add(id, time, cpu.usage)),
    }
  }

  /** The interfaces of a pod with a network of its own, without the loopback. */
  #interfaces(sandbox: Sandbox): InterfaceCounters[] | undefined {
    if (usesHostNetwork(sandbox.config)) return undefined
    // Each process of the pod shows the interfaces of its network.
    const running = this.#containers.ofSandbox(sandbox.id).find(({ state }) => state === 'running')
    const pid = sandbox.record.infra?.pid ?? running?.record.process?.pid
    if (pid === undefined) return undefined
    return interfacesIn(textOf(`/proc/${pid}/net/dev`)).filter(({ name }) => name !== 'lo')
  }

  #network(sandbox: Sandbox): { network?: MessageInitShape<typeof NetworkUsageSchema> } {
    const interfaces = this.#interfaces(sandbox)
    if (!interfaces) return {}
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
