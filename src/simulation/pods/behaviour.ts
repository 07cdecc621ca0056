/**
 * The behaviour of a pod's containers: from its annotations, then from its node's group. Default: they run permanently.
 */
import type { Pod } from '../../client/kinds.ts'
import { parseDurationMs } from '../../lib/duration.ts'
import { own } from '../../lib/own.ts'
import type { ContainerKind } from '../../node/pods/pod-types.ts'
import { annotationPrefix } from '../names.ts'
import { hexOf } from '../nodes/node-object.ts'

export interface Behaviour {
  /** The duration of the image pull, in ms; 0 if the image is present. */
  readonly pullMs: number
  readonly pullFails: boolean
  /** From creation to start, in ms. */
  readonly startMs: number
  /** From the start until its startup probe succeeds, in ms. */
  readonly startupMs: number
  /** From the start until it is ready, in ms; undefined for never. */
  readonly readyMs: number | undefined
  /** How long it runs, in ms; undefined for permanently. */
  readonly runMs: number | undefined
  readonly exitCode: number
  readonly exitReason: string | undefined
  /** From the request to stop until its end, in ms. */
  readonly stopMs: number
  readonly stopExitCode: number
  /** The first back-off in ms; it doubles with each restart. */
  readonly backOffMs: number
}

/** Annotations without their prefix, such as `run-for: 30s`. */
export type BehaviourDefaults = Readonly<Record<string, string>>

/** Annotations for all containers; with the suffix `.CONTAINER` for one. */
export const behaviourKeys = [
  'pull-delay',
  'pull',
  'start-delay',
  'ready-delay',
  'ready',
  'run-for',
  'exit-code',
  'exit-reason',
  'stop-delay',
  'stop-exit-code',
  'back-off',
  'crash-loop',
] as const
export type BehaviourKey = (typeof behaviourKeys)[number]

type Container = NonNullable<Pod['spec']>['containers'][number]

/** The default run time of a Job's container, in ms. */
const jobRunMs = 1_000
const initRunMs = 0
const crashRunMs = 1_000
/** The exit code of a shell after SIGTERM. */
const terminated = 143
const kubeletBackOffMs = 10_000
const secondMs = 1000

/** `problem` is called for invalid values, which are ignored. */
export function behaviourOf(
  pod: Pod,
  container: Container,
  kind: ContainerKind,
  defaults: BehaviourDefaults,
  problem: (words: string) => void,
): Behaviour {
  const annotations = pod.metadata.annotations ?? {}
  const annotated = (key: BehaviourKey): { readonly from: string; readonly value: string } | undefined => {
    for (const name of [`${annotationPrefix}${key}.${container.name}`, `${annotationPrefix}${key}`]) {
      const value = own(annotations, name)
      if (value !== undefined) return { from: `annotation ${name}`, value }
    }
    const value = own(defaults, key)
    return value === undefined ? undefined : { from: `the node's ${key}`, value }
  }
  const read = <T>(
    key: BehaviourKey,
    parse: (value: string, from: string) => T | undefined,
    wanted: string,
  ): T | undefined => {
    const one = annotated(key)
    const value = one && parse(one.value, one.from)
    if (one && value === undefined) problem(`${one.from} is ${JSON.stringify(one.value)}: it must be ${wanted}`)
    return value
  }
  const duration = (key: BehaviourKey): number | undefined =>
    read(
      key,
      (value, from) => durationIn(value, `${pod.metadata.uid}${from}`),
      'a duration such as 30s, or a range such as 1s-5s',
    )
  const number = (key: BehaviourKey): number | undefined =>
    read(
      key,
      (value) => (/^\d{1,3}$/.test(value) && Number(value) < 256 ? Number(value) : undefined),
      'a number from 0 to 255',
    )
  const flag = (key: BehaviourKey): boolean | undefined =>
    read(key, (value) => ({ true: true, false: false })[value], 'true or false')
  const crashes = flag('crash-loop') ?? false
  const { readinessProbe, startupProbe } = container
  const readyMs = duration('ready-delay') ?? (readinessProbe?.initialDelaySeconds ?? 0) * secondMs
  const startupMs = (startupProbe?.initialDelaySeconds ?? 0) * secondMs
  return {
    pullMs: duration('pull-delay') ?? 0,
    pullFails:
      (read('pull', (value) => (value === 'fail' || value === 'ok' ? value : undefined), 'ok or fail') ?? 'ok') ===
      'fail',
    startMs: duration('start-delay') ?? 0,
    startupMs,
    readyMs: flag('ready') === false ? undefined : Math.max(readyMs, startupMs),
    runMs: duration('run-for') ?? (crashes ? crashRunMs : defaultRunMs(pod, kind)),
    exitCode: number('exit-code') ?? (crashes ? 1 : 0),
    exitReason: annotated('exit-reason')?.value,
    stopMs: duration('stop-delay') ?? 0,
    stopExitCode: number('stop-exit-code') ?? terminated,
    backOffMs: duration('back-off') ?? kubeletBackOffMs,
  }
}

/** Containers of Jobs and init containers end. */
function defaultRunMs({ metadata, spec }: Pod, kind: ContainerKind): number | undefined {
  if (kind === 'init') return initRunMs
  if (kind !== 'main' || (spec?.restartPolicy ?? 'Always') === 'Always') return undefined
  return metadata.ownerReferences?.some((owner) => owner.controller && owner.kind === 'Job') ? jobRunMs : undefined
}

/** `30s`, or a time in the range `1s-5s` that is constant for the same `seed`. */
function durationIn(text: string, seed: string): number | undefined {
  const [first = '', second] = text.split('-')
  const min = parseDurationMs(first)
  if (second === undefined || min === undefined) return min
  const max = parseDurationMs(second)
  if (max === undefined || max < min) return undefined
  return min + (Number.parseInt(hexOf(seed, 8), 16) / 0xffff_ffff) * (max - min)
}
