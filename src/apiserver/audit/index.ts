/**
 * Auditing: a policy selects the requests that leave events, and backends write them. Disabled without a policy file or
 * a backend. kubernetes.io/docs/tasks/debug/debug-cluster/audit
 */

import { goDuration } from '../../lib/go/go-duration.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Request } from '../http/exchange.ts'
import type { AuditBackend, ReportLoss } from './backend.ts'
import { AuditEvent } from './event/audit-event.ts'
import { clockOrigin } from './event/micro-time.ts'
import { discardedLines } from './log/discarded-lines.ts'
import type { LogBackendOptions } from './log/index.ts'
import { compilePolicy, type PolicyEvaluator, type Stage } from './policy/policy.ts'
import { readPolicyFile } from './policy/policy-file.ts'
import type { WebhookBackendOptions } from './webhook/index.ts'

export { type BatchOptions, type Mode, modes, type TruncateOptions } from './backend.ts'
export type { AuditEvent } from './event/audit-event.ts'
export { answerJson } from './event/logged-object.ts'
export { formats, type LogBackendOptions } from './log/index.ts'
export type { WebhookBackendOptions } from './webhook/index.ts'

export interface AuditOptions {
  readonly policyFile?: string
  readonly log?: LogBackendOptions
  readonly webhook?: WebhookBackendOptions
}

/** Creates the events of requests and passes them to the backends. */
export interface Auditing {
  /** Returns the event of a request; undefined if the policy does not select it. */
  begin(request: Request, id: string): AuditEvent | undefined
  /** Passes the current event to the backends. Returns false if it was lost and the request must fail. */
  stage(event: AuditEvent, stage: Stage): boolean | Promise<boolean>
  /** Counts a request that failed because its event was lost. */
  refused(): void
}

/** Auditing that can be stopped. */
export interface LiveAuditing extends Auditing {
  /** Creates the same events, but neither counts nor writes them. For warm-up. */
  discarding(): Auditing
  stop(): Promise<void>
}

/** Undefined if auditing is disabled. Rejects with an ExplainedError for an invalid file. */
export async function auditing(
  options: AuditOptions,
  metrics: MetricsRegistry,
  log: (line: string) => void,
): Promise<LiveAuditing | undefined> {
  const counts = auditCounters(metrics)
  const { policyFile } = options
  if (!policyFile) return undefined
  // An invalid file is an error even without a backend.
  const policy = readPolicyFile(policyFile)
  if (!(options.log || options.webhook)) return undefined
  const evaluate = compilePolicy(policy)
  const report = lossReport(log)
  const lost: ReportLoss = (plugin, count, why) => {
    counts.errors([plugin]).add(count)
    report(plugin, count, why)
  }
  const backends: AuditBackend[] = []
  if (options.log) backends.push((await import('./log/index.ts')).logBackend(options.log, lost, log))
  if (options.webhook) backends.push(await (await import('./webhook/index.ts')).webhookBackend(options.webhook, lost))
  return {
    ...auditingWith(evaluate, backends, counts),
    discarding: () => auditingWith(evaluate, [discardedLines()], auditCounters(new MetricsRegistry())),
    stop: async () => void (await Promise.all(backends.map((backend) => backend.stop()))),
  }
}

const auditCounters = (metrics: MetricsRegistry) => ({
  events: metrics.counter(
    'apiserver_audit_event_total',
    'Counter of audit events generated and sent to the audit backend.',
  )([]),
  errors: metrics.counter(
    'apiserver_audit_error_total',
    'Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.',
    ['plugin'],
  ),
  levels: metrics.counter('apiserver_audit_level_total', 'Counter of policy levels for audit events (1 per request).', [
    'level',
  ]),
  rejected: metrics.counter(
    'apiserver_audit_requests_rejected_total',
    'Counter of apiserver requests rejected due to an error in audit logging backend.',
  )([]),
})

function auditingWith(
  evaluate: PolicyEvaluator,
  backends: readonly AuditBackend[],
  { events, levels, rejected }: ReturnType<typeof auditCounters>,
): Auditing {
  const level = withLevelCounter(evaluate, (name) => levels([name]))
  return {
    begin(request, id) {
      const config = level(request.user, request.info)
      return config && new AuditEvent(request, config, id)
    },
    stage(event, stage) {
      if (event.config.omitted.has(stage)) return true
      events.add()
      const staged = { event, stage, ms: stage === 'RequestReceived' ? undefined : completed(event, stage) }
      if (backends.length === 1) return backends[0]!.take(staged)
      const taken = backends.map((backend) => backend.take(staged))
      return taken.every((one) => typeof one === 'boolean')
        ? taken.every(Boolean)
        : Promise.all(taken).then((all) => all.every(Boolean))
    },
    refused: () => rejected.add(),
  }
}

/** Slower requests get an annotation with their duration, in ms. */
const slowMs = 500

/** The time of the stage, ms since 1970. */
function completed(event: AuditEvent, stage: Stage): number {
  const now = performance.now()
  const took = now - event.request.received
  if (took > slowMs && stage === 'ResponseComplete') event.annotate('apiserver.latency.k8s.io/total', goDuration(took))
  return clockOrigin + now
}

/** Counts the levels of the policy's decisions. */
function withLevelCounter(evaluate: PolicyEvaluator, counter: (level: string) => { add(): void }): PolicyEvaluator {
  const counters = new Map(['None', 'Metadata', 'Request', 'RequestResponse'].map((name) => [name, counter(name)]))
  return (user, info) => {
    const config = evaluate(user, info)
    counters.get(config?.level ?? 'None')!.add()
    return config
  }
}

const reportEveryMs = 10_000

/** Losses may come by the thousand: they are summed and logged at most every 10 seconds. */
function lossReport(log: (line: string) => void): ReportLoss {
  const byPlugin = new Map<string, { at: number; events: number }>()
  return (plugin, events, why) => {
    const entry = byPlugin.get(plugin) ?? { at: Number.NEGATIVE_INFINITY, events: 0 }
    byPlugin.set(plugin, entry)
    entry.events += events
    const now = performance.now()
    if (now - entry.at < reportEveryMs) return
    log(`Error in audit plugin '${plugin}' affecting ${entry.events} audit events: ${why}`)
    entry.at = now
    entry.events = 0
  }
}
