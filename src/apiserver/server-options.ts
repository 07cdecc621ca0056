/** What an API server is started with, and what its starter gets. */

import type { Duplex } from 'node:stream'
import type { FeatureGates } from '../api/features/feature-gates.ts'
import type { Log } from '../lib/log/log.ts'
import type { Store } from '../storage/store.ts'
import type { AdmissionOptions } from './admission/index.ts'
import type { ProxyClient } from './aggregator/index.ts'
import type { AuditOptions } from './audit/index.ts'
import type { AuthenticationOptions } from './authentication/index.ts'
import type { AuthorizationOptions } from './authorization/index.ts'
import type { HttpOptions } from './chain/index.ts'
import type { EncryptionOptions } from './encryption/index.ts'
import type { FlowControlOptions } from './flow-control/index.ts'
import type { LocalComponents } from './health/components.ts'
import type { ListenerLimits } from './http/bounds/limits.ts'
import type { ServingPair, TransportOptions } from './http/secure/transport.ts'
import type { KubeletOptions } from './proxy/streaming/index.ts'

export interface ApiServerOptions extends AuthenticationOptions {
  /** Closed by the caller, after `stop()`. */
  readonly store: Store
  readonly bindAddress: string
  /** 0 takes any free port. */
  readonly port: number
  /** Without it the server listens nowhere: clients in the same process `dial` it. */
  readonly tls?: ServingPair
  /** What may be spoken over TLS, and certificates for some names. */
  readonly transport?: TransportOptions
  /** The certificate that is shown to the servers of aggregated APIs. */
  readonly proxyClient?: ProxyClient
  /** How the kubelets of nodes are spoken to. */
  readonly kubelets?: KubeletOptions
  /** As `--feature-gates` says; the defaults of 1.36 if absent. */
  readonly features?: FeatureGates
  /** As `--runtime-config`: `api/beta=true`, `batch/v1=false`, … */
  readonly runtimeConfig?: readonly string[]
  /** One range of cluster IPs, or two with a comma between them; 10.0.0.0/24 unless said. */
  readonly serviceClusterIpRange?: string
  /** 30000-32767 unless said. */
  readonly serviceNodePortRange?: string
  /** The address that pods reach this server by (`--advertise-address`); one of the machine unless said. */
  readonly advertiseAddress?: string
  /** Whether the Service `kubernetes` gets no endpoints from this server (`--endpoint-reconciler-type=none`). */
  readonly withoutEndpoints?: boolean
  /** Serves `/debug/pprof/`, which is the default. */
  readonly profiling?: boolean
  /** The host, and port if it is another, in URLs that the server tells of itself. */
  readonly externalHostname?: string
  readonly admission?: AdmissionOptions
  /** How values are held in the store; as they are unless said. */
  readonly encryption?: EncryptionOptions
  /** Who may do what; unless said, who is authenticated may do everything. */
  readonly authorization?: AuthorizationOptions
  /** How many requests are served at once; as upstream unless said. */
  readonly flowControl?: FlowControlOptions
  readonly audit?: AuditOptions
  /**
   * How to ask the components in this process about their health; those that are missing are asked at their usual
   * ports.
   */
  readonly components?: LocalComponents
  readonly http?: HttpOptions
  /** Watches that name no time end after this to twice this, in seconds; 1,800 unless said, never if 0. */
  readonly minRequestTimeoutSeconds?: number
  /** How long events are kept after they were written last, ms; an hour unless said, for ever if 0. */
  readonly eventTtlMs?: number
  /** How long `/livez` overlooks what the start has not done yet; ms, 0 unless said. */
  readonly livezGraceMs?: number
  /** How long the server serves on, unready, when it is told to end; ms, 0 unless said. */
  readonly shutdownDelayMs?: number
  /** How long watches may take to read the rest when the server ends; ms. */
  readonly watchTerminationGraceMs?: number
  /** The release of this package, shown in `/version`. */
  readonly release?: string
  /**
   * Makes the first requests fast at the price of 0.6 s of CPU after the start, and 0.15 s now and then: for servers
   * that live long.
   */
  readonly warmUp?: boolean
  /** What the listener bears of its clients, where it differs from the defaults. */
  readonly limits?: Partial<ListenerLimits>
  /** How long a request that is no watch or stream may take, in ms; 60,000 unless said. */
  readonly requestTimeoutMs?: number
  /** As `-v`: from 1 on, versions of the API that are off are logged. */
  readonly verbosity?: number
  readonly log?: Log
}

export interface ApiServer {
  readonly url: string
  readonly port: number
  /** A new connection (HTTP/2) from within this process, without a port and TLS. */
  readonly dial: () => Duplex
  /**
   * Serves on for `shutdownDelayMs`, unready; then takes no new requests, ends watches, waits up to `graceMs` (10 s)
   * for the rest.
   */
  stop(options?: StopOptions): Promise<void>
}

export interface StopOptions {
  readonly graceMs?: number
  /** In place of `shutdownDelayMs`. */
  readonly delayMs?: number
}

const defaultRequestTimeoutMs = 60_000

/** The limit for requests other than watches and streams, in ms. */
export const requestTimeoutOf = ({ requestTimeoutMs = defaultRequestTimeoutMs }: ApiServerOptions): number =>
  requestTimeoutMs
