/** Flags for the server as a whole: listeners, data storage, enabled APIs. */
import { type FlagSet, idle, works } from '../flag.ts'

const noEmulation = 'there is one version of the API only, 1.36'
const watchesMemory = 'reads and watches are always served from memory, whose bounds are fixed'

export const generic: FlagSet = {
  name: 'generic',
  flags: [
    works(
      'advertise-address',
      'ip',
      'the address by which pods reach this server; unless said, an address of the machine',
    ),
    works('cors-allowed-origins', 'strings', 'origins that browsers may send requests from, as regular expressions'),
    idle(noEmulation, 'emulated-version', 'strings', 'the version whose APIs and features are emulated'),
    idle(noEmulation, 'emulation-forward-compatible', 'bool', 'take flags of features newer than the emulated version'),
    works(
      'external-hostname',
      'string',
      'the host name in URLs that the server makes; unless said, the address that it listens on',
    ),
    works('feature-gates', 'featureGates', 'features of 1.36 to turn on or off: Name=true|false, comma-separated'),
    works(
      'goaway-chance',
      'float',
      'the share of HTTP/2 requests whose connection is closed, so that clients spread: 0 to 0.02',
    ),
    works('livez-grace-period', 'duration', 'how long /livez overlooks what the start has not done yet'),
    works('max-mutating-requests-inflight', 'int', 'how many writes may be under way at once; 0 for no limit', '200'),
    works('max-requests-inflight', 'int', 'how many reads may be under way at once; 0 for no limit', '400'),
    idle(
      noEmulation,
      'min-compatibility-version',
      'strings',
      'the oldest version that other servers of the cluster may have',
    ),
    works('min-request-timeout', 'int', 'how long watches last at least, in seconds', '1800'),
    works('request-timeout', 'duration', 'how long a request that is no watch may take', '1m0s'),
    idle(
      noEmulation,
      'runtime-config-emulation-forward-compatible',
      'bool',
      'take APIs newer than the emulated version in --runtime-config',
    ),
    works('shutdown-delay-duration', 'duration', 'how long the server goes on serving after it was told to end'),
    works('shutdown-send-retry-after', 'bool', 'answer 429 while the server ends'),
    works(
      'shutdown-watch-termination-grace-period',
      'duration',
      'how long clients of watches may take to read the rest while the server ends',
    ),
    idle(
      'the store is ready before the server listens',
      'storage-initialization-timeout',
      'duration',
      'how long the start waits for the store',
      '1m0s',
    ),
    works('strict-transport-security-directives', 'strings', 'what the header Strict-Transport-Security says'),
  ],
}

export const etcd: FlagSet = {
  name: 'etcd',
  flags: [
    idle(
      'a collection is deleted in one go',
      'delete-collection-workers',
      'int',
      'how many objects of a collection are deleted at once',
      '1',
    ),
    idle(
      'finalizers always wait for the garbage collector',
      'enable-garbage-collector',
      'bool',
      'let finalizers wait for the garbage collector',
      'true',
    ),
    works('encryption-provider-config', 'string', 'the file that says how stored objects are encrypted'),
    works(
      'encryption-provider-config-automatic-reload',
      'bool',
      'read the file about encryption again when it changes',
    ),
    works('etcd-cafile', 'string', 'the file with the authorities of certificates of etcd'),
    works('etcd-certfile', 'string', 'the file with the client certificate for etcd'),
    works('etcd-compaction-interval', 'duration', 'how often old revisions are forgotten; 0 for never', '5m0s'),
    works(
      'etcd-count-metric-poll-period',
      'duration',
      'how often the stored objects are counted for metrics; 0 for never',
      '1m0s',
    ),
    works(
      'etcd-db-metric-poll-interval',
      'duration',
      "how often the size of etcd's database is read; 0 for never",
      '30s',
    ),
    works('etcd-healthcheck-timeout', 'duration', 'how long the store may take to answer the check etcd', '2s'),
    works('etcd-keyfile', 'string', 'the file with the key of the client certificate for etcd'),
    works('etcd-prefix', 'string', 'the prefix of all keys in --etcd-servers', '/registry'),
    works(
      'etcd-readycheck-timeout',
      'duration',
      'how long the store may take to answer the check etcd-readiness',
      '2s',
    ),
    works(
      'etcd-servers',
      'strings',
      'the URLs of etcd, the nearest member first; several servers may share it; unless said, data are in --data-dir',
    ),
    works(
      'etcd-servers-overrides',
      'strings',
      'other servers for some resources: group/resource#URL;URL, with an empty group for core resources',
    ),
    works('event-ttl', 'duration', 'how long events are kept after they were written last; 0 for ever', '1h0m0s'),
    works('lease-reuse-duration-seconds', 'int', 'how long keys that expire share a lease of etcd, in seconds', '60'),
    idle(watchesMemory, 'default-watch-cache-size', 'int', 'changes of a resource that are kept', '100'),
    works('storage-backend', 'string', 'the kind of store of --etcd-servers: etcd3'),
    works(
      'storage-media-type',
      'string',
      'the encoding of stored objects of built-in kinds: application/json, application/vnd.kubernetes.protobuf or ' +
        'application/yaml',
      'application/json',
    ),
    idle(watchesMemory, 'watch-cache', 'bool', 'serve reads and watches from memory', 'true'),
    idle(watchesMemory, 'watch-cache-sizes', 'strings', 'changes that are kept, by resource: pods#100'),
  ],
}

