/**
 * Auditing: which requests leave an event, by the policy, and where events go. Without a policy file or a backend there
 * is none of it. kubernetes.io/docs/tasks/debug/debug-cluster/audit
 */

import { goDuration } from '../../lib/go/go-duration.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Request } from '../http/exchange.ts'
import type { AuditBackend, ReportLoss } from './backend.ts'
import { AuditEvent } from './event/audit-event.ts'
import { clockOrigin } from './event/micro-time.ts'
import type { LogBackendOptions } from './log/index.ts'
import { unkeptLines } from './log/unkept-lines.ts'
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

/** Makes events of requests, and hands them on. */
export interface Auditing {
  /** The event of a request, if it leaves one. */
  begin(request: Request, id: string): AuditEvent | undefined
  /** Hands the event as it is now to the backends. False if it could not be kept and the request must not go on. */
  stage(event: AuditEvent, stage: Stage): boolean | Promise<boolean>
  /** Counts a request that was refused because its event could not be kept. */
  refused(): void
}

/** Auditing with a lifetime. */
export interface LiveAuditing extends Auditing {
  /** The same events, which nobody counts or keeps. */
  unkept(): Auditing
  stop(): Promise<void>
}

/** Undefined where nothing is audited. Rejects with an ExplainedError that says what is wrong with a file. */
export async function auditing(
  options: AuditOptions,
  metrics: MetricsRegistry,
  log: (line: string) => void,
): Promise<LiveAuditing | undefined> {
  const counts = countsIn(metrics)
  const { policyFile } = options
  if (!policyFile) return undefined
  // A file that is not right is told, also where nobody would be told of events.
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
    ...handing(evaluate, backends, counts),
    unkept: () => handing(evaluate, [unkeptLines()], countsIn(new MetricsRegistry())),
    stop: async () => void (await Promise.all(backends.map((backend) => backend.stop()))),
  }
}

const countsIn = (metrics: MetricsRegistry) => ({
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

function handing(
  evaluate: PolicyEvaluator,
  backends: readonly AuditBackend[],
  { events, levels, rejected }: ReturnType<typeof countsIn>,
): Auditing {
  const level = leveled(evaluate, (name) => levels([name]))
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

/** Requests that took longer tell how long. */
const slowMs = 500

/** When the stage was reached, ms since 1970. */
function completed(event: AuditEvent, stage: Stage): number {
  const now = performance.now()
  const took = now - event.request.received
  if (took > slowMs && stage === 'ResponseComplete') event.annotate('apiserver.latency.k8s.io/total', goDuration(took))
  return clockOrigin + now
}

/** Counts by level what the policy says. */
function leveled(evaluate: PolicyEvaluator, counter: (level: string) => { add(): void }): PolicyEvaluator {
  const counters = new Map(['None', 'Metadata', 'Request', 'RequestResponse'].map((name) => [name, counter(name)]))
  return (user, info) => {
    const config = evaluate(user, info)
    counters.get(config?.level ?? 'None')!.add()
    return config
  }
}

const reportEveryMs = 10_000

/** Losses come by the thousand: they are summed up, and told now and then. */
function lossReport(log: (line: string) => void): ReportLoss {
  const told = new Map<string, { at: number; events: number }>()
  return (plugin, events, why) => {
    const entry = told.get(plugin) ?? { at: Number.NEGATIVE_INFINITY, events: 0 }
    told.set(plugin, entry)
    entry.events += events
    const now = performance.now()
    if (now - entry.at < reportEveryMs) return
    log(`Error in audit plugin '${plugin}' affecting ${entry.events} audit events: ${why}`)
    entry.at = now
    entry.events = 0
  }
}
