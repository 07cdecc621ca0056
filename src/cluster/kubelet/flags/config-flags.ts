/** The flags of the kubelet that are fields of its KubeletConfiguration, which they override. */
import { featureSettings } from '../../../apiserver/feature-gates/index.ts'
import type { FlagType } from '../../../apiserver/serving-flags/flag.ts'
import { FlagError, type FlagValues } from '../../../apiserver/serving-flags/parse.ts'
import { idleReason } from '../../../kubelet/configuration/idle-fields.ts'
import type { WrittenConfiguration, WrittenTaint } from '../../../kubelet/configuration/shape.ts'
import { type ConfigFlag, fieldsOfFlags } from '../../options/configuration-flags.ts'

const of = (name: string, type: FlagType, field: string, help: string, usual?: string): ConfigFlag => ({
  name,
  type,
  field,
  help,
  usual,
  idle: idleReason(field.split('.', 1)[0]!),
})

/** A flag whose value has a syntax of its own. */
const read = (flag: ConfigFlag, parse: NonNullable<ConfigFlag['read']>): ConfigFlag => ({ ...flag, read: parse })

/** The servers: addresses, certificates, access. */
export const serverFlags: readonly ConfigFlag[] = [
  of('address', 'ip', 'address', 'the address of the HTTPS server', '0.0.0.0'),
  of('port', 'int', 'port', 'the port of the HTTPS server; 0 is any free one', '10250'),
  of('read-only-port', 'int', 'readOnlyPort', 'the port of read-only access without authentication; 0 turns it off'),
  of('healthz-port', 'int', 'healthzPort', 'the port of health checks; 0 turns it off', '10248'),
  of('healthz-bind-address', 'ip', 'healthzBindAddress', 'the address of health checks', '127.0.0.1'),
  of('enable-server', 'bool', 'enableServer', 'serve HTTPS', 'true'),
  of('anonymous-auth', 'bool', 'authentication.anonymous.enabled', 'accept requests without credentials'),
  of(
    'authentication-token-webhook',
    'bool',
    'authentication.webhook.enabled',
    'verify bearer tokens with TokenReviews',
    'true',
  ),
  of(
    'authentication-token-webhook-cache-ttl',
    'duration',
    'authentication.webhook.cacheTTL',
    'how long verified tokens are cached',
    '2m0s',
  ),
  of(
    'authorization-mode',
    'string',
    'authorization.mode',
    'how requests are authorized: Webhook (with SubjectAccessReviews) or AlwaysAllow',
    'Webhook',
  ),
  of(
    'authorization-webhook-cache-authorized-ttl',
    'duration',
    'authorization.webhook.cacheAuthorizedTTL',
    'how long allowed requests are cached',
    '5m0s',
  ),
  of(
    'authorization-webhook-cache-unauthorized-ttl',
    'duration',
    'authorization.webhook.cacheUnauthorizedTTL',
    'how long denied requests are cached',
    '30s',
  ),
  of(
    'client-ca-file',
    'string',
    'authentication.x509.clientCAFile',
    'the authorities of client certificates; default: those of --kubeconfig',
  ),
  of('tls-cert-file', 'string', 'tlsCertFile', 'the serving certificate; default: one that the kubelet signs itself'),
  of('tls-private-key-file', 'string', 'tlsPrivateKeyFile', 'the key of --tls-cert-file'),
  of('tls-cipher-suites', 'strings', 'tlsCipherSuites', 'the cipher suites of TLS 1.2, with their names in Go'),
  of('tls-min-version', 'string', 'tlsMinVersion', 'the oldest version of TLS: VersionTLS12 or VersionTLS13'),
  of('rotate-certificates', 'bool', 'rotateCertificates', 'renew the client certificate before it expires'),
  of(
    'rotate-server-certificates',
    'bool',
    'serverTLSBootstrap',
    'request the serving certificate from the cluster, where somebody must approve it, and renew it',
  ),
  of(
    'enable-debugging-handlers',
    'bool',
    'enableDebuggingHandlers',
    'serve logs, exec, attach and port-forward',
    'true',
  ),
  of(
    'streaming-connection-idle-timeout',
    'duration',
    'streamingConnectionIdleTimeout',
    'how long an idle stream lives',
    '4h0m0s',
  ),
  of('contention-profiling', 'bool', 'enableContentionProfiling', 'profile lock contention'),
]