export const secureServing: FlagSet = {
  name: 'secure serving',
  flags: [
    works('bind-address', 'ip', 'the address to listen on; 0.0.0.0 or :: for all', '0.0.0.0'),
    works(
      'cert-dir',
      'string',
      'where apiserver.crt and apiserver.key are, or are made if they are missing; unless said, pki in the data ' +
        'directory',
    ),
    works('disable-http2-serving', 'bool', 'serve HTTP/1.1 only'),
    works('http2-max-streams-per-connection', 'int', 'requests at once on a connection'),
    idle('a port that is free is taken at once', 'permit-address-sharing', 'bool', 'listen with SO_REUSEADDR'),
    idle('a port has one server', 'permit-port-sharing', 'bool', 'listen with SO_REUSEPORT'),
    works('secure-port', 'int', 'the port to listen on; 0 for any free one', '6443'),
    works('tls-cert-file', 'string', 'the certificate to serve with (PEM, with its chain)'),
    works(
      'tls-cipher-suites',
      'strings',
      'cipher suites to offer in TLS 1.2, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256; unless said, those of Node',
    ),
    works(
      'tls-min-version',
      'string',
      'the oldest version of TLS to speak: VersionTLS12 (spoken for VersionTLS10 and VersionTLS11, too), VersionTLS13',
    ),
    works('tls-private-key-file', 'string', 'the key of --tls-cert-file (PEM)'),
    works(
      'tls-sni-cert-key',
      'namedCertKey',
      'a further certificate with its key, for the names of the certificate or for those given: ' +
        'foo.crt,foo.key:*.foo.com,foo.com',
    ),
  ],
}

export const enablement: FlagSet = {
  name: 'API enablement',
  flags: [works('runtime-config', 'stringToString', 'APIs to turn on or off: api/beta=true, batch/v1=false, …')],
}

const noEgress = 'connections are made directly'

export const egress: FlagSet = {
  name: 'egress selector',
  flags: [idle(noEgress, 'egress-selector-config-file', 'string', 'the file about proxies for outgoing connections')],
}

const noPeer = 'servers of a cluster do not pass requests to each other'
const endpointsAlways =
  'aggregated servers are reached by the addresses of their pods, and their redirects are passed on'

export const misc: FlagSet = {
  name: 'misc',
  flags: [
    idle(
      endpointsAlways,
      'aggregator-reject-forwarding-redirect',
      'bool',
      'refuse redirects of aggregated servers',
      'true',
    ),
    works('allow-privileged', 'bool', 'take pods with privileged containers'),
    works('apiserver-count', 'int', 'how many servers the cluster has, for the reconciler master-count', '1'),
    idle(
      'no leases are coordinated',
      'coordinated-leadership-lease-duration',
      'duration',
      'how long a lease is good',
      '15s',
    ),
    idle(
      'no leases are coordinated',
      'coordinated-leadership-renew-deadline',
      'duration',
      'how long a leader tries to renew its lease',
      '10s',
    ),
    idle(
      'no leases are coordinated',
      'coordinated-leadership-retry-period',
      'duration',
      'how often a lease is tried for',
      '2s',
    ),
    idle(
      endpointsAlways,
      'enable-aggregator-routing',
      'bool',
      'reach aggregated servers by the addresses of their pods',
    ),
    idle('logs of the node are not served', 'enable-logs-handler', 'bool', 'serve /logs'),
    works(
      'endpoint-reconciler-type',
      'string',
      'whose addresses are the endpoints of the Service kubernetes: those of living servers (lease), of at most ' +
        '--apiserver-count servers (master-count), or none',
      'lease',
    ),
    works(
      'kubelet-certificate-authority',
      'string',
      'the authority of kubelets; without it their certificates are not checked',
    ),
    works('kubelet-client-certificate', 'string', 'the client certificate for kubelets'),
    works('kubelet-client-key', 'string', 'the key of the client certificate for kubelets'),
    works(
      'kubelet-preferred-address-types',
      'strings',
      'which addresses of nodes to call',
      'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
    ),
    idle(
      'connections to kubelets are given up after 30s',
      'kubelet-timeout',
      'duration',
      'how long a kubelet may take',
      '5s',
    ),
    idle(
      'the Service kubernetes has a cluster IP',
      'kubernetes-service-node-port',
      'int',
      'the node port of the Service kubernetes',
    ),
    idle('connections are not slowed down', 'max-connection-bytes-per-sec', 'int', 'bytes a second for a connection'),
    idle(noPeer, 'peer-advertise-ip', 'string', 'the address by which other servers reach this one'),
    idle(noPeer, 'peer-advertise-port', 'string', 'the port by which other servers reach this one'),
    idle(noPeer, 'peer-ca-file', 'string', 'the authority of other servers'),
    works('proxy-client-cert-file', 'string', 'the client certificate for aggregated servers'),
    works('proxy-client-key-file', 'string', 'the key of the client certificate for aggregated servers'),
    idle(
      'tokens are signed here',
      'service-account-signing-endpoint',
      'string',
      'the socket of a program that signs tokens',
    ),
    works('service-account-signing-key-file', 'string', 'the private key that signs service account tokens (PEM)'),
    works(
      'service-cluster-ip-range',
      'string',
      'addresses for Services: one range, or one of IPv4 and one of IPv6',
      '10.0.0.0/24',
    ),
    works('service-node-port-range', 'portRange', 'ports for Services of type NodePort', '30000-32767'),
  ],
}
