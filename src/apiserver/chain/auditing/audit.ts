/** Audits requests: the user, the request and its result. Comes after authentication, so that the user is known. */
import { after } from '../../../lib/flow/after.ts'
import { settle } from '../../../lib/flow/settle.ts'
import { goJson } from '../../../machinery/fields/json.ts'
import type { StatusError } from '../../../machinery/status-error.ts'
import { addEarlyAnnotations } from '../../audit/early-annotations.ts'
import { type AuditEvent, type Auditing, answerJson } from '../../audit/index.ts'
import { type Handler, type Request, type Response, text } from '../../http/exchange.ts'
import type { WrappingFilter } from '../filter.ts'
import { isLongRunning } from '../lifetime/long-running.ts'

/** Returns the StatusError of an expected error; undefined for unexpected ones. */
export type ExpectedErrors = (error: unknown) => StatusError | undefined

export const audit =
  (auditing: Auditing, expected: ExpectedErrors): WrappingFilter =>
  (request, next) => {
    const event = auditing.begin(request, request.auditId)
    if (!event) return next(request)
    addEarlyAnnotations(event)
    request.audit = event
    return after(auditing.stage(event, 'RequestReceived'), (stored) => {
      if (stored) return audited(auditing, expected, event, request, next)
      auditing.refused()
      return text(500, `Internal Server Error: ${JSON.stringify(uriOf(request))}: failed to store audit event\n`)
    })
  }

const uriOf = ({ path, rawQuery }: Request): string => (rawQuery ? `${path}?${rawQuery}` : path)

function audited(
  auditing: Auditing,
  expected: ExpectedErrors,
  event: AuditEvent,
  request: Request,
  next: Handler,
): ReturnType<Handler> {
  const long = isLongRunning(request.info)
  return settle(
    () => next(request),
    (response) => answered(auditing, event, response, long),
    (error) =>
      after(threw(auditing, event, error, expected(error), long), () => {
        throw error
      }),
  )
}

/** Resolves when the event of a thrown error, a StatusError or a panic, is stored as far as requests wait for that. */
function threw(
  auditing: Auditing,
  event: AuditEvent,
  error: unknown,
  refusal: StatusError | undefined,
  long: boolean,
): boolean | Promise<boolean> {
  if (refusal) {
    recordRejection(event, refusal)
    return completed(auditing, event, long)
  }
  event.code = 500
  event.status = {
    status: 'Failure',
    message: `APIServer panic'd: ${error instanceof Error ? error.message : String(error)}`,
    reason: 'InternalError',
  }
  return auditing.stage(event, 'Panic')
}

/** The last stages of a request whose response is complete. */
const completed = (auditing: Auditing, event: AuditEvent, long: boolean): boolean | Promise<boolean> =>
  long
    ? after(auditing.stage(event, 'ResponseStarted'), () => auditing.stage(event, 'ResponseComplete'))
    : auditing.stage(event, 'ResponseComplete')

function recordRejection(event: AuditEvent, { status, code }: StatusError): void {
  event.status = status
  event.code = code
  if (event.config.includesResponse) event.responseObject = goJson(status)
}

function answered(
  auditing: Auditing,
  event: AuditEvent,
  response: Response,
  long: boolean,
): Response | Promise<Response> {
  event.code = response.status
  const { body, takeOver } = response
  if (takeOver) {
    return {
      ...response,
      takeOver(socket, head) {
        socket.once('close', () => void auditing.stage(event, 'ResponseComplete'))
        void auditing.stage(event, 'ResponseStarted')
        takeOver(socket, head)
      },
    }
  }
  if (typeof body === 'function') {
    const streamed: Response = {
      ...response,
      body(sink) {
        sink.onClose(() => void auditing.stage(event, 'ResponseComplete'))
        body(sink)
      },
    }
    return long ? after(auditing.stage(event, 'ResponseStarted'), () => streamed) : streamed
  }
  const shown = recordBody(event, response)
  return after(completed(auditing, event, long), () => shown)
}

/** Records the response's body: a Status, and at the highest level all of it. */
function recordBody(event: AuditEvent, response: Response): Response {
  event.status = response.outcome
  // Paths outside of the API return no objects.
  if (!event.config.includesResponse || !event.request.info.prefix) return response
  const { json, response: shown } = answerJson(response, event.config.omitManagedFields)
  if (json) event.responseObject = json
  return shown
}

/** Audits requests that are rejected before their user is known, because of wrong credentials or an invalid timeout. */
export const earlyRejectionAudit =
  (auditing: Auditing, expected: ExpectedErrors): WrappingFilter =>
  (request, next) => {
    const refused = async (error: unknown): Promise<never> => {
      const refusal = request.user || request.audit ? undefined : expected(error)
      const event = refusal && auditing.begin(request, request.auditId)
      if (refusal && event) {
        addEarlyAnnotations(event)
        recordRejection(event, refusal)
        await auditing.stage(event, 'ResponseStarted')
      }
      throw error
    }
    try {
      const answer = next(request)
      // Most credentials are checked synchronously: later errors are not about them then.
      return request.user || !(answer instanceof Promise) ? answer : answer.catch(refused)
    } catch (error) {
      if (request.user) throw error
      return refused(error)
    }
  }