/** The node and its pods. */
export const nodeFlags: readonly ConfigFlag[] = [
  of('register-node', 'bool', 'registerNode', 'register the node', 'true'),
  read(
    of('register-with-taints', 'strings', 'registerWithTaints', 'taints of the registered node: KEY=VALUE:EFFECT'),
    taints,
  ),
  of('provider-id', 'string', 'providerID', "the node's ID at its cloud provider"),
  of(
    'node-status-update-frequency',
    'duration',
    'nodeStatusUpdateFrequency',
    "how often the node's status is checked",
    '10s',
  ),
  of('node-status-max-images', 'int', 'nodeStatusMaxImages', "images in the node's status; -1 means all", '50'),
  of('max-pods', 'int', 'maxPods', 'pods that the node may run', '110'),
  of('pods-per-core', 'int', 'podsPerCore', 'pods for each processor, --max-pods at most; 0 means no such limit'),
  of('pod-max-pids', 'int', 'podPidsLimit', 'processes of a pod; -1 means no limit of its own', '-1'),
  of('pod-manifest-path', 'string', 'staticPodPath', 'the folder or file of static pods'),
  of('file-check-frequency', 'duration', 'fileCheckFrequency', 'how often static pods are read', '20s'),
  of('manifest-url', 'string', 'staticPodURL', 'a URL of static pods'),
  read(of('manifest-url-header', 'strings', 'staticPodURLHeader', 'headers of requests to it: NAME:VALUE'), headers),
  of('http-check-frequency', 'duration', 'httpCheckFrequency', 'how often it is read', '20s'),
  of('sync-frequency', 'duration', 'syncFrequency', 'how often pods are compared with the runtime', '1m0s'),
  of('cluster-dns', 'strings', 'clusterDNS', "addresses of the cluster's DNS service"),
  of('cluster-domain', 'string', 'clusterDomain', 'the domain of the cluster'),
  of('resolv-conf', 'string', 'resolvConf', "the node's resolver configuration", '/etc/resolv.conf'),
  of('pod-cidr', 'string', 'podCIDR', 'the range of pods until the cluster has given the node one'),
  of('hairpin-mode', 'string', 'hairpinMode', 'how pods reach themselves through a Service', 'promiscuous-bridge'),
  of('make-iptables-util-chains', 'bool', 'makeIPTablesUtilChains', 'maintain chains of iptables', 'true'),
  of(
    'allowed-unsafe-sysctls',
    'strings',
    'allowedUnsafeSysctls',
    'unsafe sysctls that pods may set; a final * matches any suffix',
  ),
  read(
    of('feature-gates', 'featureGates', 'featureGates', 'features of 1.36 to turn on or off: Name=true|false'),
    (values, name) => featureSettings(values.all(name)),
  ),
  of(
    'enable-controller-attach-detach',
    'bool',
    'enableControllerAttachDetach',
    'leave attaching to the controller',
    'true',
  ),
  of('volume-plugin-dir', 'string', 'volumePluginDir', 'the folder of Flexvolume plug-ins'),
  of('volume-stats-agg-period', 'duration', 'volumeStatsAggPeriod', 'how often volumes are measured', '1m0s'),
  of('local-storage-capacity-isolation', 'bool', 'localStorageCapacityIsolation', 'limit local storage', 'true'),
  of('kube-api-qps', 'int', 'kubeAPIQPS', 'requests per second to the API server; 0 means no limit'),
  of('kube-api-burst', 'int', 'kubeAPIBurst', 'burst of requests to the API server', '100'),
  of('kube-api-content-type', 'string', 'contentType', 'content type of these requests'),
  of('event-qps', 'int', 'eventRecordQPS', 'events per second', '50'),
  of('event-burst', 'int', 'eventBurst', 'burst of events', '100'),
]

