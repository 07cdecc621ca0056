/** The flags of kube-controller-manager 1.36, except those of single controllers, which are in `src/controllers/`. */
import { type FlagSet, idle, works } from '../../../apiserver/serving-flags/flag.ts'
import { global, logs, metrics } from '../../../apiserver/serving-flags/table/every-component.ts'

const noLocks = 'there are no locks'
const noCloud = 'there is no cloud provider in this program'
const noMigration = 'its controllers have no other place to run'
const tlsFixed = 'TLS is 1.2 or newer, with the ciphers that Node prefers'
const noProxies = 'clients authenticate with a certificate or a token of their own'
const noRecycling = 'volumes are deleted or retained, not recycled'

const debugging: FlagSet = {
  name: 'debugging',
  flags: [
    idle(noLocks, 'contention-profiling', 'bool', 'profile lock contention'),
    works('profiling', 'bool', 'serve profiles at /debug/pprof/', 'true'),
  ],
}

const migration: FlagSet = {
  name: 'leader-migration',
  flags: [
    idle(noMigration, 'enable-leader-migration', 'bool', 'share controllers with a cloud controller manager'),
    idle(noMigration, 'leader-migration-config', 'string', 'file that lists them'),
  ],
}

const generic: FlagSet = {
  name: 'generic',
  flags: [
    idle(noCloud, 'cloud-config', 'string', 'configuration file of the cloud provider'),
    idle(noCloud, 'cloud-provider', 'string', 'the cloud provider'),
    idle(
      'nodes get their ranges in order',
      'cidr-allocator-type',
      'string',
      'how node ranges are allocated',
      'RangeAllocator',
    ),
    idle(noCloud, 'cluster-name', 'string', "prefix of the cluster's resources at the cloud provider", 'kubernetes'),
    idle(noCloud, 'configure-cloud-routes', 'bool', 'create routes to the ranges of nodes', 'true'),
    idle(
      'all controllers start together',
      'controller-start-interval',
      'duration',
      'interval between the starts of two controllers',
    ),
    works(
      'controllers',
      'strings',
      "which controllers run: '*' for all that are on by default, 'name' turns one on, '-name' off",
      '*',
    ),
    idle('1.36 is the only version of the API', 'emulated-version', 'strings', 'version whose features are emulated'),
    idle(noCloud, 'external-cloud-volume-plugin', 'string', 'the plug-in for volumes of a cloud'),
    works('feature-gates', 'featureGates', 'features of 1.36 to turn on or off: Name=true|false, comma-separated'),
    works('kube-api-burst', 'int', 'burst of requests of each controller, if --kube-api-qps limits them', '30'),
    idle(
      'requests are sent as JSON',
      'kube-api-content-type',
      'string',
      'content type of requests to the API server',
      'application/vnd.kubernetes.protobuf',
    ),
    works(
      'kube-api-qps',
      'float',
      "requests per second of each controller; default: unlimited, since the server's fairness limits them",
    ),
    works('leader-elect', 'bool', 'run controllers only while this manager holds the lease', 'true'),
    works(
      'leader-elect-lease-duration',
      'duration',
      'how long other managers wait for a leader that does not renew',
      '15s',
    ),
    works(
      'leader-elect-renew-deadline',
      'duration',
      'how long a leader tries to renew its lease before it stops',
      '10s',
    ),
    works('leader-elect-resource-lock', 'string', 'kind of the lease; only leases is supported', 'leases'),
    works('leader-elect-resource-name', 'string', 'name of the lease', 'kube-controller-manager'),
    works('leader-elect-resource-namespace', 'string', 'namespace of the lease', 'kube-system'),
    works('leader-elect-retry-period', 'duration', 'how often the lease is renewed', '2s'),
    idle(
      'watches are relisted when needed',
      'min-resync-period',
      'duration',
      'how often all objects are reconciled',
      '12h0m0s',
    ),
    idle(noCloud, 'route-reconciliation-period', 'duration', 'how often routes are reconciled', '10s'),
    idle(noCloud, 'concurrent-service-syncs', 'int', 'number of load balancers created in parallel', '1'),
    works(
      'use-service-account-credentials',
      'bool',
      'give each controller its own service account, with tokens that are renewed',
    ),
  ],
}

