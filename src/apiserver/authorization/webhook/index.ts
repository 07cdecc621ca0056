/**
 * Webhook: a server of somebody else decides, asked with SubjectAccessReviews over HTTPS. Its answers are kept for some
 * time; while it is out of order, the failure policy decides.
 */
import type { Connection } from '../../../kubeconfig/connection.ts'
import type { ServiceSources } from '../../outgoing/index.ts'
import { AnswerCache, connectionClient, type ReviewVersion, withRetries } from '../../outgoing/webhooks/index.ts'
import { type AccessAttributes, type Authorizer, allow, type Decision, deny, noOpinion } from '../authorizer.ts'
import type { EvaluationResult, WebhookMetrics } from './metrics.ts'
import { type ReviewSpec, type ReviewStatus, reviewBody, reviewSpec, reviewStatus } from './review.ts'

/** Which requests it is asked about; the error of a condition that cannot be evaluated is told as such. */
export type Matcher = (spec: ReviewSpec) => boolean | { readonly error: string }

export interface WebhookAuthorizerOptions {
  /** As metrics tell it. */
  readonly name: string
  readonly connection: Connection
  readonly version: ReviewVersion
  /** How long answers hold, ms; 0: they are not kept. */
  readonly authorizedMs: number
  readonly unauthorizedMs: number
  /** How long a call may take, ms. */
  readonly timeoutMs: number
  /** What an outage means. */
  readonly failurePolicy: 'NoOpinion' | 'Deny'
  readonly matches?: Matcher
  readonly sources: ServiceSources
  readonly metrics: WebhookMetrics
  readonly log: (line: string) => void
  /** The first pause before a call is repeated, ms; 500 unless said. */
  readonly backoffMs?: number
}

export interface WebhookAuthorizer extends Authorizer {
  /** Another one has taken its place: it keeps no connections any more. Questions under way are answered. */
  retire(): void
  stop(): void
}

/** More answers are not kept. */
const mostAnswers = 8192
/** Questions whose parts that the client chooses are longer are not kept: they could fill memory. Characters. */
const longestKept = 10_000
const mostBytes = 1024 * 1024

export function webhookAuthorizer(options: WebhookAuthorizerOptions): WebhookAuthorizer {
  const { name, version, authorizedMs, unauthorizedMs, failurePolicy, matches, metrics, log } = options
  const cache = new AnswerCache<ReviewStatus>(mostAnswers)
  const stopping = new AbortController()
  const client = connectionClient(options.connection, {
    sources: options.sources,
    timeoutMs: options.timeoutMs,
    mostBytes,
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
      const kept = cache.get(key)
      return kept ? decision(kept) : ask(spec, key, attributes)
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

  async function ask(spec: ReviewSpec, key: string, attributes: AccessAttributes): Promise<Decision> {
    try {
      const status = await answered(reviewBody(version, spec))
      if (chosenLength(attributes) < longestKept) cache.set(key, status, status.allowed ? authorizedMs : unauthorizedMs)
      return decision(status)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      log(`Failed to make webhook authorizer request: ${message}`)
      if (failurePolicy === 'NoOpinion') metrics.failedOpen(name, resultOf(error))
      return failed(message)
    }
  }

  /** Asks, and asks again if the webhook is only out of breath. */
  function answered(body: Buffer): Promise<ReviewStatus> {
    return withRetries(
      async () => {
        const begun = performance.now()
        const told = (result: EvaluationResult): void =>
          metrics.evaluated(name, result, (performance.now() - begun) / 1000)
        try {
          const status = reviewStatus(version, await client.post(body))
          told('success')
          return status
        } catch (error) {
          told(resultOf(error))
          throw error
        }
      },
      { signal: stopping.signal, ...(options.backoffMs !== undefined && { backoffMs: options.backoffMs }) },
    )
  }
}

const resultOf = (error: unknown): EvaluationResult =>
  error instanceof Error && error.message.endsWith('context deadline exceeded') ? 'timeout' : 'error'

/** What is not only allowed is no lie of the client's; what is both is refused. */
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
