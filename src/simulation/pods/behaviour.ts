/**
 * How the containers of a pod behave: by its annotations, else by what its node's group says, else as programs do that
 * run for ever.
 */
import type { Pod } from '../../client/kinds.ts'
import { parseDurationMs } from '../../lib/duration.ts'
import { own } from '../../lib/own.ts'
import { annotationPrefix } from '../names.ts'
import { hexOf } from '../nodes/node-object.ts'
import type { ContainerKind } from './lifecycle/pod-parts.ts'

export interface Behaviour {
  /** How long its image is pulled, in ms; 0 where it is there already. */
  readonly pullMs: number
  readonly pullFails: boolean
  /** From its creation to its start. */
  readonly startMs: number
  /** From its start to when its startup probe succeeds. */
  readonly startupMs: number
  /** From its start to when it is ready; never if undefined. */
  readonly readyMs: number | undefined
  /** How long it runs; for ever if undefined. */
  readonly runMs: number | undefined
  readonly exitCode: number
  readonly exitReason: string | undefined
  /** From being asked to stop to its end. */
  readonly stopMs: number
  readonly stopExitCode: number
  /** The first pause before it is started again; each is twice the one before. */
  readonly backOffMs: number
}

/** Values by the names of annotations without their prefix: `run-for: 30s`. */
export type BehaviourDefaults = Readonly<Record<string, string>>

/** What annotations can say about containers, each also with `.CONTAINER` behind it. */
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

/** A container of a Job does its work in this time, unless it is told otherwise. */
const jobRunMs = 1_000
const initRunMs = 0
const crashRunMs = 1_000
/** What the shell makes of SIGTERM. */
const terminated = 143
const kubeletBackOffMs = 10_000
const secondMs = 1000

/** `problem` is told of values that make no sense; they are left out. */
export function behaviourOf(
  pod: Pod,
  container: Container,
  kind: ContainerKind,
  defaults: BehaviourDefaults,
  problem: (words: string) => void,
): Behaviour {
  const annotations = pod.metadata.annotations ?? {}
  const said = (key: BehaviourKey): { readonly from: string; readonly value: string } | undefined => {
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
    const one = said(key)
    const value = one && parse(one.value, one.from)
    if (one && value === undefined) problem(`${one.from} is ${JSON.stringify(one.value)}: it has to be ${wanted}`)
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
    runMs: duration('run-for') ?? (crashes ? crashRunMs : usualRunMs(pod, kind)),
    exitCode: number('exit-code') ?? (crashes ? 1 : 0),
    exitReason: said('exit-reason')?.value,
    stopMs: duration('stop-delay') ?? 0,
    stopExitCode: number('stop-exit-code') ?? terminated,
    backOffMs: duration('back-off') ?? kubeletBackOffMs,
  }
}

/** Programs of Jobs and of init containers come to an end. */
function usualRunMs({ metadata, spec }: Pod, kind: ContainerKind): number | undefined {
  if (kind === 'init') return initRunMs
  if (kind !== 'main' || (spec?.restartPolicy ?? 'Always') === 'Always') return undefined
  return metadata.ownerReferences?.some((owner) => owner.controller && owner.kind === 'Job') ? jobRunMs : undefined
}

/** `30s`, or a time between the two of `1s-5s` that is the same each time for the same `seed`. */
function durationIn(text: string, seed: string): number | undefined {
  const [first = '', second] = text.split('-')
  const least = parseDurationMs(first)
  if (second === undefined || least === undefined) return least
  const most = parseDurationMs(second)
  if (most === undefined || most < least) return undefined
  return least + (Number.parseInt(hexOf(seed, 8), 16) / 0xffff_ffff) * (most - least)
}
