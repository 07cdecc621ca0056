/** What an API server is started with, and what its starter gets. */
import type { Store } from '../storage/store.ts'
import type { TolerationSeconds } from './admission/default-toleration-seconds.ts'
import type { ProxyClient } from './aggregator/index.ts'
import type { RequestHeaderOptions } from './authentication/request-header.ts'
import type { TokenUser } from './authentication/token-file.ts'
import type { Authorizer } from './authorization/authorizer.ts'
import type { ListenerLimits } from './http/bounds/limits.ts'
import type { ServiceAccountIssuer } from './openid.ts'

export interface ApiServerOptions {
  /** Closed by the caller, after `stop()`. */
  readonly store: Store
  readonly bindAddress: string
  /** 0 takes any free port. */
  readonly port: number
  readonly tls: { readonly cert: string | Buffer; readonly key: string | Buffer }
  /** PEM bundle that client certificates are checked against. */
  readonly clientCA?: string
  /** Front proxies that may say who a user is. */
  readonly requestHeader?: RequestHeaderOptions
  /** The certificate that is shown to the servers of aggregated APIs. */
  readonly proxyClient?: ProxyClient
  readonly tokens?: readonly TokenUser[]
  /** As `--runtime-config`: `api/beta=true`, `batch/v1=false`, … */
  readonly runtimeConfig?: readonly string[]
  /** One range of cluster IPs, or two with a comma between them; 10.0.0.0/24 unless said. */
  readonly serviceClusterIpRange?: string
  /** 30000-32767 unless said. */
  readonly serviceNodePortRange?: string
  readonly serviceAccount?: ServiceAccountIssuer
  /** The address that pods reach this server by (`--advertise-address`); one of the machine unless said. */
  readonly advertiseAddress?: string
  /** Upstream's names of admission plug-ins that are off. */
  readonly disabledAdmissionPlugins?: readonly string[]
  /** How long pods stay on nodes that are not ready, and on unreachable ones, in seconds; 300 unless said. */
  readonly defaultTolerationSeconds?: TolerationSeconds
  /** Whether requests without credentials are `system:anonymous`, or refused; true unless said. */
  readonly anonymousAuth?: boolean
  /** Who may do what; unless said, who is authenticated may do everything. */
  readonly authorizer?: Authorizer
  /** The release of this package, shown in `/version`. */
  readonly release?: string
  /** Makes the first requests fast at the price of 0.3 s of CPU after the start: for servers that live long. */
  readonly warmUp?: boolean
  /** What the listener bears of its clients, where it differs from the defaults. */
  readonly limits?: Partial<ListenerLimits>
  /** How long a request that is no watch or stream may take, in ms; 60,000 unless said. */
  readonly requestTimeoutMs?: number
  readonly log?: (line: string) => void
}

export interface ApiServer {
  readonly url: string
  readonly port: number
  /** Serves on for `delayMs` (0), unready; then takes no new requests, ends watches, waits up to `graceMs` (10 s) for the rest. */
  stop(options?: StopOptions): Promise<void>
}

export interface StopOptions {
  readonly graceMs?: number
  /** As `--shutdown-delay-duration`: time for a load balancer to notice. */
  readonly delayMs?: number
}
