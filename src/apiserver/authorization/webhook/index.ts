/**
 * Webhook: an external server decides on SubjectAccessReviews over HTTPS. Its answers are cached. While it fails, the
 * failure policy decides.
 */
import type { Connection } from '../../../kubeconfig/connection.ts'
import type { ServiceSources } from '../../outgoing/index.ts'
import {
  AnswerCache,
  connectionClient,
  type ReviewVersion,
  type WebhookClient,
  withRetries,
} from '../../outgoing/webhooks/index.ts'
import {
  type AccessAttributes,
  type Authorizer,
  allow,
  type Decision,
  deny,
  noOpinion,
  type RuleSet,
} from '../authorizer.ts'
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

/** The maximum number of cached answers. */
const maxCachedAnswers = 8192
/** Requests whose client-chosen attributes are longer, in characters, are not cached: they could fill memory. */
const maxCachedLength = 10_000
const maxBytes = 1024 * 1024

/** The rules are known to the external server only. */
const unlisted: RuleSet = {
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  evaluationError: 'webhook authorizer does not support user rule resolution',
}

export class WebhookAuthorizer implements Authorizer {
  readonly name = 'Webhook'
  readonly #options: WebhookAuthorizerOptions
  readonly #cache = new AnswerCache<ReviewStatus>(maxCachedAnswers)
  readonly #stopping = new AbortController()
  readonly #client: WebhookClient

  constructor(options: WebhookAuthorizerOptions) {
    const { connection, sources, timeoutMs } = options
    this.#options = options
    this.#client = connectionClient(connection, { sources, timeoutMs, maxBytes })
  }

  authorize(attributes: AccessAttributes): Decision | Promise<Decision> {
    const spec = reviewSpec(attributes)
    const { matches } = this.#options
    if (matches) {
      const matched = this.#match(matches, spec)
      if (matched === false) return noOpinion()
      if (matched !== true) return this.#failed(matched.error)
    }
    const key = JSON.stringify(spec)
    const cached = this.#cache.get(key)
    return cached ? decision(cached) : this.#callWebhook(spec, key, attributes)
  }

  rulesFor(): RuleSet {
    return unlisted
  }

  /** Call when another authorizer replaces it: closes idle connections. Pending requests are completed. */
  retire(): void {
    this.#client.retire()
  }

  stop(): void {
    this.#stopping.abort()
    this.#client.stop()
  }

  #match(conditions: Matcher, spec: ReviewSpec): boolean | { readonly error: string } {
    const { name, metrics } = this.#options
    const started = performance.now()
    const matched = conditions(spec)
    metrics.matched(name, (performance.now() - started) / 1000)
    if (matched === false) metrics.excluded(name)
    else if (matched !== true) metrics.matchFailed(name)
    return matched
  }

  async #callWebhook(spec: ReviewSpec, key: string, attributes: AccessAttributes): Promise<Decision> {
    const { name, version, authorizedMs, unauthorizedMs, failurePolicy, metrics, log } = this.#options
    try {
      const status = await this.#postReview(reviewBody(version, spec))
      if (chosenLength(attributes) < maxCachedLength)
        this.#cache.set(key, status, status.allowed ? authorizedMs : unauthorizedMs)
      return decision(status)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      log(`Failed to make webhook authorizer request: ${message}`)
      if (failurePolicy === 'NoOpinion') metrics.failedOpen(name, resultOf(error))
      return this.#failed(message)
    }
  }

  /** Calls the webhook, with retries of temporary errors. */
  #postReview(body: Buffer): Promise<ReviewStatus> {
    const { backoffMs } = this.#options
    return withRetries(() => this.#post(body), {
      signal: this.#stopping.signal,
      ...(backoffMs !== undefined && { backoffMs }),
    })
  }

  async #post(body: Buffer): Promise<ReviewStatus> {
    const { name, version, metrics } = this.#options
    const begun = performance.now()
    const observe = (result: EvaluationResult): void =>
      metrics.evaluated(name, result, (performance.now() - begun) / 1000)
    try {
      const status = reviewStatus(version, await this.#client.post(body))
      observe('success')
      return status
    } catch (error) {
      observe(resultOf(error))
      throw error
    }
  }

  #failed(error: string): Decision {
    return { ...(this.#options.failurePolicy === 'Deny' ? deny() : noOpinion()), evaluationError: error }
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
