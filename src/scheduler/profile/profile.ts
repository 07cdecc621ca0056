/** A profile: the plug-ins that schedule the pods of one scheduler name, in order. */

import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { type CounterSeries, MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Handle } from '../framework/handle.ts'
import type { Plugin, Registry } from '../framework/plugin.ts'
import type { PodInfo } from '../framework/pods/pod-info.ts'
import { failed, type Rejection } from '../framework/status.ts'
import { type CountedPoint, outcomeOf, PluginMetrics, type ProfileMeter } from '../metrics/plugin-metrics.ts'
import { Registrations } from '../queue/registrations.ts'
import type { QueueProfile } from '../queue/scheduling-queue.ts'
import { type ExtensionPoint, extensionPoints, implementsPoint } from './extension-points.ts'

/** A plug-in at an extension point. */
export interface Step {
  readonly name: string
  readonly plugin: Plugin
  /** The plug-in's number in the profile: the index of its cycle state. */
  readonly index: number
  /** The factor for its scores. */
  readonly weight: number
  /** Call counters, for the points that are counted. */
  readonly evaluations: Readonly<Record<CountedPoint, CounterSeries>>
}

export interface EnabledPlugin {
  readonly name: string
  /** Default (also for 0): 1. */
  readonly weight?: number
}

export interface PluginSet {
  readonly enabled?: readonly EnabledPlugin[]
  /** By name; `*` disables all. */
  readonly disabled?: readonly EnabledPlugin[]
}

/** The enabled plug-ins: at all of their extension points (`multiPoint`), and at single ones. */
export type PluginChoice = Readonly<Partial<Record<ExtensionPoint | 'multiPoint', PluginSet>>>

export interface ProfileSettings {
  readonly schedulerName: string
  readonly plugins: PluginChoice
  /** Arguments by plug-in, with defaults, validated. */
  readonly args: ReadonlyMap<string, unknown>
  /** Default: the one of the configuration. */
  readonly percentageOfNodesToScore?: number
}

export interface Profile extends QueueProfile {
  readonly schedulerName: string
  readonly percentageOfNodesToScore: number | undefined
  readonly steps: Readonly<Record<ExtensionPoint, readonly Step[]>>
  /** The number of plug-ins. */
  readonly pluginCount: number
  readonly handle: Handle
  readonly meter: ProfileMeter
}

/**
 * Makes all plug-ins of the profile. `metrics` measures them. Throws an ExplainedError for an unknown name, and for a
 * profile that cannot work.
 */
export function makeProfile(
  { schedulerName, plugins, args, percentageOfNodesToScore }: ProfileSettings,
  registry: Registry,
  handle: Handle,
  metrics = new PluginMetrics(new MetricsRegistry()),
): Profile {
  const meter = metrics.of(schedulerName)
  const made = new Map<string, { readonly plugin: Plugin; readonly index: number }>()
  const complain = (what: string): ExplainedError =>
    new ExplainedError(`profile ${JSON.stringify(schedulerName)}: ${what}`)

  const make = (name: string): Plugin => {
    const known = made.get(name)
    if (known) return known.plugin
    const factory = registry.get(name)
    if (!factory)
      throw complain(
        `there is no plug-in ${JSON.stringify(name)}: choose one of ${[...registry.keys()].sort().join(', ')}, or ` +
          'pass it to runScheduler',
      )
    try {
      const plugin = factory.make(args.get(name) ?? factory.args?.withDefaults({}), handle)
      made.set(name, { plugin, index: made.size })
      return plugin
    } catch (error) {
      throw complain(`initializing plugin ${JSON.stringify(name)}: ${reasonOf(error)}`)
    }
  }

  const step = ({ name, weight }: EnabledPlugin): Step => {
    const plugin = make(name)
    const counted = (point: ExtensionPoint, metered: CountedPoint): CounterSeries =>
      implementsPoint(plugin, point) ? meter.evaluations(name, metered) : uncounted
    // One shape for all plug-ins: they are read for every node.
    const evaluations = {
      PreFilter: counted('preFilter', 'PreFilter'),
      Filter: counted('filter', 'Filter'),
      PreScore: counted('preScore', 'PreScore'),
      Score: counted('score', 'Score'),
    }
    return { name, plugin, index: made.get(name)!.index, weight: weight || 1, evaluations }
  }

  // The order of these lines is the order in which plug-ins are made.
  const everywhere = (plugins.multiPoint?.enabled ?? []).map(step)
  const at = (point: ExtensionPoint): readonly Step[] => {
    const { enabled = [], disabled = [] } = plugins[point] ?? {}
    const own = enabled.map(step)
    for (const { name, plugin } of own)
      if (!implementsPoint(plugin, point))
        throw complain(`plugin ${JSON.stringify(name)} does not extend ${point} plugin`)
    const off = new Set(disabled.map(({ name }) => name))
    const isOn = ({ name, plugin }: Step): boolean =>
      implementsPoint(plugin, point) && !off.has('*') && !off.has(name) && !own.some((other) => other.name === name)
    const overriding = own.filter(({ name }) => everywhere.some((other) => other.name === name))
    return [...overriding, ...everywhere.filter(isOn), ...own.filter((one) => !overriding.includes(one))]
  }
  const steps = Object.fromEntries(extensionPoints.map((point) => [point, at(point)])) as Record<
    ExtensionPoint,
    readonly Step[]
  >
  if (steps.queueSort.length !== 1)
    throw complain(`exactly one plug-in has to sort the queue, not ${steps.queueSort.length}`)
  if (steps.bind.length === 0) throw complain('at least one plug-in has to bind: enable DefaultBinder')
  const registrations = new Registrations()
  const rejecting = new Set(rejectingPoints.flatMap((point) => steps[point]).map(({ name }) => name))
  for (const name of rejecting) registrations.add(name, made.get(name)?.plugin.events)
  return {
    schedulerName,
    percentageOfNodesToScore,
    steps,
    pluginCount: made.size,
    handle,
    meter,
    registrations,
    preEnqueue: (pod) => preEnqueue(steps.preEnqueue, pod, meter),
  }
}

/** Points at which pods can be rejected. */
const rejectingPoints: readonly ExtensionPoint[] = ['preEnqueue', 'preFilter', 'filter', 'reserve', 'permit']

/** For points that the plug-in does not implement. */
const uncounted: CounterSeries = { add() {} }

function preEnqueue(steps: readonly Step[], pod: PodInfo, meter: ProfileMeter): Rejection | undefined {
  const began = performance.now()
  const rejection = firstRefusal(steps, pod)
  meter.observePoint('PreEnqueue', outcomeOf(rejection?.status), began)
  return rejection
}

function firstRefusal(steps: readonly Step[], pod: PodInfo): Rejection | undefined {
  for (const { name, plugin } of steps) {
    try {
      const status = plugin.preEnqueue?.(pod)
      if (status) return { plugin: name, status }
    } catch (error) {
      return { plugin: name, status: failed(error) }
    }
  }
  return undefined
}
