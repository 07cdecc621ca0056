/** Metrics of the process, and the audit log. */
import { defaultFeatures } from '../../api/features/feature-gates.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { processMetrics } from '../../lib/process/process-metrics.ts'
import { unhandledErrors } from '../../lib/process/unhandled-errors.ts'
import { auditing } from '../audit/index.ts'
import { featureMetrics } from '../feature-gates/feature-metrics.ts'
import { versionInfo } from '../version/version.ts'
import { versionMetrics } from '../version/version-metrics.ts'
import { component } from './component.ts'

export const metrics = component({
  name: 'metrics',
  needs: ['options'],
  gives: ['metrics'],
  start({ options }) {
    const metrics = new MetricsRegistry()
    metrics.externalCounter(
      'apiserver_unhandled_errors_total',
      'Errors that no code of this process handled: each is logged with its stack.',
      [],
      () => [[[], unhandledErrors()]],
    )
    processMetrics(metrics)
    versionMetrics(metrics, versionInfo(options.release ?? '0.0.0'))
    featureMetrics(metrics, options.features ?? defaultFeatures)
    return { metrics }
  },
})

export const auditLog = component({
  name: 'audit log',
  needs: ['options', 'metrics', 'log'],
  gives: ['audit'],
  async start({ options, metrics, log }, lifetime) {
    const audit = await auditing(options.audit ?? {}, metrics, log)
    lifetime.onEnd(() => audit?.stop())
    return { audit }
  },
})
