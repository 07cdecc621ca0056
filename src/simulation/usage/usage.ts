/** The usage of a simulated container: as annotated, otherwise derived from its name and requests. */
import type { Pod } from '../../client/kinds.ts'
import { parseDurationMs } from '../../lib/duration.ts'
import { own } from '../../lib/own.ts'
import { isQuantity, parseQuantity } from '../../machinery/values/quantity.ts'
import type { Container } from '../../node/pods/pod-types.ts'
import { annotationPrefix } from '../names.ts'
import { hexOf } from '../nodes/node-object.ts'
import type { BehaviourDefaults } from '../pods/behaviour.ts'

export interface Usage {
  /** In nanocores. */
  readonly cpuNano: number
  readonly memoryBytes: number
}

/** A part of a schedule: a range of amounts and its duration in ms, which may be infinite. */
interface Part {
  readonly min: number
  readonly max: number
  readonly ms: number
}

/** How often the usage changes within a range, in ms. */
const changeMs = 15_000
const billion = 1e9
const kibibyte = 1024
const mebibyte = 1024 * kibibyte
/** The usage of the node itself. */
const nodeItself: Usage = { cpuNano: 50_000_000, memoryBytes: 400 * mebibyte }

export function usageOf(pod: Pod, container: Container, defaults: BehaviourDefaults, now: number): Usage {
  const startedAt = pod.status?.containerStatuses?.find(({ name }) => name === container.name)?.state?.running
    ?.startedAt
  const ranMs = Math.max(0, now - Date.parse(startedAt ?? '') || 0)
  const seed = `${pod.metadata.uid}/${container.name}`
  const annotated = (key: 'cpu' | 'memory'): number | undefined => {
    const annotations = pod.metadata.annotations ?? {}
    const text =
      own(annotations, `${annotationPrefix}${key}.${container.name}`) ??
      own(annotations, `${annotationPrefix}${key}`) ??
      own(defaults, key)
    const parts = text === undefined ? undefined : parseSchedule(text)
    return parts && amountAt(parts, ranMs, `${seed}/${key}/${Math.floor(now / changeMs)}`)
  }
  const { cpu, memory } = container.resources?.requests ?? {}
  const estimate = (text: string | undefined, share: number, min: number): number => (text ? amount(text) * share : min)
  const chance = between(seed)
  return {
    cpuNano: annotated('cpu') ?? Math.round(estimate(cpu, 0.1 + 0.5 * chance, (0.001 + 0.009 * chance) * billion)),
    memoryBytes:
      (annotated('memory') ?? estimate(memory, 0.4 + 0.4 * chance, (8 + 56 * chance) * mebibyte * billion)) / billion,
  }
}

/** The storage that a container uses, about that of a log. */
export const storageBytes = ({ metadata: { uid } }: Pod, { name }: Container): number =>
  Math.round((16 + 112 * between(`${uid}/${name}/storage`)) * kibibyte)

/** The usage of all running containers and of the node itself. */
export function usageOfPods(pods: Iterable<Pod>, defaults: BehaviourDefaults, now: number): Usage {
  let [cpuNano, memoryBytes] = [nodeItself.cpuNano, nodeItself.memoryBytes]
  for (const pod of pods) {
    for (const container of runningContainers(pod)) {
      const used = usageOf(pod, container, defaults, now)
      cpuNano += used.cpuNano
      memoryBytes += used.memoryBytes
    }
  }
  return { cpuNano, memoryBytes }
}

export const runningContainers = ({ spec, status }: Pod): Container[] =>
  (spec?.containers ?? []).filter(
    ({ name }) => status?.containerStatuses?.find((one) => one.name === name)?.state?.running,
  )

/**
 * Parses `250m`, a range (`100m-300m`), or a schedule of these that repeats from the container's start
 * (`100m:1m,800m-900m:30s`). Undefined if it is invalid.
 */
export function parseSchedule(text: string): readonly Part[] | undefined {
  const parts = text.split(',').map((part): Part | undefined => {
    const [range = '', duration] = part.trim().split(':')
    const [min = '', max = min] = range.split('-')
    const ms = duration === undefined ? Number.POSITIVE_INFINITY : parseDurationMs(duration)
    if (!isQuantity(min) || !isQuantity(max) || !ms) return undefined
    return { min: amount(min), max: amount(max), ms }
  })
  return parts.every((part) => part !== undefined) ? parts : undefined
}

const amount = (text: string): number => Number(parseQuantity(text).nano)

function amountAt(parts: readonly Part[], ranMs: number, seed: string): number {
  const whole = parts.reduce((sum, { ms }) => sum + ms, 0)
  let remaining = Number.isFinite(whole) ? ranMs % whole : ranMs
  const part = parts.find(({ ms }) => (remaining -= ms) < 0) ?? parts.at(-1)!
  return Math.round(part.min + (part.max - part.min) * between(seed))
}

/** A number from 0 to 1, derived from the seed. */
const between = (seed: string): number => Number.parseInt(hexOf(seed, 8), 16) / 0xffff_ffff
