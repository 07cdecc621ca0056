/**
 * Flow control: who executes when. Its face: what the server starts, what the chain asks, and the pages that tell how
 * it stands.
 */

import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Documents } from '../http/documents.ts'
import type { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { Writer } from '../registry/write/write-context.ts'
import { droppedRequests, FlowControl } from './flow-control.ts'
import { FlowObjects } from './objects/index.ts'
import { dumps } from './reporting/dumps.ts'
import type { CollectionSize } from './work-estimate.ts'

export { FlowControl, isMutating } from './flow-control.ts'

export interface FlowControlOptions {
  /** As `--enable-priority-and-fairness`; on unless said. Where it is off, only numbers are limited. */
  readonly enabled?: boolean
  /** As `--max-requests-inflight`: 400 unless said. */
  readonly maxRequestsInFlight?: number
  /** As `--max-mutating-requests-inflight`: 200 unless said. */
  readonly maxMutatingRequestsInFlight?: number
}

export const defaultMaxRequests = 400
export const defaultMaxMutatingRequests = 200

export interface FlowControlSources {
  readonly registry: Registry
  readonly find: (key: string) => ServedResource
  /** The resource that is served under a name, if there is one. */
  readonly served: (group: string, version: string, plural: string) => ServedResource | undefined
  readonly writer: Writer
  readonly metrics: MetricsRegistry
  readonly requestTimeoutMs: number
  readonly log: (line: string) => void
}

/** Priority and fairness with a lifetime. */
export interface PriorityAndFairness {
  readonly control: FlowControl
  readonly document: Documents
  /** Resolves when the cluster's objects take effect. */
  start(): Promise<void>
  stop(): void
}

/** Undefined where it is off. */
export function priorityAndFairnessOf(
  options: FlowControlOptions,
  sources: FlowControlSources,
): PriorityAndFairness | undefined {
  const {
    enabled = true,
    maxRequestsInFlight = defaultMaxRequests,
    maxMutatingRequestsInFlight = defaultMaxMutatingRequests,
  } = options
  if (!enabled) return undefined
  const { metrics, requestTimeoutMs } = sources
  const control = new FlowControl({
    seats: maxRequestsInFlight + maxMutatingRequestsInFlight,
    requestTimeoutMs,
    size: sizeOf(sources),
    metrics,
  })
  const objects = new FlowObjects({ ...sources, levels: control.levels })
  return {
    control,
    document: dumps({
      levels: () => control.levels.all,
      waiting: () => control.waiting,
      executing: () => control.executing,
    }),
    async start() {
      await objects.start()
      control.start()
    },
    stop() {
      objects.stop()
      control.stop()
    },
  }
}

/** The limits where priority and fairness is off, and who counts what they refuse. */
export function plainLimits(
  {
    maxRequestsInFlight: readOnly = defaultMaxRequests,
    maxMutatingRequestsInFlight: mutating = defaultMaxMutatingRequests,
  }: FlowControlOptions,
  metrics: MetricsRegistry,
): { readonly readOnly: number; readonly mutating: number; readonly dropped: (kind: 'readOnly' | 'mutating') => void } {
  return { readOnly, mutating, dropped: droppedRequests(metrics) }
}

/** What a collection weighs that is in memory. */
function sizeOf({ registry, served }: FlowControlSources): CollectionSize {
  return ({ group, version, resource }) => {
    const found = served(group, version, resource)
    const objects = found && registry.cacher(found).live?.objects
    return objects && { objects: objects.size, bytes: objects.bytes }
  }
}
