/** The options of a cluster, and the handle that `startCluster` returns. */
import type { RequestHeaderOptions } from '../apiserver/authentication/request-header.ts'
import type { TokenUser } from '../apiserver/authentication/tokens/static-tokens.ts'
import type { Access, Kubeconfig } from '../kubeconfig/kubeconfig.ts'
import type { Log } from '../lib/log/log.ts'
import type { PluginFactory } from '../scheduler/index.ts'
import type { EtcdOptions } from '../storage/etcd/index.ts'
import type { OpenOptions } from '../storage/log/index.ts'
import type { ClusterClock } from './clock/cluster-clock.ts'
import type { ClusterUser, UserIdentity } from './credentials/cluster-users.ts'
import type { ClusterIngress } from './ingress/index.ts'
import type { KeyPair } from './pki/key-pair.ts'
import type { RealNode } from './real-node/index.ts'
import type { SimulatedNodes } from './simulation/index.ts'

/** A store on the disk. */
export type StorageDirectory = Omit<OpenOptions, 'tuning' | 'clock'>

/** A store in etcd, which clusters of other processes and API servers may share (docs/etcd.md). */
export interface StorageEtcd {
  readonly etcd: EtcdOptions
  /**
   * The directory for the certificates, which processes that share the etcd must have a copy of. Default: certificates
   * in memory, for an etcd that no other process uses.
   */
  readonly directory?: string
}

/** The options of `startCluster`. Each has a default. */
export interface ClusterOptions {
  /**
   * `memory`, or the directory for the data and the certificates, which is created if missing, or an etcd. Default:
   * `memory`.
   */
  readonly storage?: 'memory' | StorageDirectory | StorageEtcd
  /** Default: 127.0.0.1. */
  readonly bindAddress?: string
  /** Default: any free port. */
  readonly port?: number
  /** Bearer tokens that are accepted besides the administrator's certificate. */
  readonly tokens?: readonly TokenUser[]
  /** A serving certificate. Default: one signed by the cluster's authority. */
  readonly tls?: KeyPair
  /** PEM bundle of authorities whose client certificates are accepted, besides the cluster's own. */
  readonly clientCA?: string
  /** Front proxies that are trusted to name the user. Default: the cluster's own. */
  readonly requestHeader?: RequestHeaderOptions
  /** Client certificate for the servers of aggregated APIs. Default: one created by the cluster. */
  readonly proxyClient?: KeyPair
  /** As for `--runtime-config`: `batch/v2=true`, `api/alpha=true`. */
  readonly runtimeConfig?: readonly string[]
  /** One range, or two separated by a comma. */
  readonly serviceClusterIpRange?: string
  /**
   * Flags of kube-apiserver besides these options, such as `--audit-log-path=/tmp/audit.log`. Relative paths are
   * resolved against the current directory.
   */
  readonly apiServerFlags?: readonly string[]
  /**
   * True to run all controllers, or a list as for `--controllers`: `*` for all, `name`, `-name`. Default: true. Without
   * controllers namespaces have no service accounts, so pods need `--disable-admission-plugins=ServiceAccount`.
   */
  readonly controllers?: boolean | readonly string[]
  /** Flags of kube-controller-manager by name: `{ 'concurrent-deployment-syncs': '10' }`. */
  readonly controllerFlags?: Readonly<Record<string, string>>
  /**
   * Number or options of simulated nodes, whose pods go through the phases without running anything; `{ real: true }`
   * for a real node, which runs pods on this machine. Default: none, unlike `t8s up`. Clusters with nodes have a
   * default storage class.
   */
  readonly nodes?: number | ClusterNodes
  /**
   * Runs controllers and simulated nodes on threads of their own, so that they do not delay requests, at the cost of
   * some memory: for long-lived clusters.
   */
  readonly controllersThread?: boolean
  /** True, or options, to run the scheduler. Default: pods stay pending unless another scheduler binds them. */
  readonly scheduler?: boolean | ClusterSchedulerChoice
  /**
   * True, or options, to serve Ingresses and the Gateway API by a reverse proxy on this machine (docs/ingress.md).
   * Default: none.
   */
  readonly ingress?: boolean | ClusterIngress
  /**
   * HTTPS port for the health and the metrics of the controllers, as kube-controller-manager's 10257; 0 for any free
   * port. Default: none.
   */
  readonly controllerManagerPort?: number
  /**
   * Makes the first requests fast at the cost of 0.6 s of CPU after the start and 0.15 s periodically: for long-lived
   * clusters.
   */
  readonly warmUp?: boolean
  /**
   * Interval of compactions, time for which old revisions are retained before (default: 5 minutes each, as upstream),
   * and maximum size of the history (default: 256 MiB).
   */
  readonly compaction?: { readonly intervalMs?: number; readonly retainMs?: number; readonly maxHistoryBytes?: number }
  /**
   * Serves `/debug/testing/` to administrators: the latest requests, faults, and snapshots. `startTestCluster` of
   * `typernetes/test` sets it. Default: false.
   */
  readonly testControl?: boolean
  /**
   * True to run the cluster on a thread that all clusters of the program share: it answers while the program waits
   * (`execFileSync('kubectl', …)`), and ends with the program if `stop` is forgotten. Default: true, except for
   * clusters with a real node, machines, plugins of the scheduler or other functions as options, which run on the
   * thread of the program (docs/start-cluster.md).
   */
  readonly thread?: boolean
  /** Called with one line per step of the start, and with later messages. */
  readonly log?: Log
  /** As for `-v`: 0 is quiet, 2 logs the duration of each step of the start. */
  readonly verbosity?: number
}

