/** The values that the components of the API server give each other. */
import type { ServedGroup } from '../../api/registry.ts'
import { componentsOf } from '../../lib/lifetime/components.ts'
import type { Log } from '../../lib/log/log.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { AdmissionChain } from '../admission/admission-chain.ts'
import type { Aggregator } from '../aggregator/index.ts'
import type { LiveAuditing } from '../audit/index.ts'
import type { Authentication } from '../authentication/index.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import type { ClockControl } from '../clock/clock-control.ts'
import type { clockEndpoints } from '../clock/endpoints.ts'
import type { PriorityAndFairness } from '../flow-control/index.ts'
import type { BootSequence } from '../health/boot-sequence.ts'
import type { HealthCheck } from '../health/health.ts'
import type { StoreHealth } from '../health/store-health.ts'
import type { Handler } from '../http/exchange.ts'
import type { Listener } from '../http/listener.ts'
import type { MemoryListener } from '../http/memory-listener.ts'
import type { WaitGroup } from '../http/wait-group.ts'
import type { NonResourceHandler } from '../non-resource/non-resource.ts'
import type { Places } from '../proxy/index.ts'
import type { Registry } from '../registry/registry.ts'
import type { ServedApis } from '../registry/served-apis.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { Writer } from '../registry/write/write-context.ts'
import type { ResourceMetrics } from '../resource-metrics/index.ts'
import type { ApiServerOptions } from '../server-options.ts'
import type { ServiceAllocation } from '../services/index.ts'
import type { TestControl } from '../test-control/index.ts'
import type { WarmUp } from '../warm-up/index.ts'

/** Changes while the server runs. */
export interface ServerState {
  /** The URL on this machine; empty until the server listens. */
  url: string
  /** The URL for clients, which discovery and OpenID documents contain. */
  externalUrl: string
  /** True once `stop()` was called. */
  isStopping: boolean
}

export interface ServerParts {
  readonly options: ApiServerOptions
  readonly log: Log
  readonly state: ServerState
  /** Running requests. */
  readonly waitGroup: WaitGroup
  readonly metrics: MetricsRegistry
  /** Undefined if nothing is audited. */
  readonly audit: LiveAuditing | undefined
  readonly registry: Registry
  /** Returns a built-in resource by its key, also one that is off: `v1/pods`. */
  readonly find: (key: string) => ServedResource
  readonly apis: ServedApis
  readonly builtInGroups: readonly ServedGroup[]
  /** Checks of the KMS plugins. */
  readonly encryptionChecks: readonly HealthCheck[]
  readonly storeHealth: StoreHealth
  /** Of stores that only some resources are in. */
  readonly otherStoreHealth: readonly StoreHealth[]
  readonly places: Places
  readonly allocation: ServiceAllocation
  readonly boot: BootSequence
  readonly authentication: Authentication
  readonly authorizer: Authorizer
  readonly admission: AdmissionChain
  /** True if the store has begun with copies of the first objects of an earlier server. */
  readonly hasCopies: boolean
  /** The identity of the server's own writes. */
  readonly writer: Writer
  /** Undefined if priority and fairness is off. */
  readonly flow: PriorityAndFairness | undefined
  readonly aggregator: Aggregator
  /** Publishes the authorities of clients again after a change. */
  readonly republish: () => void
  /** Undefined if metrics.k8s.io is not served. */
  readonly resourceMetrics: ResourceMetrics | undefined
  /** Undefined if the clock of the cluster cannot be moved. */
  readonly clockControl: ClockControl | undefined
  /** Answers the paths of the clock; undefined if there are none. */
  readonly clockEndpoints: ReturnType<typeof clockEndpoints> | undefined
  /** Undefined if tests do not control the server. */
  readonly testControl: TestControl | undefined
  /** Answers paths that are no resources. */
  readonly documents: NonResourceHandler
  /** Answers requests that passed the chain. */
  readonly endpoints: Handler
  /** Answers every request. */
  readonly handler: Handler
  /** The same for the requests of the warm-up, which are not counted. */
  readonly warmUpHandler: () => Handler
  readonly listener: Listener
  /** Connections of clients in this process. */
  readonly inMemory: MemoryListener
  /** Undefined if `options.warmUp` is off. */
  readonly warmth: WarmUp | undefined
}

export const component = componentsOf<ServerParts>()
