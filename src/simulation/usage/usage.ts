/**
 * How much a simulated container uses: as its annotations say, else something that follows from its name and what it
 * asks for.
 */
import type { Pod } from '../../client/kinds.ts'
import { parseDurationMs } from '../../lib/duration.ts'
import { own } from '../../lib/own.ts'
import { isQuantity, parseQuantity } from '../../machinery/values/quantity.ts'
import { annotationPrefix } from '../names.ts'
import { hexOf } from '../nodes/node-object.ts'
import type { BehaviourDefaults } from '../pods/behaviour.ts'
import type { Container } from '../pods/lifecycle/pod-parts.ts'

export interface Usage {
  /** Thousandths of a processor's thousandth (nano). */
  readonly cpuNano: number
  readonly memoryBytes: number
}

/** One part of a schedule: between these two, for so long. Without an end it lasts. */
interface Part {
  readonly least: number
  readonly most: number
  readonly ms: number
}

/** Within a range usage changes this often, in ms. */
const changeMs = 15_000
const billion = 1e9
const kibibyte = 1024
const mebibyte = 1024 * kibibyte
/** What a node uses itself. */
const ofNode: Usage = { cpuNano: 50_000_000, memoryBytes: 400 * mebibyte }

export function usageOf(pod: Pod, container: Container, defaults: BehaviourDefaults, now: number): Usage {
  const startedAt = pod.status?.containerStatuses?.find(({ name }) => name === container.name)?.state?.running
    ?.startedAt
  const ranMs = Math.max(0, now - Date.parse(startedAt ?? '') || 0)
  const seed = `${pod.metadata.uid}/${container.name}`
  const said = (key: 'cpu' | 'memory'): number | undefined => {
    const annotations = pod.metadata.annotations ?? {}
    const text =
      own(annotations, `${annotationPrefix}${key}.${container.name}`) ??
      own(annotations, `${annotationPrefix}${key}`) ??
      own(defaults, key)
    const parts = text === undefined ? undefined : parseSchedule(text)
    return parts && amountAt(parts, ranMs, `${seed}/${key}/${Math.floor(now / changeMs)}`)
  }
  const { cpu, memory } = container.resources?.requests ?? {}
  const asked = (text: string | undefined, share: number, least: number): number =>
    text ? amount(text) * share : least
  const chance = between(seed)
  return {
    cpuNano: said('cpu') ?? Math.round(asked(cpu, 0.1 + 0.5 * chance, (0.001 + 0.009 * chance) * billion)),
    memoryBytes:
      (said('memory') ?? asked(memory, 0.4 + 0.4 * chance, (8 + 56 * chance) * mebibyte * billion)) / billion,
  }
}

/** What a container has written: its log, more or less. */
export const storageBytes = ({ metadata: { uid } }: Pod, { name }: Container): number =>
  Math.round((16 + 112 * between(`${uid}/${name}/storage`)) * kibibyte)

/** All that its containers use which run. */
export function usageOfPods(pods: Iterable<Pod>, defaults: BehaviourDefaults, now: number): Usage {
  let [cpuNano, memoryBytes] = [ofNode.cpuNano, ofNode.memoryBytes]
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
 * `250m`, a range (`100m-300m`), or a schedule of both that is gone through again and again from the container's start
 * (`100m:1m,800m-900m:30s`). Undefined for what is none.
 */
export function parseSchedule(text: string): readonly Part[] | undefined {
  const parts = text.split(',').map((part): Part | undefined => {
    const [range = '', duration] = part.trim().split(':')
    const [least = '', most = least] = range.split('-')
    const ms = duration === undefined ? Number.POSITIVE_INFINITY : parseDurationMs(duration)
    if (!isQuantity(least) || !isQuantity(most) || !ms) return undefined
    return { least: amount(least), most: amount(most), ms }
  })
  return parts.every((part) => part !== undefined) ? parts : undefined
}

const amount = (text: string): number => Number(parseQuantity(text).nano)

function amountAt(parts: readonly Part[], ranMs: number, seed: string): number {
  const whole = parts.reduce((sum, { ms }) => sum + ms, 0)
  let left = Number.isFinite(whole) ? ranMs % whole : ranMs
  const part = parts.find(({ ms }) => (left -= ms) < 0) ?? parts.at(-1)!
  return Math.round(part.least + (part.most - part.least) * between(seed))
}

/** From 0 to 1, the same each time. */
const between = (seed: string): number => Number.parseInt(hexOf(seed, 8), 16) / 0xffff_ffff
