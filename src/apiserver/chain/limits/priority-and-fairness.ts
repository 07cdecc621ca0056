/**
 * Priority and fairness: a request executes if its priority level has free seats, or waits in a queue, or is rejected
 * with 429. If there are free seats, it does not wait. Long-running requests are not counted; watches are until they
 * are initialised.
 */
import { after } from '../../../lib/flow/after.ts'
import { settle } from '../../../lib/flow/settle.ts'
import type { AdmittedRequest } from '../../flow-control/admitted-request.ts'
import type { FlowControl, FlowUids } from '../../flow-control/index.ts'
import type { Handler, Request, Response } from '../../http/exchange.ts'
import { addWaitedMs } from '../../request-info/waited-time.ts'
import type { Filter, WrappingFilter } from '../filter.ts'
import { isLongRunning } from '../lifetime/long-running.ts'
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import { tooManyRequests } from './too-many-requests.ts'

type Terminations = Pick<RequestMetrics, 'terminated'>

const uids = new WeakMap<Request, FlowUids>()

/** Names the FlowSchema and the priority level of a request in the headers of each response, errors included. */
export const priorityAndFairnessHeaders = (): Filter => ({
  answered(request, response) {
    const flow = uids.get(request)
    if (flow) {
      response.headers['x-kubernetes-pf-flowschema-uid'] = flow.schema
      response.headers['x-kubernetes-pf-prioritylevel-uid'] = flow.level
    }
    return response
  },
})

export const priorityAndFairness =
  (control: FlowControl, metrics: Terminations): WrappingFilter =>
  (request, next) => {
    const isWatch = request.info.verb === 'watch'
    if (!isWatch && isLongRunning(request.info)) return next(request)
    const admitted = control.admit(request)
    uids.set(request, admitted.flows.uids)
    if (admitted.state === 'execute') return execute(control, admitted, request, next)
    if (admitted.state !== 'wait') return after(control.rejections.delay(), () => refusal(admitted, metrics))
    const started = performance.now()
    return control.wait(admitted).then((decision) => {
      addWaitedMs(request, performance.now() - started)
      return decision === 'execute' ? execute(control, admitted, request, next) : refusal(admitted, metrics)
    })
  }

const refusal = ({ flows, request }: AdmittedRequest, metrics: Terminations): Response =>
  tooManyRequests(request, metrics, flows.level.retryAfter.seconds)

function execute(
  control: FlowControl,
  admitted: AdmittedRequest,
  request: Request,
  next: Handler,
): ReturnType<Handler> {
  if (request.info.verb === 'watch') return watch(control, admitted, request, next)
  return settle(
    () => next(request),
    (response) => {
      control.finish(admitted)
      return response
    },
    (error) => {
      control.finish(admitted)
      throw error
    },
  )
}

/**
 * Executes a watch. It occupies its seats until it has sent the initial state, or its client has disconnected. It
 * counts as a watch as long as it lasts.
 */
async function watch(
  control: FlowControl,
  admitted: AdmittedRequest,
  request: Request,
  next: Handler,
): Promise<Response> {
  const forget = control.watches.add(request.info)
  let executing = true
  const finish = (): void => {
    if (!executing) return
    executing = false
    control.finish(admitted)
  }
  const end = (): void => {
    finish()
    forget()
  }
  let response: Response | undefined
  try {
    response = await next(request)
  } finally {
    if (typeof response?.body !== 'function') end()
    else request.onClose(end)
  }
  if (response.initialised) response.initialised.then(finish, finish)
  else finish()
  return response
}
