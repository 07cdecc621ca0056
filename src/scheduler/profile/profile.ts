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
  settings: ProfileSettings,
  registry: Registry,
  handle: Handle,
  metrics = new PluginMetrics(new MetricsRegistry()),
): Profile {
  const { schedulerName, plugins, percentageOfNodesToScore } = settings
  const meter = metrics.of(schedulerName)
  const maker = new StepMaker(settings, registry, handle, meter)
  const steps = stepsOf(plugins, maker)
  if (steps.queueSort.length !== 1)
    throw maker.error(`exactly one plug-in has to sort the queue, not ${steps.queueSort.length}`)
  if (steps.bind.length === 0) throw maker.error('at least one plug-in has to bind: enable DefaultBinder')
  const rejecting = rejectingPoints.flatMap((point) => steps[point]).map(({ name, plugin }) => [name, plugin] as const)
  const registrations = new Registrations()
  for (const [name, { events }] of new Map(rejecting)) registrations.add(name, events)
  return {
    schedulerName,
    percentageOfNodesToScore,
    steps,
    pluginCount: maker.pluginCount,
    handle,
    meter,
    registrations,
    preEnqueue: (pod) => preEnqueue(steps.preEnqueue, pod, meter),
  }
}

/** Makes the plug-ins of a profile, each once, and their steps. */
class StepMaker {
  readonly #settings: ProfileSettings
  readonly #registry: Registry
  readonly #handle: Handle
  readonly #meter: ProfileMeter
  readonly #made = new Map<string, { readonly plugin: Plugin; readonly index: number }>()

  constructor(settings: ProfileSettings, registry: Registry, handle: Handle, meter: ProfileMeter) {
    this.#settings = settings
    this.#registry = registry
    this.#handle = handle
    this.#meter = meter
  }

  get pluginCount(): number {
    return this.#made.size
  }

  step({ name, weight }: EnabledPlugin): Step {
    const { plugin, index } = this.#plugin(name)
    const counted = (point: ExtensionPoint, metered: CountedPoint): CounterSeries =>
      implementsPoint(plugin, point) ? this.#meter.evaluations(name, metered) : uncounted
    // One shape for all plug-ins: they are read for every node.
    const evaluations = {
      PreFilter: counted('preFilter', 'PreFilter'),
      Filter: counted('filter', 'Filter'),
      PreScore: counted('preScore', 'PreScore'),
      Score: counted('score', 'Score'),
    }
    return { name, plugin, index, weight: weight || 1, evaluations }
  }

  /** An error that names the profile. */
  error(message: string): ExplainedError {
    return new ExplainedError(`profile ${JSON.stringify(this.#settings.schedulerName)}: ${message}`)
  }

  #plugin(name: string): { readonly plugin: Plugin; readonly index: number } {
    let made = this.#made.get(name)
    if (!made) this.#made.set(name, (made = { plugin: this.#make(name), index: this.#made.size }))
    return made
  }

  #make(name: string): Plugin {
    const factory = this.#registry.get(name)
    if (!factory)
      throw this.error(
        `there is no plug-in ${JSON.stringify(name)}: choose one of ${[...this.#registry.keys()].sort().join(', ')}, ` +
          'or pass it to runScheduler',
      )
    try {
      return factory.make(this.#settings.args.get(name) ?? factory.args?.withDefaults({}), this.#handle)
    } catch (error) {
      throw this.error(`initializing plugin ${JSON.stringify(name)}: ${reasonOf(error)}`)
    }
  }
}

/** The steps of each extension point. Plug-ins are made in the order of `multiPoint`, then of the points. */
function stepsOf(plugins: PluginChoice, maker: StepMaker): Profile['steps'] {
  const everywhere = (plugins.multiPoint?.enabled ?? []).map((one) => maker.step(one))
  return Object.fromEntries(
    extensionPoints.map((point) => [point, stepsAt(point, plugins[point], everywhere, maker)]),
  ) as Record<ExtensionPoint, readonly Step[]>
}

/** The steps of one extension point: the plug-ins that are enabled `everywhere`, and those of the point. */
function stepsAt(
  point: ExtensionPoint,
  { enabled = [], disabled = [] }: PluginSet = {},
  everywhere: readonly Step[],
  maker: StepMaker,
): readonly Step[] {
  const own = enabled.map((one) => maker.step(one))
  for (const { name, plugin } of own)
    if (!implementsPoint(plugin, point))
      throw maker.error(`plugin ${JSON.stringify(name)} does not extend ${point} plugin`)
  const disabledNames = new Set(disabled.map(({ name }) => name))
  const isOn = ({ name, plugin }: Step): boolean =>
    implementsPoint(plugin, point) &&
    !disabledNames.has('*') &&
    !disabledNames.has(name) &&
    !own.some((other) => other.name === name)
  const overriding = own.filter(({ name }) => everywhere.some((other) => other.name === name))
  return [...overriding, ...everywhere.filter(isOn), ...own.filter((one) => !overriding.includes(one))]
}

/** Points at which pods can be rejected. */
const rejectingPoints: readonly ExtensionPoint[] = ['preEnqueue', 'preFilter', 'filter', 'reserve', 'permit']

/** For points that the plug-in does not implement. */
const uncounted: CounterSeries = { add() {} }

function preEnqueue(steps: readonly Step[], pod: PodInfo, meter: ProfileMeter): Rejection | undefined {
  const began = performance.now()
  const rejection = firstRejection(steps, pod)
  meter.observePoint('PreEnqueue', outcomeOf(rejection?.status), began)
  return rejection
}

function firstRejection(steps: readonly Step[], pod: PodInfo): Rejection | undefined {
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
