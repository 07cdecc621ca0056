/** Calls one webhook about one request, and says what became of it. */
import { randomUUID } from 'node:crypto'
import type { Log } from '../../../lib/log/log.ts'
import { badRequest, StatusError, statusOf } from '../../../machinery/status-error.ts'
import { reviewVersion, WebhookAnswerError, WebhookClientError } from '../../outgoing/webhooks/index.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import type { VersionedObjects } from '../matching/versions.ts'
import { encodeReview, InvalidAnswer, type ReviewAnswer, readAnswer, type SentStatus } from './admission-review.ts'
import type { ConfiguredWebhook } from './configured-webhooks.ts'
import type { RejectionCause, WebhookMetrics, WebhookType } from './webhook-metrics.ts'

/** The webhook could not be asked, or has not answered in a way that can be used: its failure policy decides. */
export class CallError extends Error {
  /** As metrics tell it. */
  readonly code: number
  constructor(name: string, why: string, code: number) {
    super(`failed calling webhook ${JSON.stringify(name)}: ${why}`)
    this.code = code
  }
}

/** The webhook says no. */
export class Rejection extends Error {
  readonly status: StatusError
  constructor(status: StatusError) {
    super(status.message)
    this.status = status
  }
}

const unavailable = 503
const internalCode = 500

/** So many characters of warnings are taken from one answer. */
const mostWarnings = 4096

/** Asks. Throws a CallError, a Rejection, or a StatusError where the request cannot be sent at all. */
export async function askWebhook(
  { webhook, client }: ConfiguredWebhook,
  attributes: AdmissionAttributes,
  objects: VersionedObjects,
  mutating: boolean,
): Promise<ReviewAnswer> {
  const { name, sideEffects, admissionReviewVersions } = webhook
  if (attributes.dryRun && sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun')
    throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`)
  const uid = randomUUID()
  let answer: ReviewAnswer
  try {
    const version = reviewVersion(
      admissionReviewVersions,
      'webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    )
    answer = readAnswer(
      version,
      uid,
      mutating,
      await client.post(encodeReview(version, uid, attributes, objects), attributes.request),
    )
  } catch (error) {
    throw callError(name, error)
  }
  for (const [key, value] of Object.entries(answer.auditAnnotations)) attributes.annotate(`${name}/${key}`, value)
  let room = mostWarnings
  for (const warning of answer.warnings) {
    room -= warning.length
    if (room >= 0) attributes.warn(warning)
  }
  if (!answer.allowed) throw new Rejection(rejection(name, answer.status))
  return answer
}

function callError(name: string, error: unknown): CallError {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof InvalidAnswer)
    return new CallError(name, `received invalid webhook response: ${message}`, unavailable)
  if (error instanceof WebhookClientError)
    return new CallError(name, `could not get REST client: ${message}`, internalCode)
  return new CallError(
    name,
    `failed to call webhook: ${message}`,
    error instanceof WebhookAnswerError ? error.status : unavailable,
  )
}

const leastCode = 400

/** The webhook's own Status, in so far as it can be one of a refusal. */
function rejection(name: string, { code, reason, message, details }: SentStatus): StatusError {
  const deniedBy = `admission webhook ${JSON.stringify(name)} denied the request`
  const why = message || reason
  const text = typeof why === 'string' && why !== '' ? `${deniedBy}: ${why}` : `${deniedBy} without explanation`
  const known = typeof code === 'number' && Number.isInteger(code) && code >= leastCode && code < 600 ? code : leastCode
  return new StatusError(
    known,
    typeof reason === 'string' && reason !== '' ? reason : undefined,
    text,
    typeof details === 'object' && details !== null
      ? (details as ConstructorParameters<typeof StatusError>[3])
      : undefined,
  )
}

export interface Call {
  readonly hook: ConfiguredWebhook
  readonly attributes: AdmissionAttributes
  readonly type: WebhookType
  readonly metrics: WebhookMetrics
  readonly log: Log
  /** What audit events call it when the webhook fails and is ignored. */
  readonly failedOpen: string
}

/** Notes in the request how long its webhooks took. */
export async function waitedFor({ request }: AdmissionAttributes, calls: Promise<void>): Promise<void> {
  const started = performance.now()
  try {
    await calls
  } finally {
    if (request) request.waitedMs = (request.waitedMs ?? 0) + performance.now() - started
  }
}

/**
 * Does `call`, counts it, and lets those failures pass that the webhook's policy ignores. Throws a StatusError
 * otherwise.
 */
export async function byFailurePolicy<T>(
  { hook, attributes, type, metrics, log, failedOpen }: Call,
  call: () => Promise<T>,
): Promise<T | undefined> {
  const { operation } = attributes
  const { webhook, ignoresFailures } = hook
  const { name } = webhook
  const begin = performance.now()
  const counted = (rejected: boolean, code: number): void =>
    metrics.called({ name, type, operation, rejected, code, seconds: (performance.now() - begin) / 1000 })
  const rejected = (cause: RejectionCause, code: number): void => metrics.rejected(name, type, operation, cause, code)
  try {
    const result = await call()
    counted(false, 200)
    return result
  } catch (error) {
    if (error instanceof CallError) {
      counted(!ignoresFailures, error.code)
      if (!ignoresFailures) {
        rejected('calling_webhook_error', error.code)
        log(`Failed calling webhook, failing closed ${name}: ${error.message}`, 'warning')
        throw statusOf(error)
      }
      log(`Failed calling webhook, failing open ${name}: ${error.message}`, 'warning')
      metrics.failedOpen(name, type)
      attributes.annotate(failedOpen, name)
      return undefined
    }
    if (error instanceof Rejection) {
      counted(true, error.status.code)
      rejected('no_error', error.status.code)
      throw error.status
    }
    counted(true, 0)
    rejected('apiserver_internal_error', 0)
    throw error
  }
}
