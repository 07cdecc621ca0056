/**
 * The steps between the decision and the end of the binding: Reserve, Permit, PreBind, Bind, PostBind, and their
 * undoing.
 */
import { reasonOf } from '../../lib/explained-error.ts'
import type { Extender } from '../framework/extender.ts'
import { failed, type Rejection, type Status } from '../framework/status.ts'
import { type MeteredPoint, outcomeOf } from '../metrics/plugin-metrics.ts'
import type { Step } from '../profile/profile.ts'
import type { PreparingPods } from '../runtime/preparing-pods.ts'
import { failureOf, type PodCycle } from './pod-cycle.ts'

export interface Placement {
  readonly cycle: PodCycle
  /** The name of the node. */
  readonly node: string
}

/** Returns the first rejection; the caller has to undo the reservations made before it. */
export function reserve({ cycle, node }: Placement): Rejection | undefined {
  const began = performance.now()
  let rejection: Rejection | undefined
  for (const step of cycle.profile.steps.reserve) {
    const status = attempt(cycle, step, 'Reserve', () => step.plugin.reserve?.(cycle.stateOf(step), cycle.pod, node))
    if (!status) continue
    rejection = { plugin: step.name, status }
    break
  }
  cycle.profile.meter.observePoint('Reserve', outcomeOf(rejection?.status), began)
  return rejection
}

/** Releases all reservations in reverse order. */
export function unreserve({ cycle, node }: Placement): void {
  const began = performance.now()
  for (const step of cycle.profile.steps.reserve.toReversed()) {
    const status = attempt(
      cycle,
      step,
      'Unreserve',
      () => void step.plugin.unreserve?.(cycle.stateOf(step), cycle.pod, node),
    )
    if (status)
      cycle.profile.handle.log(
        `${step.name} failed to release its reservation for ${cycle.pod.key}: ${reasonOf(status.cause)}`,
      )
  }
  cycle.profile.meter.observePoint('Unreserve', 'Success', began)
}

export interface Permission {
  readonly rejection?: Rejection
  /** How long the pod may wait, by plug-in, in ms. */
  readonly timeouts: ReadonlyMap<string, number>
}

export function permit(placement: Placement): Permission {
  const began = performance.now()
  const permission = runPermit(placement)
  const { rejection, timeouts } = permission
  placement.cycle.profile.meter.observePoint(
    'Permit',
    rejection ? outcomeOf(rejection.status) : timeouts.size > 0 ? 'Wait' : 'Success',
    began,
  )
  return permission
}

function runPermit({ cycle, node }: Placement): Permission {
  const timeouts = new Map<string, number>()
  for (const step of cycle.profile.steps.permit) {
    const status = attempt(cycle, step, 'Permit', () => step.plugin.permit?.(cycle.stateOf(step), cycle.pod, node))
    if (status?.code === 'Wait') timeouts.set(step.name, status.timeoutMs ?? 0)
    else if (status) return { rejection: { plugin: step.name, status }, timeouts }
  }
  return { timeouts }
}

/** Runs PreBind and Bind, until the first rejection. Never rejects the promise. */
export async function bind(
  placement: Placement,
  extenders: readonly Extender[],
  preparing: PreparingPods,
): Promise<Rejection | undefined> {
  const { pod, profile } = placement.cycle
  const { meter } = profile
  const began = performance.now()
  const steps = stepsToPrepare(placement)
  // Without PreBind work, the pod is bound immediately, while the cluster is as it was at the decision.
  const preBindRefusal =
    steps.length > 0 ? await preparing.prepare(pod.uid, (signal) => prepare(placement, steps, signal)) : undefined
  meter.observePoint('PreBind', outcomeOf(preBindRefusal?.status), began)
  if (preBindRefusal) return preBindRefusal
  const binding = performance.now()
  const rejection = await runBind(placement, extenders)
  meter.observePoint('Bind', outcomeOf(rejection?.status), binding)
  if (!rejection) runPostBind(placement)
  return rejection
}

/** Returns true if PreBind has work to do, so that the binding may take long. */
export const hasPreBindWork = (placement: Placement): boolean => stepsToPrepare(placement).length > 0

const stepsToPrepare = ({ cycle, node }: Placement): readonly Step[] =>
  cycle.profile.steps.preBind.filter((step) => step.plugin.needsPreBind?.(cycle.stateOf(step), cycle.pod, node) ?? true)

async function prepare(
  { cycle, node }: Placement,
  steps: readonly Step[],
  signal: AbortSignal,
): Promise<Rejection | undefined> {
  for (const step of steps) {
    const status = await attemptAsync(cycle, step, 'PreBind', async () => {
      const result = await step.plugin.preBind?.(cycle.stateOf(step), cycle.pod, node, signal)
      // The result no longer counts: the place may be taken by other pods.
      signal.throwIfAborted()
      return result
    })
    if (status) return { plugin: step.name, status }
  }
  return undefined
}

async function runBind({ cycle, node }: Placement, extenders: readonly Extender[]): Promise<Rejection | undefined> {
  const { pod, profile } = cycle
  for (const extender of extenders) {
    if (!extender.bind || !extender.isInterested(pod)) continue
    try {
      await extender.bind(pod, node)
      return undefined
    } catch (error) {
      if (!extender.ignorable)
        return { plugin: extender.name, status: failed(new Error(reasonOf(error), { cause: error })) }
    }
  }
  for (const step of profile.steps.bind) {
    const status = await attemptAsync(cycle, step, 'Bind', async () => step.plugin.bind?.(pod, node))
    if (status?.code !== 'Skip') return status && { plugin: step.name, status }
  }
  return { plugin: '', status: failed(new Error('no plug-in binds the pod')) }
}

function runPostBind({ cycle, node }: Placement): void {
  const began = performance.now()
  for (const step of cycle.profile.steps.postBind) step.plugin.postBind?.(cycle.stateOf(step), cycle.pod, node)
  cycle.profile.meter.observePoint('PostBind', 'Success', began)
}

/** Calls a plug-in; converts exceptions to a status. */
function attempt(cycle: PodCycle, step: Step, point: MeteredPoint, work: () => Status | undefined): Status | undefined {
  const began = performance.now()
  let status: Status | undefined
  try {
    status = named(work(), step, point)
  } catch (error) {
    status = failure(step, point, error)
  }
  if (cycle.isTimed) cycle.profile.meter.observePlugin(step.name, point, outcomeOf(status), began)
  return status
}

/** The same for asynchronous plug-in calls. */
async function attemptAsync(
  cycle: PodCycle,
  step: Step,
  point: MeteredPoint,
  work: () => Promise<Status | undefined>,
): Promise<Status | undefined> {
  const began = performance.now()
  const status = await work().then(
    (answer) => named(answer, step, point),
    (error: unknown) => failure(step, point, error),
  )
  if (cycle.isTimed) cycle.profile.meter.observePlugin(step.name, point, outcomeOf(status), began)
  return status
}

/** Adds the names of plug-in and point to errors, thrown or returned. */
const named = (status: Status | undefined, step: Step, point: MeteredPoint): Status | undefined =>
  status?.code === 'Error' ? failure(step, point, failureOf(status)) : status

const failure = ({ name }: Step, point: MeteredPoint, error: unknown): Status =>
  failed(new Error(`running ${point} plugin ${JSON.stringify(name)}: ${reasonOf(error)}`, { cause: error }))
