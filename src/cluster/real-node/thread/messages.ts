/** The messages between the serving thread and the thread of the real node. */
import type { ServerAccess } from '../../../client/connection/connection.ts'
import type { KubeletConfiguration } from '../../../kubelet/configuration/index.ts'
import type { ServingCredentials } from '../../../kubelet/options.ts'
import type { EmbeddedDns } from '../../dns/embedded-dns.ts'
import type { KeyPair } from '../../pki/key-pair.ts'
import type { EmbeddedPolicy } from '../../policy/embedded-policy.ts'
import type { ComponentReport } from '../../threads/component-thread.ts'
import type { ApiGatewayOptions } from '../services/api-gateway.ts'
import type { EmbeddedFlannel } from '../services/embedded-flannel.ts'
import type { EmbeddedProxy } from '../services/embedded-proxy.ts'
import type { EmbeddedRuntime } from '../settings/embedded-runtime.ts'

/** The part of a task that a thread knows at its start. */
export interface EarlyTask {
  /** True if it runs the runtime, too. */
  readonly isEmbedded: boolean
}

/** The credentials of a client: a certificate, or one that is renewed, which is no plain data. */
export type ClientCredentials = Pick<ServerAccess, 'cert' | 'key' | 'credentials'>

/** Everything that a thread needs to run the kubelet; plain data unless certificates are renewed. */
export interface RealNodeTask {
  readonly name: string
  readonly ips: readonly string[]
  readonly configuration: KubeletConfiguration
  /** The runtime to start; undefined if the configuration names the socket of another one. */
  readonly runtime: EmbeddedRuntime | undefined
  readonly proxy: EmbeddedProxy
  /** Undefined if pods reach the API server without it. */
  readonly apiGateway: ApiGatewayOptions | undefined
  /** Undefined if another runtime connects the pods. */
  readonly policy: EmbeddedPolicy | undefined
  /** Undefined without DNS, or with one that pods run. */
  readonly dns: EmbeddedDns | undefined
  /** The certificate of the user that opens mapped ports; undefined for a node that opens none. */
  readonly ports: { readonly client: KeyPair } | undefined
  /** The way to the pods of other nodes; undefined for the only node of a cluster. */
  readonly peers: PeerNetwork | undefined
  /** True if pods end with the node, not only its kubelet. */
  readonly endsPods: boolean
  /** The ranges of pods of a new node; none if the cluster's controllers choose them. */
  readonly podCidrs: readonly string[]
  /** The folders of the kubelet and of the logs of pods. */
  readonly root: string
  readonly podLogs: string
  /** The API server, and the kubelet's client certificate. */
  readonly server: { readonly url: string; readonly ca: string } & ClientCredentials
  /** The certificate of the kubelet's own server. */
  readonly serving: KeyPair | ServingCredentials
  /** The authority of the kubelet's clients, in PEM. */
  readonly clientCA: string
}

/** The network of the pods of a cluster with several nodes. */
export interface PeerNetwork {
  /** The ranges of all pods, whose packets keep their source on the way to other nodes. */
  readonly ranges: readonly string[]
  /** Undefined if the network of the cluster cannot be read. */
  readonly flannel: EmbeddedFlannel | undefined
}

/** From the thread. */
export type Report = ComponentReport | { readonly failed: string }
