/**
 * `/debug/clock`: GET shows the clock of the cluster; POST to `pause`, `resume`, `speed` and `step` below it moves it.
 * Needs a right to these paths, which only administrators have.
 */
import { badRequest, methodNotAllowed, StatusError } from '../../machinery/status-error.ts'
import { json, pageNotFound, type Request, type Response } from '../http/exchange.ts'
import { decodeBody, type Fields } from '../request/bodies/decode-fields.ts'
import { type ClockControl, type ClockState, clockPath, maxSpeed, maxStepMs } from './clock-control.ts'

/** The clock of a cluster without control: `reason` says why it cannot be moved. */
export interface FixedClock {
  readonly reason: string
  state(): ClockState
}

const noFields: Fields = {}

/** Answers the paths of the clock; undefined for other paths. */
export function clockEndpoints(clock: ClockControl | FixedClock): (request: Request) => Promise<Response> | undefined {
  return (request) =>
    request.path === clockPath || request.path.startsWith(`${clockPath}/`) ? respond(clock, request) : undefined
}

async function respond(clock: ClockControl | FixedClock, request: Request): Promise<Response> {
  const action = request.path.slice(clockPath.length + 1)
  if (action === '') {
    if (request.method !== 'GET') throw methodNotAllowed()
    return json(200, clock.state())
  }
  if (!['pause', 'resume', 'speed', 'step'].includes(action)) return pageNotFound()
  if (request.method !== 'POST') throw methodNotAllowed()
  if ('reason' in clock)
    throw new StatusError(409, 'Conflict', `the clock of this cluster cannot be moved: ${clock.reason}`)
  return json(200, await moved(clock, action, request))
}

async function moved(clock: ClockControl, action: string, request: Request): Promise<ClockState> {
  if (action === 'speed') {
    const { speed } = await decodeBody<{ speed?: number }>(request, { speed: 'number' })
    if (speed === undefined || !(speed > 0 && speed <= maxSpeed))
      throw badRequest(`speed must be a number above 0 and up to ${maxSpeed}; pause stops the clock.`)
    return clock.setSpeed(speed)
  }
  if (action === 'step') {
    const { ms } = await decodeBody<{ ms?: number }>(request, { ms: 'number' })
    if (ms === undefined || !(ms >= 0 && ms <= maxStepMs))
      throw badRequest(`ms must be the length of the step in milliseconds, from 0 to ${maxStepMs}.`)
    return clock.step(ms)
  }
  await decodeBody(request, noFields)
  return clock.setSpeed(action === 'pause' ? 0 : 1)
}
