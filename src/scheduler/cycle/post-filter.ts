/** What is done for a pod that fits nowhere: the first of the plug-ins that has an answer gives it. */
import type { PostFilterResult } from '../framework/cycle.ts'
import type { Refusal } from '../framework/status.ts'
import { outcomeOf } from '../metrics/plugin-metrics.ts'
import type { PodCycle } from './pod-cycle.ts'

type Answer = PostFilterResult | Promise<PostFilterResult>

/** Nominations are taken away where no plug-in has an answer. Throws, or rejects with, what a plug-in throws. */
export function postFilter(cycle: PodCycle, refusals: ReadonlyMap<string, Refusal>): Answer {
  const began = performance.now()
  const { meter } = cycle.profile
  return then(askedFrom(0, cycle, refusals, {}), (result) => {
    cycle.countFilters()
    meter.pointRan('PostFilter', outcomeOf(result.status), began)
    return result
  })
}

function askedFrom(
  at: number,
  cycle: PodCycle,
  refusals: ReadonlyMap<string, Refusal>,
  before: PostFilterResult,
): Answer {
  const step = cycle.profile.steps.postFilter[at]
  if (!step) return before
  const began = performance.now()
  return then(step.plugin.postFilter!(cycle, refusals), (result) => {
    if (cycle.isTimed) cycle.profile.meter.pluginRan(step.name, 'PostFilter', outcomeOf(result.status), began)
    if (!result.status) return result
    // Who could not tell, or knows that nothing will help, has the last word.
    if (result.status.code !== 'Unschedulable') return result
    const reasons = [...(before.status?.reasons ?? []), ...result.status.reasons]
    return askedFrom(at + 1, cycle, refusals, {
      status: { ...result.status, reasons },
      nominatedNode: result.nominatedNode ?? before.nominatedNode,
    })
  })
}

const then = (answer: Answer, next: (result: PostFilterResult) => Answer): Answer =>
  answer instanceof Promise ? answer.then(next) : next(answer)
