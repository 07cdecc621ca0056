/** The flags of `t8s up`. Those of kube-apiserver and controllers, which it also has, are in `component-options.ts`. */
import { Option } from 'commander'
import type { FrontProxyFiles } from '../../cluster/credentials/front-proxy-files.ts'
import { clusterName } from '../detached/cluster-names.ts'
import * as flags from './flags.ts'
import { frontProxyFlags } from './front-proxy-flags.ts'
import { type IngressFlags, ingressFlags } from './ingress-flags.ts'
import { type NodeFlags, nodeFlags } from './nodes/node-flags.ts'
import { type RealNodeFlags, realNodeFlags } from './nodes/real-node-flags.ts'
import { repeated } from './repeated.ts'

export interface UpFlags extends FrontProxyFiles, NodeFlags, RealNodeFlags, IngressFlags {
  readonly ingress?: boolean
  readonly name?: string
  readonly detach?: boolean
  readonly config?: string
  readonly memory?: boolean
  readonly manifests?: readonly string[]
  readonly watch?: boolean
  readonly wait?: number
  readonly dataDir: string
  readonly acceptDataLoss?: boolean
  readonly etcdServers?: string
  readonly kubeconfig?: string
  readonly mergeKubeconfig?: boolean
  readonly bindAddress: string
  readonly securePort: number
  readonly tokenAuthFile?: string
  readonly clientCaFile?: string
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  readonly runtimeConfig?: readonly string[]
  readonly serviceClusterIpRange?: string
  readonly controllers: string
  readonly controllerManagerPort?: number
  readonly enableHostpathProvisioner?: boolean
  readonly scheduler?: boolean
  readonly schedulerConfig?: string
  readonly compactionInterval?: number
  readonly compactionRetention?: number
  readonly testControl?: boolean
  readonly v: number
}

/** All flags, in the order of the help. */
export const upFlags = (): readonly Option[] => [
  ...processFlags(),
  ...fileFlags(),
  ...manifestFlags(),
  ...servingFlags(),
  ...controllerFlags(),
  ...schedulerFlags(),
  new Option(
    '--service-cluster-ip-range <CIDR>',
    'addresses for Services (default: 10.96.0.0/16; 10.0.0.0/24 without nodes)',
  ).argParser(flags.serviceRanges),
  ...compactionFlags(),
  new Option(
    '--test-control',
    'serve /debug/testing/ to administrators: requests, faults and snapshots for tests (docs/testing.md)',
  ),
  new Option(
    '-v, --v [LEVEL]',
    'log verbosity: 0 is quiet, 1 shows the requests of clients, 2 also the steps of the start, 3 all requests, 4 ' +
      'the stacks of errors',
  )
    .default(0)
    .preset('1')
    .argParser(flags.verbosity),
  ...nodeFlags(),
  ...realNodeFlags(),
  new Option('--ingress', 'serve Ingresses and the Gateway API by a reverse proxy on this machine (docs/ingress.md)'),
  ...ingressFlags(),
  ...frontProxyFlags(),
]

/** The name of the cluster, and the process that runs it. */
const processFlags = (): readonly Option[] => [
  new Option(
    '--name <NAME>',
    'the name of a cluster with its own data directory (unless --data-dir sets one), a free port (unless ' +
      '--secure-port sets one) and the context typernetes-NAME in $KUBECONFIG or ~/.kube/config',
  ).argParser(clusterName),
  new Option(
    '--config <FILE>',
    'read flags from a YAML file, in camel case; those of the command line win (docs/command-line.md)',
  ),
  new Option('--detach', 'return when the cluster serves; t8s list shows it, and t8s down stops it'),
]

