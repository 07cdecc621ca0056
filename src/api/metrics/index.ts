/**
 * metrics.k8s.io: usage that is measured when it is requested. It is not among `allResources`, since only servers with
 * kubelets serve it (`apiserver/resource-metrics/`).
 */
import { nodeMetrics } from './node-metrics.ts'
import { podMetrics } from './pod-metrics.ts'

export type { NodeMetrics } from './node-metrics.ts'
export type { PodMetrics } from './pod-metrics.ts'
export type { UsageList } from './usage.ts'

export const metricsResources = [nodeMetrics, podMetrics]
