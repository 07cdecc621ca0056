/**
 * Flow control: decides which request executes when. The public part: the component that the server starts, the
 * admission that the chain calls, and the debug pages.
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
export type { FlowUids } from './levels.ts'

export interface FlowControlOptions {
  /** `--enable-priority-and-fairness`. Default: true. If false, only the number of requests is limited. */
  readonly enabled?: boolean
  /** `--max-requests-inflight`. Default: 400. */
  readonly maxRequestsInFlight?: number
  /** `--max-mutating-requests-inflight`. Default: 200. */
  readonly maxMutatingRequestsInFlight?: number
}

export const defaultMaxRequests = 400
export const defaultMaxMutatingRequests = 200

export interface FlowControlSources {
  readonly registry: Registry
  readonly find: (key: string) => ServedResource
  /** The resource that is served with a group, version and plural; undefined if there is none. */
  readonly served: (group: string, version: string, plural: string) => ServedResource | undefined
  readonly writer: Writer
  readonly metrics: MetricsRegistry
  readonly requestTimeoutMs: number
  readonly log: (line: string) => void
}

/** Priority and fairness with its lifecycle. */
export interface PriorityAndFairness {
  readonly control: FlowControl
  readonly document: Documents
  /** Resolves when the cluster's objects have taken effect. */
  start(): Promise<void>
  stop(): void
}

/** Returns true unless priority and fairness is off: the default is on. */
export const isFlowControlled = ({ enabled = true }: FlowControlOptions = {}): boolean => enabled

/** Undefined if priority and fairness is off. */
export function priorityAndFairnessOf(
  options: FlowControlOptions,
  sources: FlowControlSources,
): PriorityAndFairness | undefined {
  const { maxRequestsInFlight = defaultMaxRequests, maxMutatingRequestsInFlight = defaultMaxMutatingRequests } = options
  if (!isFlowControlled(options)) return undefined
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

/** The limits without priority and fairness, and a counter of the rejections. */
export function plainLimits(
  {
    maxRequestsInFlight: readOnly = defaultMaxRequests,
    maxMutatingRequestsInFlight: mutating = defaultMaxMutatingRequests,
  }: FlowControlOptions,
  metrics: MetricsRegistry,
): { readonly readOnly: number; readonly mutating: number; readonly dropped: (kind: 'readOnly' | 'mutating') => void } {
  return { readOnly, mutating, dropped: droppedRequests(metrics) }
}

/** The size of a collection, if it is in memory. */
function sizeOf({ registry, served }: FlowControlSources): CollectionSize {
  return ({ group, version, resource }) => {
    const found = served(group, version, resource)
    const objects = found && registry.cacher(found).live?.objects
    return objects && { objects: objects.size, bytes: objects.bytes }
  }
}
