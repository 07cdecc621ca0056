/** The kubelet's own metrics, with upstream's names, labels and bounds. One object for a kubelet. */
import { defaultBuckets, exponentialBuckets } from '../../lib/metrics/buckets.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

const startBuckets = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
]
const pullBuckets = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600]

export type KubeletMetrics = ReturnType<typeof kubeletMetrics>

/** Registers all families. Durations are observed in seconds. */
export function kubeletMetrics(metrics: MetricsRegistry) {
  return {
    ...podMetrics(metrics),
    ...runtimeMetrics(metrics),
    ...mappedPodMetrics(metrics),
    ...imageMetrics(metrics),
    ...lossMetrics(metrics),
  }
}

function podMetrics(metrics: MetricsRegistry) {
  const sinceCreation = 'measured from pod creation timestamp to when all its containers are reported as started'
  return {
    containersPerPod: metrics.histogram(
      'kubelet_containers_per_pod_count',
      'The number of containers per pod.',
      exponentialBuckets(1, 2, 5),
    )([]),
    /** By `create`, `update` or `sync`. */
    workerDuration: metrics.histogram(
      'kubelet_pod_worker_duration_seconds',
      'Duration in seconds to sync a single pod. Broken down by operation type: create, update, or sync',
      defaultBuckets,
      ['operation_type'],
    ),
    statusSync: metrics.histogram(
      'kubelet_pod_status_sync_duration_seconds',
      'Duration in seconds to sync a pod status update. Measures time from detection of a change to pod status until ' +
        'the API is successfully updated for that pod, even if multiple intevening changes to pod status occur.',
      [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60],
    )([]),
    workerStart: metrics.histogram(
      'kubelet_pod_worker_start_duration_seconds',
      'Duration in seconds from kubelet seeing a pod to starting a worker.',
      defaultBuckets,
    )([]),
    podStart: metrics.histogram(
      'kubelet_pod_start_duration_seconds',
      'Duration in seconds from kubelet seeing a pod for the first time to the pod starting to run',
      startBuckets,
    )([]),
    podStartTotal: metrics.histogram(
      'kubelet_pod_start_total_duration_seconds',
      'Duration in seconds to start a pod since creation, including time to pull images and run init containers, ' +
        `${sinceCreation} and observed via watch`,
      startBuckets,
    )([]),
    podStartWithoutPulls: metrics.histogram(
      'kubelet_pod_start_sli_duration_seconds',
      'Duration in seconds to start a pod, excluding time to pull images and run init containers, ' +
        `${sinceCreation} and observed via watch`,
      startBuckets,
    )([]),
    /** By `container`, `init_container` or `ephemeral_container`. */
    startedContainers: metrics.counter('kubelet_started_containers_total', 'Cumulative number of containers started', [
      'container_type',
    ]),
    startedContainersErrors: metrics.counter(
      'kubelet_started_containers_errors_total',
      'Cumulative number of errors when starting containers',
      ['container_type', 'code'],
    ),
    httpFallbacks: metrics.counter(
      'kubelet_lifecycle_handler_http_fallbacks_total',
      'The number of times lifecycle handlers successfully fell back to http from https.',
    )([]),
  }
}

/** Pods with users of their own. */
function mappedPodMetrics(metrics: MetricsRegistry) {
  return {
    startedMappedPods: metrics.counter(
      'kubelet_started_user_namespaced_pods_total',
      'Cumulative number of pods with user namespaces started. This metric will only be collected on Linux.',
    )([]),
    startedMappedPodsErrors: metrics.counter(
      'kubelet_started_user_namespaced_pods_errors_total',
      'Cumulative number of errors when starting pods with user namespaces. ' +
        'This metric will only be collected on Linux.',
    )([]),
  }
}

