/**
 * Webhook: an external server decides on SubjectAccessReviews over HTTPS. Its answers are cached. While it fails, the
 * failure policy decides.
 */
import type { Connection } from '../../../kubeconfig/connection.ts'
import type { ServiceSources } from '../../outgoing/index.ts'
import { AnswerCache, connectionClient, type ReviewVersion, withRetries } from '../../outgoing/webhooks/index.ts'
import { type AccessAttributes, type Authorizer, allow, type Decision, deny, noOpinion } from '../authorizer.ts'
import type { EvaluationResult, WebhookMetrics } from './metrics.ts'
import { type ReviewSpec, type ReviewStatus, reviewBody, reviewSpec, reviewStatus } from './review.ts'

/** Returns true for requests that the webhook decides on, or the error of a condition. */
export type Matcher = (spec: ReviewSpec) => boolean | { readonly error: string }

export interface WebhookAuthorizerOptions {
  /** The label in metrics. */
  readonly name: string
  readonly connection: Connection
  readonly version: ReviewVersion
  /** The time in ms that answers are cached. 0 disables the cache. */
  readonly authorizedMs: number
  readonly unauthorizedMs: number
  /** The timeout of a call, in ms. */
  readonly timeoutMs: number
  /** The decision while the webhook fails. */
  readonly failurePolicy: 'NoOpinion' | 'Deny'
  readonly matches?: Matcher
  readonly sources: ServiceSources
  readonly metrics: WebhookMetrics
  readonly log: (line: string) => void
  /** The delay before the first retry, in ms. Default: 500. */
  readonly backoffMs?: number
}

export interface WebhookAuthorizer extends Authorizer {
  /** Call when another authorizer replaces it: closes idle connections. Pending requests are completed. */
  retire(): void
  stop(): void
}

/** The maximum number of cached answers. */
const maxCachedAnswers = 8192
/** Requests whose client-chosen attributes are longer, in characters, are not cached: they could fill memory. */
const maxCachedLength = 10_000
const maxBytes = 1024 * 1024

export function webhookAuthorizer(options: WebhookAuthorizerOptions): WebhookAuthorizer {
  const { name, version, authorizedMs, unauthorizedMs, failurePolicy, matches, metrics, log } = options
  const cache = new AnswerCache<ReviewStatus>(maxCachedAnswers)
  const stopping = new AbortController()
  const client = connectionClient(options.connection, {
    sources: options.sources,
    timeoutMs: options.timeoutMs,
    maxBytes,
  })
  const failed = (error: string): Decision => ({
    ...(failurePolicy === 'Deny' ? deny() : noOpinion()),
    evaluationError: error,
  })

  return {
    name: 'Webhook',
    authorize(attributes) {
      const spec = reviewSpec(attributes)
      if (matches) {
        const matched = match(matches, spec)
        if (matched === false) return noOpinion()
        if (matched !== true) return failed(matched.error)
      }
      const key = JSON.stringify(spec)
      const cached = cache.get(key)
      return cached ? decision(cached) : callWebhook(spec, key, attributes)
    },
    rulesFor: () => ({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      evaluationError: 'webhook authorizer does not support user rule resolution',
    }),
    retire: () => client.retire(),
    stop() {
      stopping.abort()
      client.stop()
    },
  }

  function match(conditions: Matcher, spec: ReviewSpec): boolean | { readonly error: string } {
    const started = performance.now()
    const matched = conditions(spec)
    metrics.matched(name, (performance.now() - started) / 1000)
    if (matched === false) metrics.excluded(name)
    else if (matched !== true) metrics.matchFailed(name)
    return matched
  }

  async function callWebhook(spec: ReviewSpec, key: string, attributes: AccessAttributes): Promise<Decision> {
    try {
      const status = await postReview(reviewBody(version, spec))
      if (chosenLength(attributes) < maxCachedLength)
        cache.set(key, status, status.allowed ? authorizedMs : unauthorizedMs)
      return decision(status)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      log(`Failed to make webhook authorizer request: ${message}`)
      if (failurePolicy === 'NoOpinion') metrics.failedOpen(name, resultOf(error))
      return failed(message)
    }
  }

  /** Calls the webhook, with retries of temporary errors. */
  function postReview(body: Buffer): Promise<ReviewStatus> {
    return withRetries(
      async () => {
        const begun = performance.now()
        const observe = (result: EvaluationResult): void =>
          metrics.evaluated(name, result, (performance.now() - begun) / 1000)
        try {
          const status = reviewStatus(version, await client.post(body))
          observe('success')
          return status
        } catch (error) {
          observe(resultOf(error))
          throw error
        }
      },
      { signal: stopping.signal, ...(options.backoffMs !== undefined && { backoffMs: options.backoffMs }) },
    )
  }
}

const resultOf = (error: unknown): EvaluationResult =>
  error instanceof Error && error.message.endsWith('context deadline exceeded') ? 'timeout' : 'error'

/** Both allowed and denied counts as denied, with an error. */
function decision({ allowed, denied, reason }: ReviewStatus): Decision {
  if (denied && allowed)
    return { ...deny(reason), evaluationError: 'webhook subject access review returned both allow and deny response' }
  return denied ? deny(reason) : allowed ? allow(reason) : noOpinion(reason)
}

const chosenLength = ({ info }: AccessAttributes): number =>
  info.namespace.length +
  info.verb.length +
  info.group.length +
  info.version.length +
  info.resource.length +
  info.subresource.length +
  info.name.length +
  info.path.length