/** The objects of a start. */
const manifestFlags = (): readonly Option[] => [
  new Option(
    '--manifests <PATH>',
    'apply the manifests of this folder or file at the start, before the cluster is said to be ready; repeatable',
  ).argParser(repeated),
  new Option('--watch', 'apply --manifests again when they change, and delete objects whose manifest was removed'),
  new Option(
    '--wait [DURATION]',
    'wait until all nodes, Deployments, StatefulSets, DaemonSets and pods are ready, and fail after this time',
  )
    .preset('2m')
    .argParser(flags.positiveDurationMs),
]

/** The data directory, and the kubeconfigs that are written. */
const fileFlags = (): readonly Option[] => [
  new Option('--data-dir <DIR>', 'the directory for data, certificates and kubeconfig').default(
    flags.defaultDataDirectory,
  ),
  new Option('--memory', 'store nothing on the disk: the cluster ends with the process; its nodes are simulated'),
  new Option(
    '--etcd-servers <URLS>',
    'keep the data in this etcd, which other processes may share, and only certificates in --data-dir ' +
      '(docs/etcd.md); --etcd-cafile, --etcd-certfile, --etcd-keyfile and --etcd-prefix also work',
  ),
  new Option(
    '--accept-data-loss',
    'start although acknowledged changes are missing at the end of the damaged store; unreadable data is ' +
      'kept in files',
  ),
  new Option(
    '--kubeconfig <FILE>',
    "where to write the administrator's kubeconfig (default: kubeconfig in the data directory)",
  ),
  new Option(
    '--merge-kubeconfig',
    'also add the context t8s to $KUBECONFIG or ~/.kube/config, where kubectl would write it; t8s-2 if t8s ' +
      'belongs to another cluster there',
  ),
]

const servingFlags = (): readonly Option[] => [
  new Option('--bind-address <IP>', 'the address to listen on; 0.0.0.0 for all')
    .default('127.0.0.1')
    .argParser(flags.bindAddress),
  new Option('--secure-port <PORT>', 'the port to listen on; 0 for any free one').default(6443).argParser(flags.port),
  new Option('--token-auth-file <FILE>', 'bearer tokens to accept: lines of token,user,uid,"group1,group2"'),
  new Option(
    '--client-ca-file <FILE>',
    "accept client certificates of these authorities (PEM) in addition to the cluster's own",
  ),
  new Option('--tls-cert-file <FILE>', 'serve with this certificate (PEM, with its chain) instead of a generated one'),
  new Option('--tls-private-key-file <FILE>', 'the key of --tls-cert-file (PEM)'),
  new Option(
    '--runtime-config <KEY=BOOL>',
    'enable or disable APIs, such as api/beta=true; repeatable or comma-separated',
  ).argParser(flags.runtimeConfig),
]

const controllerFlags = (): readonly Option[] => [
  new Option(
    '--controllers <NAMES>',
    "controllers to run: '*' for all, 'name', '-name', comma-separated; '' for none",
  ).default('*,bootstrap-signer-controller,token-cleaner-controller', '*'),
  new Option(
    '--controller-manager-port <PORT>',
    'serve health and metrics of the controllers, as kube-controller-manager does (10257)',
  ).argParser(flags.port),
  new Option(
    '--enable-hostpath-provisioner',
    'create a default storage class whose volumes are directories in the data directory',
  ),
]

const schedulerFlags = (): readonly Option[] => [
  new Option('--scheduler', 'run the scheduler although the cluster has no nodes of its own'),
  new Option('--no-scheduler', 'run no scheduler, for use with your own'),
  new Option(
    '--scheduler-config <FILE>',
    'a KubeSchedulerConfiguration for the scheduler: profiles, plugins, extenders',
  ),
]

const compactionFlags = (): readonly Option[] => [
  new Option(
    '--compaction-interval <DURATION>',
    'interval of compactions, which delete old revisions (default: 5m)',
  ).argParser(flags.positiveDurationMs),
  new Option('--compaction-retention <DURATION>', 'minimum age of revisions that are deleted (default: 5m)').argParser(
    flags.durationMs,
  ),
]