const serving: FlagSet = {
  name: 'secure serving',
  flags: [
    works('bind-address', 'ip', 'address to listen on', '0.0.0.0'),
    idle('generated certificates are held in memory', 'cert-dir', 'string', 'directory for a generated certificate'),
    idle('both versions of HTTP are served', 'disable-http2-serving', 'bool', 'serve HTTP/1.1 only'),
    idle('Node limits the streams', 'http2-max-streams-per-connection', 'int', 'concurrent requests per connection'),
    idle('Node opens the port', 'permit-address-sharing', 'bool', 'listen with SO_REUSEADDR'),
    idle('Node opens the port', 'permit-port-sharing', 'bool', 'listen with SO_REUSEPORT'),
    works('secure-port', 'int', 'port to listen on; 0 for none', '10257'),
    works('tls-cert-file', 'string', 'serve with this certificate (PEM, with its chain) instead of a generated one'),
    idle(tlsFixed, 'tls-cipher-suites', 'strings', 'ciphers to accept'),
    idle(tlsFixed, 'tls-curve-preferences', 'strings', 'curves to accept'),
    idle(tlsFixed, 'tls-min-version', 'string', 'oldest version of TLS to accept'),
    works('tls-private-key-file', 'string', 'key of --tls-cert-file (PEM)'),
    idle('there is one certificate', 'tls-sni-cert-key', 'string', 'certificates by host name'),
  ],
}

const authentication: FlagSet = {
  name: 'authentication',
  flags: [
    works('authentication-kubeconfig', 'string', 'for TokenReviews; without it tokens are ignored'),
    works('authentication-skip-lookup', 'bool', 'do not read the client CA from the cluster'),
    works('authentication-token-webhook-cache-ttl', 'duration', 'how long the owner of a token is cached', '10s'),
    idle(
      'the lookup is retried until it succeeds',
      'authentication-tolerate-lookup-failure',
      'bool',
      'continue if the lookup fails',
    ),
    works(
      'client-ca-file',
      'string',
      'accept client certificates of these authorities (PEM); default: those of the cluster, read with ' +
        '--authentication-kubeconfig',
    ),
    idle(noProxies, 'requestheader-allowed-names', 'strings', 'allowed common names of front proxies'),
    idle(noProxies, 'requestheader-client-ca-file', 'string', 'authorities of front proxies'),
    idle(
      noProxies,
      'requestheader-extra-headers-prefix',
      'strings',
      'prefix of headers with extra fields of the user',
      'x-remote-extra-',
    ),
    idle(noProxies, 'requestheader-group-headers', 'strings', "headers with the user's groups", 'x-remote-group'),
    idle(noProxies, 'requestheader-uid-headers', 'strings', "headers with the user's uid"),
    idle(noProxies, 'requestheader-username-headers', 'strings', 'headers with the name of the user', 'x-remote-user'),
  ],
}

const authorization: FlagSet = {
  name: 'authorization',
  flags: [
    works('authorization-always-allow-paths', 'strings', 'paths that need no authorization', '/healthz,/readyz,/livez'),
    works(
      'authorization-kubeconfig',
      'string',
      'for SubjectAccessReviews; without it only system:masters may read other paths',
    ),
    works('authorization-webhook-cache-authorized-ttl', 'duration', 'how long allowed requests are cached', '10s'),
    works('authorization-webhook-cache-unauthorized-ttl', 'duration', 'how long denied requests are cached', '10s'),
  ],
}

