/**
 * The flags of kube-controller-manager 1.36, but for those that are of one controller: they stand with it, in
 * `src/controllers/`.
 */
import { type FlagSet, idle, works } from '../../../apiserver/serving-flags/flag.ts'
import { global, logs, metrics } from '../../../apiserver/serving-flags/table/every-component.ts'

const noLocks = 'there are no locks to wait for'
const noCloud = 'there is no cloud provider in this program'
const noMigration = 'its controllers run nowhere else'
const tlsFixed = 'TLS is 1.2 or newer, with the ciphers that Node prefers'
const noProxies = 'who asks shows a certificate or a token of their own'
const noRecycling = 'volumes are not recycled, but deleted or kept'

const debugging: FlagSet = {
  name: 'debugging',
  flags: [
    idle(noLocks, 'contention-profiling', 'bool', 'note where locks are waited for'),
    works('profiling', 'bool', 'serve profiles at /debug/pprof/', 'true'),
  ],
}

const migration: FlagSet = {
  name: 'leader-migration',
  flags: [
    idle(noMigration, 'enable-leader-migration', 'bool', 'share controllers with a cloud controller manager'),
    idle(noMigration, 'leader-migration-config', 'string', 'the file that says which'),
  ],
}

const generic: FlagSet = {
  name: 'generic',
  flags: [
    idle(noCloud, 'cloud-config', 'string', 'the file about the cloud provider'),
    idle(noCloud, 'cloud-provider', 'string', 'the cloud provider'),
    idle(
      'nodes get their ranges in order',
      'cidr-allocator-type',
      'string',
      'how ranges are given to nodes',
      'RangeAllocator',
    ),
    idle(
      noCloud,
      'cluster-name',
      'string',
      'what things of this cluster are called at the cloud provider',
      'kubernetes',
    ),
    idle(noCloud, 'configure-cloud-routes', 'bool', 'make routes to the ranges of nodes', 'true'),
    idle(
      'all controllers start at once',
      'controller-start-interval',
      'duration',
      'how long to wait between two controllers',
    ),
    works(
      'controllers',
      'strings',
      "which controllers run: '*' for all that are on by default, 'name' turns one on, '-name' off",
      '*',
    ),
    idle(
      'there is one version of the API only, 1.36',
      'emulated-version',
      'strings',
      'the version whose features are emulated',
    ),
    idle(noCloud, 'external-cloud-volume-plugin', 'string', 'the plug-in for volumes of a cloud'),
    works('feature-gates', 'featureGates', 'features of 1.36 to turn on or off: Name=true|false, comma-separated'),
    works(
      'kube-api-burst',
      'int',
      'how many requests each controller may send at once, where --kube-api-qps limits them',
      '30',
    ),
    idle(
      'the API is spoken in JSON',
      'kube-api-content-type',
      'string',
      'what is spoken to the API server',
      'application/vnd.kubernetes.protobuf',
    ),
    works(
      'kube-api-qps',
      'float',
      "how many requests a second each controller may send; unlimited unless said: the server's fairness decides",
    ),
    works(
      'leader-elect',
      'bool',
      'run controllers only while this manager holds the lease that all of the cluster ask for',
      'true',
    ),
    works('leader-elect-lease-duration', 'duration', 'how long the others wait for a leader that is silent', '15s'),
    works(
      'leader-elect-renew-deadline',
      'duration',
      'how long a leader tries to renew its lease before it gives up',
      '10s',
    ),
    works('leader-elect-resource-lock', 'string', 'what the lease is; leases is the only kind there is', 'leases'),
    works('leader-elect-resource-name', 'string', 'the name of the lease', 'kube-controller-manager'),
    works('leader-elect-resource-namespace', 'string', 'the namespace of the lease', 'kube-system'),
    works('leader-elect-retry-period', 'duration', 'how often the lease is renewed', '2s'),
    idle(
      'what is watched is listed again when that is needed',
      'min-resync-period',
      'duration',
      'how often everything is looked at again',
      '12h0m0s',
    ),
    idle(noCloud, 'route-reconciliation-period', 'duration', 'how often routes are looked at', '10s'),
    idle(noCloud, 'concurrent-service-syncs', 'int', 'how many load balancers are made at once', '1'),
    works(
      'use-service-account-credentials',
      'bool',
      'act as a service account of its own in each controller, by tokens that are asked for and renewed',
    ),
  ],
}

const serving: FlagSet = {
  name: 'secure serving',
  flags: [
    works('bind-address', 'ip', 'the address to listen on', '0.0.0.0'),
    idle(
      'a certificate that is made lives in memory',
      'cert-dir',
      'string',
      'where a certificate that is made is kept',
    ),
    idle('both versions of HTTP are spoken', 'disable-http2-serving', 'bool', 'speak HTTP/1.1 alone'),
    idle(
      'streams are as many as Node takes',
      'http2-max-streams-per-connection',
      'int',
      'how many requests a connection may carry at once',
    ),
    idle('Node opens its ports as it does', 'permit-address-sharing', 'bool', 'listen with SO_REUSEADDR'),
    idle('Node opens its ports as it does', 'permit-port-sharing', 'bool', 'listen with SO_REUSEPORT'),
    works('secure-port', 'int', 'the port to listen on; 0 for none', '10257'),
    works('tls-cert-file', 'string', 'serve with this certificate (PEM, with its chain) instead of one made here'),
    idle(tlsFixed, 'tls-cipher-suites', 'strings', 'the ciphers to take'),
    idle(tlsFixed, 'tls-curve-preferences', 'strings', 'the curves to take'),
    idle(tlsFixed, 'tls-min-version', 'string', 'the oldest version of TLS to take'),
    works('tls-private-key-file', 'string', 'the key of --tls-cert-file (PEM)'),
    idle('there is one certificate', 'tls-sni-cert-key', 'string', 'certificates by host name'),
  ],
}

