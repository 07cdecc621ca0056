/** The options of an API server, and the handle of a running one. */

import type { Duplex } from 'node:stream'
import type { FeatureGates } from '../api/features/feature-gates.ts'
import type { Clock } from '../lib/clock/clock.ts'
import type { MovableClock } from '../lib/clock/movable-clock.ts'
import type { Log } from '../lib/log/log.ts'
import type { Store } from '../storage/store.ts'
import type { AdmissionOptions } from './admission/index.ts'
import type { ProxyClient } from './aggregator/index.ts'
import type { AuditOptions } from './audit/index.ts'
import type { AuthenticationOptions } from './authentication/index.ts'
import type { AuthorizationOptions } from './authorization/index.ts'
import type { PolicyRule } from './authorization/rbac/index.ts'
import type { ComponentRights } from './bootstrap/roles/component-rights.ts'
import type { FirstObjectTemplates } from './bootstrap/templates/first-object-templates.ts'
import type { HttpOptions } from './chain/index.ts'
import type { ClockControl } from './clock/clock-control.ts'
import type { EncryptionOptions } from './encryption/index.ts'
import type { FlowControlOptions } from './flow-control/index.ts'
import type { LocalComponents } from './health/components.ts'
import type { StoreHealthOptions } from './health/store-health.ts'
import type { ListenerLimits } from './http/bounds/limits.ts'
import type { ServingPair, TransportOptions } from './http/secure/transport.ts'
import type { KubeletOptions } from './proxy/streaming/index.ts'
import type { ReconcilerType } from './services/own-service/endpoint-reconciler.ts'
import type { StorageMediaType } from './storage-format/index.ts'

/** The store of some resources. */
export interface OtherStore {
  readonly store: Store
  /** Empty for the core group. */
  readonly resources: readonly { readonly group: string; readonly plural: string }[]
}