/** Signers that can have their own authority, with the prefixes of their flags. */
export const signerFlags: Readonly<Record<string, string>> = {
  'kubernetes.io/kube-apiserver-client': 'cluster-signing-kube-apiserver-client',
  'kubernetes.io/kube-apiserver-client-kubelet': 'cluster-signing-kubelet-client',
  'kubernetes.io/kubelet-serving': 'cluster-signing-kubelet-serving',
  'kubernetes.io/legacy-unknown': 'cluster-signing-legacy-unknown',
}

const signing: FlagSet = {
  name: 'csrsigning controller',
  flags: [
    works('cluster-signing-cert-file', 'string', 'authority (PEM) that signs CertificateSigningRequests'),
    works('cluster-signing-key-file', 'string', 'key of --cluster-signing-cert-file (PEM)'),
    ...Object.entries(signerFlags).flatMap(([signer, prefix]) => [
      works(`${prefix}-cert-file`, 'string', `authority for ${signer} only; excludes --cluster-signing-cert-file`),
      works(`${prefix}-key-file`, 'string', `key of --${prefix}-cert-file`),
    ]),
  ],
}

const accounts: FlagSet = {
  name: 'serviceaccount controller',
  flags: [
    works(
      'root-ca-file',
      'string',
      'authorities (PEM) by which pods verify the API server; default: those of the kubeconfig',
    ),
    works(
      'service-account-private-key-file',
      'string',
      'key (PEM) that signs tokens for Secrets; without it none are created',
    ),
  ],
}

const others: FlagSet = {
  name: 'other controllers',
  flags: [
    idle(
      'failed attachments are always retried',
      'disable-attach-detach-reconcile-sync',
      'bool',
      'do not reconcile attachments periodically',
    ),
    idle('FlexVolume is not supported', 'flex-volume-plugin-dir', 'string', 'directory of volume plug-ins'),
    idle(noRecycling, 'pv-recycler-increment-timeout-nfs', 'int', 'seconds per gigabyte, for NFS', '30'),
    idle(noRecycling, 'pv-recycler-minimum-timeout-hostpath', 'int', 'minimum seconds, for host paths', '60'),
    idle(noRecycling, 'pv-recycler-minimum-timeout-nfs', 'int', 'minimum seconds, for NFS', '300'),
    idle(noRecycling, 'pv-recycler-pod-template-filepath-hostpath', 'string', 'pod that empties host paths'),
    idle(noRecycling, 'pv-recycler-pod-template-filepath-nfs', 'string', 'pod that empties NFS'),
    idle(noRecycling, 'pv-recycler-timeout-increment-hostpath', 'int', 'seconds per gigabyte, for host paths', '30'),
    idle('nodes get ranges of --cluster-cidr only', 'service-cluster-ip-range', 'string', 'addresses of Services'),
    idle(
      'one worker is enough',
      'concurrent-validating-admission-policy-status-syncs',
      'int',
      'number of policies processed in parallel',
      '5',
    ),
    idle(
      'one worker is enough',
      'concurrent-resource-claim-syncs',
      'int',
      'number of claims processed in parallel',
      '50',
    ),
    idle(
      'one worker is enough',
      'concurrent-device-taint-eviction-syncs',
      'int',
      'number of pods evicted in parallel',
      '50',
    ),
  ],
}

const misc: FlagSet = {
  name: 'misc',
  flags: [
    works('kubeconfig', 'string', 'kubeconfig of the cluster; default in a pod: its service account'),
    works('master', 'string', 'URL of the API server; overrides the kubeconfig'),
  ],
}

/** In upstream's order; the flags of controllers come between the two. */
export const before: readonly FlagSet[] = [debugging, migration, generic, serving, authentication, authorization]
export const after: readonly FlagSet[] = [
  signing,
  accounts,
  others,
  metrics,
  logs('0 is quiet, 4 adds stacks of errors'),
  misc,
  global('this Kubernetes'),
]