const authentication: FlagSet = {
  name: 'authentication',
  flags: [
    works('authentication-kubeconfig', 'string', 'by which TokenReviews are asked for; without it tokens say nothing'),
    works('authentication-skip-lookup', 'bool', 'do not look for authorities of client certificates in the cluster'),
    works('authentication-token-webhook-cache-ttl', 'duration', 'how long it is known whose token one is', '10s'),
    idle(
      'it is looked for again until it is found',
      'authentication-tolerate-lookup-failure',
      'bool',
      'go on where the lookup fails',
    ),
    works(
      'client-ca-file',
      'string',
      'accept client certificates of these authorities (PEM); those of the cluster unless said, by ' +
        '--authentication-kubeconfig',
    ),
    idle(noProxies, 'requestheader-allowed-names', 'strings', 'common names that front proxies may have'),
    idle(noProxies, 'requestheader-client-ca-file', 'string', 'authorities of front proxies'),
    idle(
      noProxies,
      'requestheader-extra-headers-prefix',
      'strings',
      'how headers with more about the user begin',
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
    works('authorization-always-allow-paths', 'strings', 'what everybody may read', '/healthz,/readyz,/livez'),
    works(
      'authorization-kubeconfig',
      'string',
      'by which SubjectAccessReviews are asked for; without it only system:masters may read the rest',
    ),
    works('authorization-webhook-cache-authorized-ttl', 'duration', 'how long a yes is kept', '10s'),
    works('authorization-webhook-cache-unauthorized-ttl', 'duration', 'how long a no is kept', '10s'),
  ],
}

/** The signers that may have an authority of their own. */
export const signerFlags: Readonly<Record<string, string>> = {
  'kubernetes.io/kube-apiserver-client': 'cluster-signing-kube-apiserver-client',
  'kubernetes.io/kube-apiserver-client-kubelet': 'cluster-signing-kubelet-client',
  'kubernetes.io/kubelet-serving': 'cluster-signing-kubelet-serving',
  'kubernetes.io/legacy-unknown': 'cluster-signing-legacy-unknown',
}

const signing: FlagSet = {
  name: 'csrsigning controller',
  flags: [
    works(
      'cluster-signing-cert-file',
      'string',
      'the authority (PEM) that signs what is asked for in CertificateSigningRequests',
    ),
    works('cluster-signing-key-file', 'string', 'its key (PEM)'),
    ...Object.entries(signerFlags).flatMap(([signer, prefix]) => [
      works(
        `${prefix}-cert-file`,
        'string',
        `an authority for ${signer} alone; then --cluster-signing-cert-file must not be given`,
      ),
      works(`${prefix}-key-file`, 'string', 'its key'),
    ]),
  ],
}

const accounts: FlagSet = {
  name: 'serviceaccount controller',
  flags: [
    works(
      'root-ca-file',
      'string',
      'the authorities (PEM) by which pods know the API server; those of the kubeconfig unless said',
    ),
    works(
      'service-account-private-key-file',
      'string',
      'the key (PEM) that signs tokens for Secrets; without it there are none',
    ),
  ],
}

const others: FlagSet = {
  name: 'other controllers',
  flags: [
    idle(
      'what cannot be attached is always looked at again',
      'disable-attach-detach-reconcile-sync',
      'bool',
      'do not look at attachments again',
    ),
    idle('there are no such plug-ins', 'flex-volume-plugin-dir', 'string', 'where plug-ins for volumes lie'),
    idle(noRecycling, 'pv-recycler-increment-timeout-nfs', 'int', 'seconds a gigabyte, for NFS', '30'),
    idle(noRecycling, 'pv-recycler-minimum-timeout-hostpath', 'int', 'the least seconds, for host paths', '60'),
    idle(noRecycling, 'pv-recycler-minimum-timeout-nfs', 'int', 'the least seconds, for NFS', '300'),
    idle(noRecycling, 'pv-recycler-pod-template-filepath-hostpath', 'string', 'the pod that empties host paths'),
    idle(noRecycling, 'pv-recycler-pod-template-filepath-nfs', 'string', 'the pod that empties NFS'),
    idle(noRecycling, 'pv-recycler-timeout-increment-hostpath', 'int', 'seconds a gigabyte, for host paths', '30'),
    idle('nodes get ranges of --cluster-cidr alone', 'service-cluster-ip-range', 'string', 'addresses of Services'),
    idle(
      'one worker is enough',
      'concurrent-validating-admission-policy-status-syncs',
      'int',
      'how many policies are looked at at once',
      '5',
    ),
    idle(
      'one worker is enough',
      'concurrent-resource-claim-syncs',
      'int',
      'how many claims are looked at at once',
      '50',
    ),
    idle(
      'one worker is enough',
      'concurrent-device-taint-eviction-syncs',
      'int',
      'how many pods are evicted at once',
      '50',
    ),
  ],
}

const misc: FlagSet = {
  name: 'misc',
  flags: [
    works('kubeconfig', 'string', 'which cluster, and as whom; in a pod, its account unless said'),
    works('master', 'string', 'the URL of the API server, in place of that of the kubeconfig'),
  ],
}

/** In upstream's order; those of controllers come between the two. */
export const before: readonly FlagSet[] = [debugging, migration, generic, serving, authentication, authorization]
export const after: readonly FlagSet[] = [
  signing,
  accounts,
  others,
  metrics,
  logs('0 is calm, 4 shows where errors come from'),
  misc,
  global('Kubernetes that this is'),
]
