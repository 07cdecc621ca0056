/** Calls a webhook for a request and handles its result. */
import { randomUUID } from 'node:crypto'
import type { Log } from '../../../lib/log/log.ts'
import { badRequest, StatusError, statusOf } from '../../../machinery/status-error.ts'
import { reviewVersion, WebhookAnswerError, WebhookClientError } from '../../outgoing/webhooks/index.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { addWaitedMs } from '../../request-info/waited-time.ts'
import type { VersionedObjects } from '../matching/versions.ts'
import { encodeReview, InvalidAnswer, type ReviewAnswer, readAnswer, type SentStatus } from './admission-review.ts'
import type { ConfiguredWebhook } from './configured-webhooks.ts'
import type { RejectionCause, WebhookMetrics, WebhookType } from './webhook-metrics.ts'

/** The call failed or the answer is unusable: the failure policy decides. */
export class CallError extends Error {
  /** The status code in metrics. */
  readonly code: number
  constructor(name: string, why: string, code: number) {
    super(`failed calling webhook ${JSON.stringify(name)}: ${why}`)
    this.code = code
  }
}

/** The webhook denied the request. */
export class Rejection extends Error {
  readonly status: StatusError
  constructor(status: StatusError) {
    super(status.message)
    this.status = status
  }
}

const unavailable = 503
const internalCode = 500

/** The maximum total length of warnings accepted from one answer, in characters. */
const maxWarningCharacters = 4096

/** Calls the webhook. Throws a CallError, a Rejection, or a StatusError if the request cannot be sent at all. */
export async function callWebhook(
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
  let remaining = maxWarningCharacters
  for (const warning of answer.warnings) {
    remaining -= warning.length
    if (remaining >= 0) attributes.warn(warning)
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

const minCode = 400

/** Converts the webhook's Status to an error, as far as its fields are valid. */
function rejection(name: string, { code, reason, message, details }: SentStatus): StatusError {
  const deniedBy = `admission webhook ${JSON.stringify(name)} denied the request`
  const why = message || reason
  const text = typeof why === 'string' && why !== '' ? `${deniedBy}: ${why}` : `${deniedBy} without explanation`
  const known = typeof code === 'number' && Number.isInteger(code) && code >= minCode && code < 600 ? code : minCode
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
  /** The key of the audit annotation for a failed call that is ignored. */
  readonly failedOpen: string
}

/** Adds the duration of the webhook calls to the request's waiting time. */
export async function measureWait({ request }: AdmissionAttributes, calls: Promise<void>): Promise<void> {
  const started = performance.now()
  try {
    await calls
  } finally {
    if (request) addWaitedMs(request, performance.now() - started)
  }
}

/**
 * Runs `call`, counts the result, and ignores failures if the webhook's failure policy is Ignore. Throws a StatusError
 * otherwise.
 */
export async function withFailurePolicy<T>(
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