/** Simulated nodes, a real node, or both. Without `count` there are no simulated nodes beside a real one. */
export interface ClusterNodes extends SimulatedNodes {
  /**
   * True, or options, to make this machine a node. Needs Linux, root and a cluster on disk; otherwise the start fails,
   * or has a simulated node with the option `fallback: 'simulated'`, as `t8s up` by default.
   */
  readonly real?: boolean | RealNode
  /**
   * Number of machines in the place of a real node: network namespaces on this machine, each of which is a node with a
   * kubelet and a runtime of its own, and the options of `real`. Needs Linux, root and a cluster on disk. Default:
   * none.
   */
  readonly machines?: number
}

export interface ClusterSchedulerChoice {
  /** A file with a KubeSchedulerConfiguration. Default: upstream's defaults. */
  readonly configurationFile?: string
  /** Plugins besides the in-tree ones; see `typernetes/scheduler`. */
  readonly plugins?: readonly PluginFactory[]
  /**
   * Runs the scheduler on a thread of its own, at the cost of some memory: for long-lived clusters without `plugins`.
   */
  readonly onThread?: boolean
}

export interface StopOptions {
  /** Time in ms for running requests. Default: 5,000. */
  readonly graceMs?: number
}

/** A running cluster. `await using cluster = await startCluster()` stops it at the end of the block. */
export interface Cluster extends AsyncDisposable {
  /** The server's URL on this machine, such as `https://127.0.0.1:6443`. */
  readonly url: string
  readonly port: number
  /** Connection options of the administrator. */
  readonly client: Access
  readonly kubeconfig: Kubeconfig
  readonly kubeconfigYaml: string
  /** The time of the cluster, which can be paused, stepped and sped up (docs/clock.md). */
  readonly clock: ClusterClock
  /**
   * Creates a user with a client certificate of the cluster's authority, whose rights are those of roles and bindings:
   * for tests of authorization.
   */
  user(identity: UserIdentity): Promise<ClusterUser>
  /** Resolves when controllers, scheduler and simulated nodes have synced. The server is ready before that. */
  readonly synced: Promise<void>
  /** Waits up to `graceMs` (default: 5,000) for running requests, then releases port and store. May be called twice. */
  stop(options?: StopOptions): Promise<void>
}