function runtimeMetrics(metrics: MetricsRegistry) {
  return {
    operations: metrics.counter(
      'kubelet_runtime_operations_total',
      'Cumulative number of runtime operations by operation type.',
      ['operation_type'],
    ),
    operationDuration: metrics.histogram(
      'kubelet_runtime_operations_duration_seconds',
      'Duration in seconds of runtime operations. Broken down by operation type.',
      exponentialBuckets(0.005, 2.5, 14),
      ['operation_type'],
    ),
    operationErrors: metrics.counter(
      'kubelet_runtime_operations_errors_total',
      'Cumulative number of runtime operation errors by operation type.',
      ['operation_type'],
    ),
    sandboxDuration: metrics.histogram(
      'kubelet_run_podsandbox_duration_seconds',
      'Duration in seconds of the run_podsandbox operations. Broken down by RuntimeClass.Handler.',
      defaultBuckets,
      ['runtime_handler'],
    ),
    sandboxErrors: metrics.counter(
      'kubelet_run_podsandbox_errors_total',
      'Cumulative number of the run_podsandbox operation errors by RuntimeClass.Handler.',
      ['runtime_handler'],
    ),
    startedPods: metrics.counter('kubelet_started_pods_total', 'Cumulative number of pods started')([]),
    startedPodsErrors: metrics.counter(
      'kubelet_started_pods_errors_total',
      'Cumulative number of errors when starting pods',
    )([]),
    relistDuration: metrics.histogram(
      'kubelet_pleg_relist_duration_seconds',
      'Duration in seconds for relisting pods in PLEG.',
      defaultBuckets,
    )([]),
    relistInterval: metrics.histogram(
      'kubelet_pleg_relist_interval_seconds',
      'Interval in seconds between relisting in PLEG.',
      defaultBuckets,
    )([]),
    eventConnections: metrics.counter(
      'kubelet_evented_pleg_connection_success_count',
      'The number of times a streaming client was obtained to receive CRI Events.',
    )([]),
    eventConnectionErrors: metrics.counter(
      'kubelet_evented_pleg_connection_error_count',
      'The number of errors encountered during the establishment of streaming connection with the CRI runtime.',
    )([]),
  }
}

function imageMetrics(metrics: MetricsRegistry) {
  return {
    /** By the group of sizes. */
    imagePull: metrics.histogram(
      'kubelet_image_pull_duration_seconds',
      'Duration in seconds to pull an image.',
      pullBuckets,
      ['image_size_in_bytes'],
    ),
    /** By `age` or `space`. */
    imagesRemoved: metrics.counter(
      'kubelet_image_garbage_collected_total',
      'Total number of images garbage collected by the kubelet, whether through disk usage or image age.',
      ['reason'],
    ),
  }
}

/** Pods that the node ends itself. */
function lossMetrics(metrics: MetricsRegistry) {
  return {
    evictions: metrics.counter('kubelet_evictions', 'Cumulative number of pod evictions by eviction signal', [
      'eviction_signal',
    ]),
    evictionStatsAge: metrics.histogram(
      'kubelet_eviction_stats_age_seconds',
      'Time between when stats are collected, and when pod is evicted based on those stats by eviction signal',
      defaultBuckets,
      ['eviction_signal'],
    ),
    preemptions: metrics.counter('kubelet_preemptions', 'Cumulative number of pod preemptions by preemption resource', [
      'preemption_signal',
    ]),
  }
}

const mega = 1024 ** 2
const giga = 1024 ** 3
/** Lower bounds in bytes. */
const imageSizes: readonly (readonly [from: number, label: string])[] = [
  [100 * giga, 'GT100GB'],
  [60 * giga, '60GB-100GB'],
  [40 * giga, '40GB-60GB'],
  [30 * giga, '30GB-40GB'],
  [20 * giga, '20GB-30GB'],
  [10 * giga, '10GB-20GB'],
  [5 * giga, '5GB-10GB'],
  [giga, '1GB-5GB'],
  [500 * mega, '500MB-1GB'],
  [100 * mega, '100MB-500MB'],
  [10 * mega, '10MB-100MB'],
  [0, '0-10MB'],
]

/** The group of an image's size in bytes; 0 is unknown. */
export const imageSizeGroup = (bytes: number): string => imageSizes.find(([from]) => bytes > from)?.[1] ?? 'N/A'