/** The container runtime, images and logs. */
export const runtimeFlags: readonly ConfigFlag[] = [
  of(
    'container-runtime-endpoint',
    'string',
    'containerRuntimeEndpoint',
    'the socket of the container runtime',
    'unix:///run/containerd/containerd.sock',
  ),
  of(
    'image-service-endpoint',
    'string',
    'imageServiceEndpoint',
    'the socket of the image service; default: that of the runtime',
  ),
  of(
    'runtime-request-timeout',
    'duration',
    'runtimeRequestTimeout',
    'the time limit of most calls of the runtime',
    '2m0s',
  ),
  of('serialize-image-pulls', 'bool', 'serializeImagePulls', 'pull one image at a time', 'true'),
  of('registry-qps', 'int', 'registryPullQPS', 'pulls per second; 0 means no limit', '5'),
  of('registry-burst', 'int', 'registryBurst', 'burst of pulls', '10'),
  of(
    'image-gc-high-threshold',
    'int',
    'imageGCHighThresholdPercent',
    'percent of the disk at which images are removed',
    '85',
  ),
  of(
    'image-gc-low-threshold',
    'int',
    'imageGCLowThresholdPercent',
    'percent of the disk down to which they are removed',
    '80',
  ),
  of(
    'minimum-image-ttl-duration',
    'duration',
    'imageMinimumGCAge',
    'the age of an unused image before it is removed',
    '2m0s',
  ),
  of('container-log-max-files', 'int', 'containerLogMaxFiles', 'log files of a container', '5'),
  of('container-log-max-size', 'string', 'containerLogMaxSize', 'the size of a log file', '10Mi'),
  of('pod-logs-dir', 'string', 'podLogsDir', 'the folder of the logs of pods', '/var/log/pods'),
]

