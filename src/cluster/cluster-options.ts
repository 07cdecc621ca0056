/** What a cluster is started with, and what its starter gets. */
import type { RequestHeaderOptions } from '../apiserver/authentication/request-header.ts'
import type { TokenUser } from '../apiserver/authentication/tokens/static-tokens.ts'
import type { Access, Kubeconfig } from '../kubeconfig/kubeconfig.ts'
import type { Log } from '../lib/log/log.ts'
import type { PluginFactory } from '../scheduler/index.ts'
import type { OpenOptions } from '../storage/log/index.ts'
import type { ClusterUser, UserIdentity } from './credentials/cluster-users.ts'
import type { KeyPair } from './pki/key-pair.ts'
import type { SimulatedNodes } from './simulation/index.ts'

/** A store on the disk. */
export type StorageDirectory = Omit<OpenOptions, 'tuning'>

export interface ClusterOptions {
  /**
   * `memory`, or the directory that keeps the data and the certificates; it is made if missing. `memory` unless said.
   */
  readonly storage?: 'memory' | StorageDirectory
  /** 127.0.0.1 unless said. */
  readonly bindAddress?: string
  /** Any free port unless said. */
  readonly port?: number
  /** Bearer tokens that are accepted, beside the administrator's certificate. */
  readonly tokens?: readonly TokenUser[]
  /** A serving certificate of one's own. */
  readonly tls?: KeyPair
  /** PEM bundle of authorities whose client certificates are accepted, beside the cluster's own. */
  readonly clientCA?: string
  /** Front proxies that may say who a user is, in place of the cluster's own. */
  readonly requestHeader?: RequestHeaderOptions
  /** What is shown to the servers of aggregated APIs, in place of a certificate made here. */
  readonly proxyClient?: KeyPair
  /** As `--runtime-config`: `batch/v2=true`, `api/alpha=true`. */
  readonly runtimeConfig?: readonly string[]
  /** One range, or two with a comma between them. */
  readonly serviceClusterIpRange?: string
  /**
   * Flags of kube-apiserver beyond these options: `--audit-log-path=/tmp/audit.log`. Relative paths start from the
   * current directory.
   */
  readonly apiServerFlags?: readonly string[]
  /**
   * Whether controllers run, or which, as `--controllers` names them: `*` for all, `name`, `-name`. All unless said.
   * Without them namespaces have no accounts, so that pods need `--disable-admission-plugins=ServiceAccount`.
   */
  readonly controllers?: boolean | readonly string[]
  /** Flags of kube-controller-manager for them, by their names: `{ 'concurrent-deployment-syncs': '10' }`. */
  readonly controllerFlags?: Readonly<Record<string, string>>
  /**
   * Simulated nodes, which run in the background: pods on them go through their phases, and nothing runs. So many, or
   * as the options say; none unless said. Clusters with nodes have a default storage class.
   */
  readonly nodes?: number | SimulatedNodes
  /**
   * Controllers, and simulated nodes, run on threads of their own, where they delay no request, at the price of some
   * memory: for clusters that live long.
   */
  readonly controllersThread?: boolean
  /**
   * Pods get nodes: `true`, or what to run the scheduler with. Without it they stay pending, unless a scheduler of
   * one's own looks after them.
   */
  readonly scheduler?: boolean | ClusterSchedulerChoice
  /**
   * Where controllers tell of themselves over HTTPS, as kube-controller-manager does on 10257; 0 for any free port,
   * nowhere unless said.
   */
  readonly controllerManagerPort?: number
  /**
   * Makes the first requests fast at the price of 0.6 s of CPU after the start, and 0.15 s now and then: for clusters
   * that live long.
   */
  readonly warmUp?: boolean
  /**
   * How often old revisions are forgotten, how long they are kept before (five minutes each unless said, as upstream),
   * and how many bytes of them at most (256 MB).
   */
  readonly compaction?: { readonly intervalMs?: number; readonly retainMs?: number; readonly maxHistoryBytes?: number }
  /** Called with one line per step of the start, and for what is worth knowing later. */
  readonly log?: Log
  /** As `-v`: 0 is calm, 2 shows how long each step of the start took. */
  readonly verbosity?: number
}

export interface ClusterSchedulerChoice {
  /** A file with a KubeSchedulerConfiguration; upstream's defaults unless said. */
  readonly configurationFile?: string
  /** Plug-ins beside those in tree, of `typernetes/scheduler`. */
  readonly plugins?: readonly PluginFactory[]
  /**
   * It runs on a thread of its own, at the price of some memory: for clusters that live long, and have no plug-ins of
   * their own.
   */
  readonly onThread?: boolean
}

export interface Cluster {
  /** `https://127.0.0.1:6443`: where this machine reaches the server. */
  readonly url: string
  readonly port: number
  /** What a client needs to be the administrator. */
  readonly client: Access
  readonly kubeconfig: Kubeconfig
  readonly kubeconfigYaml: string
  /**
   * Somebody with a client certificate of the cluster's authority, who may do what roles and bindings allow: for tests
   * of what somebody may not do.
   */
  user(identity: UserIdentity): Promise<ClusterUser>
  /**
   * Resolves when controllers, scheduler and simulated nodes know what was there at the start. The server is ready
   * before.
   */
  readonly synced: Promise<void>
  /**
   * Lets requests finish for up to `graceMs` (5,000 unless said), then releases port and store. May be called twice.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}
