/** The usage of nodes and pods (metrics.k8s.io), read from their kubelets when it is requested. */
export { kubeletSamples } from './fetch-sample.ts'
export { NodeSampler } from './node-sampler.ts'
export { ResourceMetrics } from './resource-metrics.ts'