export interface ApiServerOptions extends AuthenticationOptions {
  /** Closed by the caller, after `stop()`. */
  readonly store: Store
  /** Other stores of some resources (`--etcd-servers-overrides`). The caller closes them, too. */
  readonly otherStores?: readonly OtherStore[]
  readonly storeHealth?: StoreHealthOptions
  /** The time of objects and tokens. Default: `movableClock`, or that of the machine. */
  readonly clock?: Clock | undefined
  /** The clock of the cluster, which administrators may move at `/debug/clock`. This server must be its owner. */
  readonly movableClock?: MovableClock | undefined
  /** Why the clock cannot be moved, for `/debug/clock`. Default: there is no such path. */
  readonly fixedClockReason?: string | undefined
  /** Interval in ms at which the stored objects are counted for metrics; 0 for never. Default: 60,000. */
  readonly objectCountMs?: number | undefined
  readonly bindAddress: string
  /** 0 takes any free port. */
  readonly port: number
  /** Without it the server does not listen: clients in the same process `dial` it. */
  readonly tls?: ServingPair
  /** TLS settings, and certificates for certain server names. */
  readonly transport?: TransportOptions
  /** The client certificate for the servers of aggregated APIs. */
  readonly proxyClient?: ProxyClient
  /** Settings of connections to kubelets. */
  readonly kubelets?: KubeletOptions
  /** Serves metrics.k8s.io, from the kubelets, once there is one. Default: false. */
  readonly resourceMetrics?: boolean
  /** `--feature-gates`. Default: the defaults of 1.36. */
  readonly features?: FeatureGates
  /** `--runtime-config`: `api/beta=true`, `batch/v1=false`, … */
  readonly runtimeConfig?: readonly string[]
  /** One range of cluster IPs, or two separated by a comma. Default: 10.0.0.0/24. */
  readonly serviceClusterIpRange?: string
  /** Default: 30000-32767. */
  readonly serviceNodePortRange?: string
  /** The address by which pods reach this server (`--advertise-address`). Default: an address of the machine. */
  readonly advertiseAddress?: string
  /** The endpoints of the Service `kubernetes` (`--endpoint-reconciler-type`). Default: `lease`. */
  readonly endpointReconciler?: ReconcilerType
  /** The number of servers for the reconciler `master-count` (`--apiserver-count`). Default: 1. */
  readonly serverCount?: number
  /** Serves `/debug/pprof/`. Default: true. */
  readonly profiling?: boolean
  /** The host, and the port if it differs, in URLs of this server that it returns. */
  readonly externalHostname?: string
  readonly admission?: AdmissionOptions
  /** Encryption of stored values. Default: none. */
  readonly encryption?: EncryptionOptions
  /** The encoding of stored objects of built-in kinds (`--storage-media-type`). Default: application/json. */
  readonly storageMediaType?: StorageMediaType
  /** Default: authenticated users may do everything. */
  readonly authorization?: AuthorizationOptions
  /** Limits of concurrent requests. Default: as upstream. */
  readonly flowControl?: FlowControlOptions
  readonly audit?: AuditOptions
  /**
   * Health checks of the components in this process; others are requested at their default ports.
   */
  readonly components?: LocalComponents
  readonly http?: HttpOptions
  /** Watches without a timeout end after this to twice this, in seconds; 0: never. Default: 1,800. */
  readonly minRequestTimeoutSeconds?: number
  /** Events are deleted this long after their last write, in ms; 0: never. Default: an hour. */
  readonly eventTtlMs?: number
  /** How long `/livez` ignores unfinished parts of the start, in ms. Default: 0. */
  readonly livezGraceMs?: number
  /** How long the server continues to serve, unready, after `stop()` is called, in ms. Default: 0. */
  readonly shutdownDelayMs?: number
  /** How long clients of watches may take to read remaining events when the server stops, in ms. */
  readonly watchTerminationGraceMs?: number
  /** The release of this package, shown in `/version`. */
  readonly release?: string
  /**
   * Makes the first requests fast. Costs 0.6 s of CPU after the start and 0.15 s after garbage collections that drop
   * compiled code: for long-lived servers. `after` resolves when the programs that start with the server, and come
   * first, have started.
   */
  readonly warmUp?: boolean | { readonly after: Promise<void> } | undefined
  /** Rights of components of the same program, which the server ensures as its bootstrap roles. Default: none. */
  readonly componentRights?: readonly ComponentRights[] | undefined
  /**
   * The rights of services of machines that become nodes by bootstrap tokens. The roles for that exist then, as
   * kubeadm's. Default: machines cannot join.
   */
  readonly joinedNodes?: readonly PolicyRule[] | undefined
  /**
   * The first objects of servers of this process: the first one with certain options fills it, and the others copy
   * the objects into their stores if these are empty. Default: each server creates its own.
   */
  readonly templates?: FirstObjectTemplates | undefined
  /**
   * Serves `/debug/testing/`, by which administrators read the latest requests, order faults and restore snapshots: for
   * servers that live for tests. Default: false.
   */
  readonly testControl?: boolean | undefined
  /** Limits of the listener that differ from the defaults. */
  readonly limits?: Partial<ListenerLimits>
  /** The timeout of requests other than watches and streams, in ms. Default: 60,000. */
  readonly requestTimeoutMs?: number
  /** `-v`: from 1 on, disabled versions of the API are logged. */
  readonly verbosity?: number
  readonly log?: Log
}

export interface ApiServer {
  readonly url: string
  readonly port: number
  /** Moves the clock of the cluster; undefined if that is not possible. */
  readonly clock: ClockControl | undefined
  /** Opens a connection (HTTP/2) within this process, without a port and TLS. */
  readonly dial: () => Duplex
  /**
   * Continues to serve, unready, for `shutdownDelayMs`; then rejects new requests, ends watches, and waits up to
   * `graceMs` (default: 10 s) for the requests in progress.
   */
  stop(options?: StopOptions): Promise<void>
}

export interface StopOptions {
  readonly graceMs?: number
  /** Overrides `shutdownDelayMs`. */
  readonly delayMs?: number
}

const defaultRequestTimeoutMs = 60_000

/** The timeout of requests other than watches and streams, in ms. */
export const requestTimeoutOf = ({ requestTimeoutMs = defaultRequestTimeoutMs }: ApiServerOptions): number =>
  requestTimeoutMs
