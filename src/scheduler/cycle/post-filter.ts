/** Runs PostFilter for a pod that fits nowhere: the first plug-in with a result wins. */
import type { PostFilterResult } from '../framework/cycle.ts'
import type { Rejection } from '../framework/status.ts'
import { outcomeOf } from '../metrics/plugin-metrics.ts'
import type { PodCycle } from './pod-cycle.ts'

type Answer = PostFilterResult | Promise<PostFilterResult>

/** Clears the nomination if no plug-in has a result. Throws or rejects with the error of a plug-in. */
export function postFilter(cycle: PodCycle, rejections: ReadonlyMap<string, Rejection>): Answer {
  const began = performance.now()
  const { meter } = cycle.profile
  return then(runFrom(0, cycle, rejections, {}), (result) => {
    cycle.countFilters()
    meter.observePoint('PostFilter', outcomeOf(result.status), began)
    return result
  })
}

function runFrom(
  at: number,
  cycle: PodCycle,
  rejections: ReadonlyMap<string, Rejection>,
  before: PostFilterResult,
): Answer {
  const step = cycle.profile.steps.postFilter[at]
  if (!step) return before
  const began = performance.now()
  return then(step.plugin.postFilter!(cycle, rejections), (result) => {
    if (cycle.isTimed) cycle.profile.meter.observePlugin(step.name, 'PostFilter', outcomeOf(result.status), began)
    if (!result.status) return result
    // An error, or a result that excludes preemption, ends the loop.
    if (result.status.code !== 'Unschedulable') return result
    const reasons = [...(before.status?.reasons ?? []), ...result.status.reasons]
    return runFrom(at + 1, cycle, rejections, {
      status: { ...result.status, reasons },
      nominatedNode: result.nominatedNode ?? before.nominatedNode,
    })
  })
}

const then = (answer: Answer, next: (result: PostFilterResult) => Answer): Answer =>
  answer instanceof Promise ? answer.then(next) : next(answer)
