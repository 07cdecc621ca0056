/** The order in which pods are evicted: pure functions of requests and usage, as upstream's. */
import { podRequests } from '../../api/core/pod/resources/pod-resources.ts'
import { wholeValue } from '../../machinery/values/quantity.ts'
import { type Pod, specOf } from '../pod-types.ts'
import type { FolderUsage } from '../stats/usage/file-systems.ts'
import type { PodUsage } from '../stats/usage/usage-snapshot.ts'
import { type Signal, type StarvedResource, signals } from './signals.ts'

export type UsageOf = (pod: Pod) => PodUsage | undefined

/** The parts of a pod's usage of disks that are on the file system of a signal. */
export type DiskPart = 'layers' | 'logs' | 'volumes'

type Compare = (a: Pod, b: Pod) => number

/** Sorts pods: those to evict first. */
export function rankPods(pods: readonly Pod[], signal: Signal, usageOf: UsageOf, hasImageFileSystem: boolean): Pod[] {
  const { resource } = signals[signal]
  if (resource === 'pids') return pods.toSorted(first(byPriority, measured(usageOf, byProcesses)))
  const parts = diskParts(signal, hasImageFileSystem)
  const used = (pod: Pod, usage: PodUsage): number =>
    resource === 'memory' ? (usage.usage?.memory.workingSet ?? 0) : diskUsage(pod, usage, resource, parts)
  const exceeds = (pod: Pod, usage: PodUsage): boolean => used(pod, usage) > requestOf(pod, resource)
  const requested = resource === 'memory' ? 'memory' : 'ephemeral-storage'
  const excess = (pod: Pod, usage: PodUsage): number => used(pod, usage) - requestOf(pod, requested)
  const byExcess = measured(usageOf, (a, b) => excess(...b) - excess(...a))
  const byExceeding = measured(usageOf, (a, b) => Number(exceeds(...b)) - Number(exceeds(...a)))
  return pods.toSorted(first(byExceeding, byPriority, byExcess))
}

const first =
  (...order: readonly Compare[]): Compare =>
  (a, b) => {
    for (const compare of order) {
      const result = compare(a, b)
      if (result !== 0) return result
    }
    return 0
  }

const byPriority: Compare = (a, b) => (specOf(a).priority ?? 0) - (specOf(b).priority ?? 0)

type Measured = readonly [pod: Pod, usage: PodUsage]

/** A pod without usage comes first. */
const measured =
  (usageOf: UsageOf, compare: (a: Measured, b: Measured) => number): Compare =>
  (a, b) => {
    const [x, y] = [usageOf(a), usageOf(b)]
    return x && y ? compare([a, x], [b, y]) : Number(x !== undefined) - Number(y !== undefined)
  }

const byProcesses = ([, a]: Measured, [, b]: Measured): number => (b.usage?.processes ?? 0) - (a.usage?.processes ?? 0)

/** With a file system of their own, images share it with the layers of containers. */
function diskParts(signal: Signal, hasImageFileSystem: boolean): readonly DiskPart[] {
  if (!hasImageFileSystem) return ['layers', 'logs', 'volumes']
  return signal.startsWith('nodefs.') ? ['logs', 'volumes'] : ['layers']
}

function diskUsage(pod: Pod, usage: PodUsage, resource: StarvedResource, parts: readonly DiskPart[]): number {
  const key: keyof FolderUsage = resource === 'inodes' ? 'inodesUsed' : 'usedBytes'
  const local = new Set(localVolumes(pod))
  const measuredParts: readonly (FolderUsage | undefined)[] = [
    ...(parts.includes('layers') ? usage.containers.map(({ writableLayer }) => writableLayer) : []),
    ...(parts.includes('logs') ? usage.containers.map(({ logs }) => logs) : []),
    ...(parts.includes('volumes') ? usage.volumes.filter(({ name }) => local.has(name)) : []),
  ]
  return measuredParts.reduce((sum, part) => sum + (part?.[key] ?? 0), 0)
}

/** The volumes that use disks of the node. */
const localVolumes = (pod: Pod): string[] =>
  (specOf(pod).volumes ?? [])
    .filter(
      ({ hostPath, emptyDir, configMap, gitRepo }) =>
        hostPath || (emptyDir && !emptyDir.medium) || configMap || gitRepo,
    )
    .map(({ name }) => name)

/** In bytes; 0 of inodes, which are not requested. Overhead counts if the pod requests something. */
function requestOf(pod: Pod, resource: StarvedResource): number {
  const request = podRequests(pod)[resource]
  if (request === undefined) return 0
  const own = Number(wholeValue(request))
  const overhead = specOf(pod).overhead?.[resource]
  return own > 0 && overhead !== undefined ? own + Number(wholeValue(overhead)) : own
}
