/** The metrics of the kubelet, and how much it logs. */
import { Verbosity } from '../../lib/log/verbosity.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { processMetrics } from '../../lib/process/process-metrics.ts'
import { kubeletMetrics } from '../metrics/kubelet-metrics.ts'
import { component } from './parts.ts'

export const metrics = component({
  name: 'metrics',
  needs: ['options', 'node'],
  gives: ['registry', 'metrics', 'verbosity'],
  start({ options, node }) {
    const registry = options.metrics ?? new MetricsRegistry()
    processMetrics(registry)
    registry.gauge('kubelet_node_name', "The node's name. The count is always 1.", ['node'], () => [[[node.name], 1]])
    return {
      registry,
      metrics: kubeletMetrics(registry),
      verbosity: options.verbosity ?? new Verbosity(options.configuration.logging.verbosity ?? 0, options.log),
    }
  },
})
