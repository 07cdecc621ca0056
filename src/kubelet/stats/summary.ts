/** The document of the Summary API (`/stats/summary`, stats/v1alpha1). */
import { timestamp } from '../../machinery/values/timestamp.ts'
import type { CgroupUsage } from '../../node/cgroups/cgroup-usage.ts'
import type { FileSystemUsage, FolderUsage } from './usage/file-systems.ts'
import type { InterfaceUsage } from './usage/node-usage.ts'
import type { ContainerUsage, PodUsage, SystemUsage, UsageSnapshot, VolumeUsage } from './usage/usage-snapshot.ts'

/** `onlyCpuAndMemory` leaves out disks, networks and processes. */
export function summaryOf(snapshot: UsageSnapshot, onlyCpuAndMemory: boolean): object {
  return {
    node: nodeStats(snapshot, onlyCpuAndMemory),
    pods: snapshot.pods.map((pod) => podStats(pod, snapshot, onlyCpuAndMemory)),
  }
}

function nodeStats(snapshot: UsageSnapshot, onlyCpuAndMemory: boolean): object {
  const { node, nodeCpuRate, nodeName, system, fileSystem, imageFileSystem, images, interfaces } = snapshot
  const time = timestamp(snapshot.time)
  const { available, usage, workingSet, rss, pageFaults, majorPageFaults } = node.memory
  const used = images && imageFileSystem && { ...imageFileSystem, usedBytes: images.usedBytes }
  return {
    nodeName,
    systemContainers: system.map((one) => systemStats(one)),
    startTime: timestamp(node.bootTime),
    cpu: { time, ...rateOf(nodeCpuRate), usageCoreNanoSeconds: node.cpuUsage },
    memory: {
      time,
      availableBytes: available,
      usageBytes: usage,
      workingSetBytes: workingSet,
      rssBytes: rss,
      pageFaults,
      majorPageFaults,
    },
    ...(!onlyCpuAndMemory && {
      network: networkStats(time, interfaces, snapshot.defaultInterface),
      ...(fileSystem && { fs: diskStats(time, fileSystem) }),
      ...(used && { runtime: { imageFs: diskStats(time, used), containerFs: diskStats(time, used) } }),
      rlimit: { time, maxpid: node.maxPid, curproc: node.processes },
    }),
    swap: { time, swapAvailableBytes: node.swap.capacity - node.swap.usage, swapUsageBytes: node.swap.usage },
  }
}

const systemStats = ({ name, usage, cpuRate }: SystemUsage): object => ({ name, ...cgroupStats(usage, cpuRate) })

function podStats(pod: PodUsage, snapshot: UsageSnapshot, onlyCpuAndMemory: boolean): object {
  const { identity, usage, cpuRate, containers, interfaces, volumes } = pod
  const time = timestamp(snapshot.time)
  const { name, namespace, uid } = identity
  return {
    podRef: { name, namespace, uid },
    startTime: timestamp(pod.startedAt),
    containers: containers.map((one) => containerStats(one, snapshot, onlyCpuAndMemory)),
    ...(usage && cgroupStats(usage, cpuRate)),
    ...(!onlyCpuAndMemory && {
      ...(interfaces && { network: networkStats(time, interfaces, interfaces[0]?.name ?? '') }),
      ...(volumes.length > 0 && { volume: volumes.map((volume) => volumeStats(time, volume)) }),
      'ephemeral-storage': ephemeralStorage(time, pod, snapshot.fileSystem),
      ...(usage?.processes !== undefined && { process_stats: { process_count: usage.processes } }),
    }),
  }
}

function containerStats(container: ContainerUsage, snapshot: UsageSnapshot, onlyCpuAndMemory: boolean): object {
  const { name, startedAt, usage, cpuRate, writableLayer, logs } = container
  const time = timestamp(snapshot.time)
  const { imageFileSystem, fileSystem } = snapshot
  return {
    name,
    startTime: timestamp(startedAt),
    ...(usage && cgroupStats(usage, cpuRate)),
    ...(!onlyCpuAndMemory && {
      ...(writableLayer && { rootfs: partStats(time, imageFileSystem, writableLayer) }),
      ...(logs && { logs: partStats(time, fileSystem, logs) }),
    }),
  }
}

function cgroupStats({ time: at, cpu, memory }: CgroupUsage, cpuRate: number | undefined): object {
  const time = timestamp(at)
  const { usage, workingSet, rss, pageFaults, majorPageFaults, limit, swap } = memory
  return {
    cpu: { time, ...rateOf(cpuRate), usageCoreNanoSeconds: cpu.usage },
    memory: {
      time,
      ...(limit !== undefined && { availableBytes: Math.max(0, limit - workingSet) }),
      usageBytes: usage,
      workingSetBytes: workingSet,
      rssBytes: rss,
      pageFaults,
      majorPageFaults,
    },
    swap: { time, swapUsageBytes: swap },
  }
}

const rateOf = (rate: number | undefined): object => (rate === undefined ? {} : { usageNanoCores: rate })

function networkStats(time: string, interfaces: readonly InterfaceUsage[], main: string): object {
  const stats = ({ name, rxBytes, rxErrors, txBytes, txErrors }: InterfaceUsage): object => ({
    name,
    rxBytes,
    rxErrors,
    txBytes,
    txErrors,
  })
  const own = interfaces.find(({ name }) => name === main)
  return { time, ...(own ? stats(own) : { name: '' }), interfaces: interfaces.map(stats) }
}

const diskStats = (time: string, usage: FileSystemUsage): object => ({
  time,
  availableBytes: usage.availableBytes,
  capacityBytes: usage.capacityBytes,
  usedBytes: usage.usedBytes,
  inodesFree: usage.inodesFree,
  inodes: usage.inodes,
  inodesUsed: usage.inodesUsed,
})

/** A part of a file system: its own use, and what is available to it. */
function partStats(time: string, whole: FileSystemUsage | undefined, { usedBytes, inodesUsed }: FolderUsage): object {
  if (!whole) return { time, usedBytes, inodesUsed }
  return diskStats(time, { ...whole, usedBytes, inodesUsed })
}

const volumeStats = (time: string, volume: VolumeUsage): object => ({
  ...diskStats(time, volume),
  name: volume.name,
  ...(volume.claim && { pvcRef: { name: volume.claim.name, namespace: volume.claim.namespace } }),
})

function ephemeralStorage(time: string, { containers, volumes }: PodUsage, whole: FileSystemUsage | undefined): object {
  const parts = [
    ...containers.flatMap(({ writableLayer, logs }) => [writableLayer, logs]),
    ...volumes.filter(({ isEphemeral }) => isEphemeral),
  ]
  const sum = (key: keyof FolderUsage): number => parts.reduce((total, part) => total + (part?.[key] ?? 0), 0)
  return partStats(time, whole, { usedBytes: sum('usedBytes'), inodesUsed: sum('inodesUsed') })
}
