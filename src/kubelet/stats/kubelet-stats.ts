/** Usage of the node and its pods as the kubelet serves it. */
import type { ServedStats } from '../server/pages/kubelet-pages.ts'
import { cadvisorMetrics } from './metrics/cadvisor-metrics.ts'
import { resourceMetrics } from './metrics/resource-metrics.ts'
import { summaryOf } from './summary.ts'
import type { UsageCollector } from './usage/usage-collector.ts'

/** Each document is collected when it is requested. */
export const kubeletStats = (collector: Pick<UsageCollector, 'collect' | 'rootUsage'>): ServedStats => ({
  async summary(onlyCpuAndMemory) {
    return summaryOf(await collector.collect(!onlyCpuAndMemory), onlyCpuAndMemory)
  },
  resourceMetrics: async () => resourceMetrics(await collector.collect(false)),
  cadvisorMetrics: async () => cadvisorMetrics(await collector.collect(true), collector.rootUsage()),
})