/** Resources, cgroups and evictions. */
export const resourceFlags: readonly ConfigFlag[] = [
  of('cgroup-driver', 'string', 'cgroupDriver', 'who manages cgroups: cgroupfs or systemd', 'cgroupfs'),
  of('cgroup-root', 'string', 'cgroupRoot', 'the cgroup of all pods'),
  of('cgroups-per-qos', 'bool', 'cgroupsPerQOS', 'create cgroups for the classes of service', 'true'),
  of('kubelet-cgroups', 'string', 'kubeletCgroups', 'the cgroup of the kubelet'),
  of('system-cgroups', 'string', 'systemCgroups', 'the cgroup of other processes'),
  of('system-reserved', 'stringToString', 'systemReserved', 'resources of the system: cpu=200m,memory=500Mi'),
  of('kube-reserved', 'stringToString', 'kubeReserved', 'resources of Kubernetes: cpu=200m,memory=500Mi'),
  of('system-reserved-cgroup', 'string', 'systemReservedCgroup', 'the cgroup of --system-reserved'),
  of('kube-reserved-cgroup', 'string', 'kubeReservedCgroup', 'the cgroup of --kube-reserved'),
  of('enforce-node-allocatable', 'strings', 'enforceNodeAllocatable', 'what is enforced: pods, none', 'pods'),
  read(of('eviction-hard', 'strings', 'evictionHard', 'thresholds of evictions: memory.available<100Mi'), thresholds),
  read(of('eviction-soft', 'strings', 'evictionSoft', 'thresholds of evictions after a grace period'), thresholds),
  of(
    'eviction-soft-grace-period',
    'stringToString',
    'evictionSoftGracePeriod',
    'these periods: memory.available=1m30s',
  ),
  of(
    'eviction-pressure-transition-period',
    'duration',
    'evictionPressureTransitionPeriod',
    'how long pressure is reported at least',
    '5m0s',
  ),
  of(
    'eviction-max-pod-grace-period',
    'int',
    'evictionMaxPodGracePeriod',
    'the longest grace period of soft evictions, in seconds',
  ),
  of('eviction-minimum-reclaim', 'stringToString', 'evictionMinimumReclaim', 'how much an eviction frees at least'),
  of('kernel-memcg-notification', 'bool', 'kernelMemcgNotification', 'watch thresholds of memory in the kernel'),
  of('cpu-cfs-quota', 'bool', 'cpuCFSQuota', 'enforce CPU limits', 'true'),
  of('cpu-cfs-quota-period', 'duration', 'cpuCFSQuotaPeriod', 'the period of CPU limits', '100ms'),
  of('cpu-manager-policy', 'string', 'cpuManagerPolicy', 'none or static', 'none'),
  of('cpu-manager-policy-options', 'stringToString', 'cpuManagerPolicyOptions', 'its options'),
  of('cpu-manager-reconcile-period', 'duration', 'cpuManagerReconcilePeriod', 'how often it runs', '10s'),
  of('memory-manager-policy', 'string', 'memoryManagerPolicy', 'None or Static', 'None'),
  of(
    'topology-manager-policy',
    'string',
    'topologyManagerPolicy',
    'none, best-effort, restricted or single-numa-node',
    'none',
  ),
  of('topology-manager-policy-options', 'stringToString', 'topologyManagerPolicyOptions', 'its options'),
  of('topology-manager-scope', 'string', 'topologyManagerScope', 'container or pod', 'container'),
  of('qos-reserved', 'stringToString', 'qosReserved', 'memory that is reserved for a class of service'),
  of('reserved-cpus', 'string', 'reservedSystemCPUs', 'processors of the system'),
  read(of('reserved-memory', 'stringArray', 'reservedMemory', 'memory of NUMA nodes'), () => undefined),
  of('fail-swap-on', 'bool', 'failSwapOn', 'do not start if swap is on', 'true'),
  of('fail-cgroupv1', 'bool', 'failCgroupV1', 'do not start with cgroup v1'),
  of(
    'protect-kernel-defaults',
    'bool',
    'protectKernelDefaults',
    'do not set parameters of the kernel: fail if they differ',
  ),
  of('seccomp-default', 'bool', 'seccompDefault', 'use RuntimeDefault as the seccomp profile of all workloads'),
  of('oom-score-adj', 'int', 'oomScoreAdj', 'the adjustment of the OOM killer for the kubelet', '-999'),
  of('max-open-files', 'int', 'maxOpenFiles', 'files that the kubelet may open', '1000000'),
  of('runonce', 'bool', 'runOnce', 'end after the start of the static pods'),
]

export const configFlags: readonly ConfigFlag[] = [...serverFlags, ...nodeFlags, ...runtimeFlags, ...resourceFlags]

/** The given flags as fields. Throws a FlagError for values with a wrong syntax. */
export const writtenByFlags = (values: FlagValues): WrittenConfiguration => fieldsOfFlags(configFlags, values)

function thresholds(values: FlagValues, name: string): Record<string, string> {
  const pairs = (values.list(name) ?? []).filter(Boolean).map((text) => {
    const at = text.indexOf('<')
    if (at <= 0)
      throw new FlagError(
        `invalid argument ${JSON.stringify(text)} for "--${name}" flag: malformed pair, expect string<string`,
      )
    return [text.slice(0, at).trim(), text.slice(at + 1).trim()] as const
  })
  return Object.fromEntries(pairs)
}

function taints(values: FlagValues, name: string): WrittenTaint[] {
  return (values.list(name) ?? []).filter(Boolean).map((text) => {
    const [, key, value = '', effect] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(text) ?? []
    if (!key || !effect)
      throw new FlagError(`invalid argument ${JSON.stringify(text)} for "--${name}" flag: invalid taint spec: ${text}`)
    return { key, value, effect }
  })
}

/** `a:hello,b:again`; a name may be given several times. */
function headers(values: FlagValues, name: string): Record<string, string[]> {
  const all: Record<string, string[]> = {}
  for (const text of values.list(name) ?? []) {
    const at = text.indexOf(':')
    if (at <= 0) throw new FlagError(`invalid argument ${JSON.stringify(text)} for "--${name}" flag: malformed pair`)
    const key = text.slice(0, at).trim()
    all[key] = [...(all[key] ?? []), text.slice(at + 1).trim()]
  }
  return all
}
