/** The options of a kubelet. */
import type { ServerAccess } from '../client/connection/connection.ts'
import type { Verbosity } from '../lib/log/verbosity.ts'
import type { MetricsRegistry } from '../lib/metrics/registry.ts'
import type { TlsLimits } from '../node/server/kubelet-server.ts'
import type { KubeletConfiguration } from './configuration/index.ts'
import type { ContainerPolicy } from './containers/collection/collection-plan.ts'
import type { KeyPair } from './credentials/key-pair.ts'
import type { KubeletPagesOptions } from './server/pages/kubelet-pages.ts'

/** The certificate of the kubelet's HTTPS server, which may be renewed. */
export interface ServingCredentials {
  /** Undefined while the cluster has not signed one: handshakes fail. */
  readonly current: KeyPair | undefined
  /** Calls back with each newer certificate. */
  onChange(callback: (pair: KeyPair) => void): void
}

export interface KubeletOptions {
  readonly server: ServerAccess
  readonly configuration: KubeletConfiguration
  /** The kubelet's folder, `/var/lib/kubelet`. */
  readonly root: string
  /** The folder of the logs of pods, `/var/log/pods`. */
  readonly podLogs: string
  /** Default: the name of this machine. */
  readonly nodeName?: string
  /** Default: the first address of this machine. */
  readonly nodeIps?: readonly string[]
  readonly nodeLabels?: Readonly<Record<string, string>>
  /** The ranges of pods that a new node is registered with. Default: the cluster gives it some. */
  readonly podCidrs?: readonly string[]
  readonly serving: ServingCredentials
  /** The limits of the HTTPS server's TLS. Default: TLS 1.2 and Node's ciphers. */
  readonly tlsLimits?: TlsLimits
  /** How much is logged. Default: nothing beside failures. */
  readonly verbosity?: Verbosity
  /** `--minimum-container-ttl-duration` and `--maximum-dead-containers…`. Default: the newest of each name. */
  readonly containerPolicy?: ContainerPolicy
  /** `--image-credential-provider-config` and `--image-credential-provider-bin-dir`. */
  readonly credentialProviders?: { readonly config: string; readonly folder: string }
  /** A PEM bundle of CAs for client certificates; a function if it changes. */
  readonly clientCA: string | (() => string)
  /** Profiles of the process at `/debug/pprof/`. Default: there are none. */
  readonly profile?: KubeletPagesOptions['profile']
  /** The kubelet's metrics are registered here. Default: a new registry. */
  readonly metrics?: MetricsRegistry
  /** `--redirect-container-streaming`: clients of streams are redirected to the runtime's URL. Default: false. */
  readonly redirectContainerStreaming?: boolean
  readonly log: (line: string) => void
}
