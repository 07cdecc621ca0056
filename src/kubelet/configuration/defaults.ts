/** Upstream's defaults of a KubeletConfiguration, and how they are filled in. */
import { mergePatch } from '../../machinery/patch/merge-patch.ts'
import type { WrittenConfiguration } from './shape.ts'

/** The configuration with all defaults. */
export type KubeletConfiguration = WrittenConfiguration & Required<Pick<WrittenConfiguration, keyof typeof defaults>>

const defaultEvictionHard = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
}

const defaults = {
  enableServer: true,
  staticPodPath: '',
  staticPodURL: '',
  staticPodURLHeader: {},
  podLogsDir: '/var/log/pods',
  syncFrequency: '1m0s',
  fileCheckFrequency: '20s',
  httpCheckFrequency: '20s',
  address: '0.0.0.0',
  port: 10250,
  readOnlyPort: 0,
  rotateCertificates: false,
  serverTLSBootstrap: false,
  authentication: {
    x509: {},
    webhook: { enabled: true, cacheTTL: '2m0s' },
    anonymous: { enabled: false },
  },
  authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' } },
  registryPullQPS: 5,
  registryBurst: 10,
  imagePullCredentialsVerificationPolicy: 'NeverVerifyPreloadedImages',
  preloadedImagesVerificationAllowlist: [],
  eventRecordQPS: 50,
  eventBurst: 100,
  enableDebuggingHandlers: true,
  healthzPort: 10248,
  healthzBindAddress: '127.0.0.1',
  oomScoreAdj: -999,
  clusterDomain: '',
  clusterDNS: [],
  streamingConnectionIdleTimeout: '4h0m0s',
  nodeStatusUpdateFrequency: '10s',
  nodeStatusReportFrequency: '5m0s',
  nodeLeaseDurationSeconds: 40,
  imageMinimumGCAge: '2m0s',
  imageMaximumGCAge: '0s',
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  volumeStatsAggPeriod: '1m0s',
  cgroupRoot: '',
  cgroupsPerQOS: true,
  cgroupDriver: 'cgroupfs',
  cpuManagerPolicy: 'none',
  cpuManagerReconcilePeriod: '10s',
  memoryManagerPolicy: 'None',
  topologyManagerPolicy: 'none',
  topologyManagerScope: 'container',
  runtimeRequestTimeout: '2m0s',
  hairpinMode: 'promiscuous-bridge',
  maxPods: 110,
  podPidsLimit: -1,
  resolvConf: '/etc/resolv.conf',
  cpuCFSQuota: true,
  cpuCFSQuotaPeriod: '100ms',
  nodeStatusMaxImages: 50,
  maxOpenFiles: 1_000_000,
  contentType: 'application/vnd.kubernetes.protobuf',
  // Upstream's is 50; here the server's fairness limits its clients.
  kubeAPIQPS: 0,
  kubeAPIBurst: 100,
  serializeImagePulls: true,
  evictionHard: defaultEvictionHard,
  evictionPressureTransitionPeriod: '5m0s',
  mergeDefaultEvictionSettings: false,
  podsPerCore: 0,
  enableControllerAttachDetach: true,
  makeIPTablesUtilChains: true,
  iptablesMasqueradeBit: 14,
  iptablesDropBit: 15,
  featureGates: {},
  failSwapOn: true,
  memorySwap: {},
  containerLogMaxSize: '10Mi',
  containerLogMaxFiles: 5,
  containerLogMaxWorkers: 1,
  containerLogMonitorInterval: '10s',
  configMapAndSecretChangeDetectionStrategy: 'Watch',
  systemReserved: {},
  kubeReserved: {},
  systemReservedCgroup: '',
  kubeReservedCgroup: '',
  enforceNodeAllocatable: ['pods'],
  volumePluginDir: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
  logging: { format: 'text', verbosity: 0 },
  enableSystemLogHandler: true,
  shutdownGracePeriod: '0s',
  shutdownGracePeriodCriticalPods: '0s',
  crashLoopBackOff: {},
  enableProfilingHandler: true,
  enableDebugFlagsHandler: true,
  seccompDefault: false,
  allowedUnsafeSysctls: [],
  memoryThrottlingFactor: 0.9,
  registerWithTaints: [],
  registerNode: true,
  localStorageCapacityIsolation: true,
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  // Upstream's is true since 1.35; this kubelet supports both versions.
  failCgroupV1: false,
} satisfies WrittenConfiguration

export const defaultConfiguration: KubeletConfiguration = defaults

/** Fields whose zero value means zero: Go has pointers there. In all others it means the default. */
const keepZero = new Set<string>([
  'registryPullQPS',
  'eventRecordQPS',
  'healthzPort',
  'oomScoreAdj',
  'imageGCHighThresholdPercent',
  'imageGCLowThresholdPercent',
  'podPidsLimit',
  'resolvConf',
  'cpuCFSQuotaPeriod',
  'nodeStatusMaxImages',
  'kubeAPIQPS',
  'maxParallelImagePulls',
  'iptablesMasqueradeBit',
  'iptablesDropBit',
  'containerLogMaxFiles',
  'containerLogMaxWorkers',
  'containerLogMonitorInterval',
  'memoryThrottlingFactor',
])

/** Fills in the defaults, some of which depend on other fields. */
export function withDefaults(written: WrittenConfiguration): KubeletConfiguration {
  const given: WrittenConfiguration = Object.fromEntries(
    Object.entries(written).filter(([name, value]) => keepZero.has(name) || !isZero(value)),
  )
  const { evictionHard, maxParallelImagePulls = 1 } = given
  return {
    ...mergePatch(defaults, given),
    evictionHard: evictionHardOf(evictionHard, given.mergeDefaultEvictionSettings),
    // A node whose status is written more often than usual is reported as often.
    nodeStatusReportFrequency:
      given.nodeStatusReportFrequency ?? given.nodeStatusUpdateFrequency ?? defaults.nodeStatusReportFrequency,
    serializeImagePulls: given.serializeImagePulls ?? maxParallelImagePulls < 2,
    ...(given.podPidsLimit !== undefined && given.podPidsLimit < 0 && { podPidsLimit: defaults.podPidsLimit }),
  }
}

function evictionHardOf(
  given: WrittenConfiguration['evictionHard'],
  merges: boolean | undefined,
): Readonly<Record<string, string>> {
  if (given === undefined) return defaultEvictionHard
  return merges ? { ...defaultEvictionHard, ...given } : given
}

/** `''`, `0` and durations such as `0s`. */
const isZero = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === 0 ||
  (typeof value === 'string' && /^(|0|0[a-zµ]+(0[a-zµ]+)*)$/.test(value))
