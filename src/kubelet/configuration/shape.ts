/** The fields of a KubeletConfiguration (kubelet.config.k8s.io/v1beta1, release 1.36), in upstream's order. */
import {
  anything,
  type ConfigurationKind,
  flag,
  int32,
  listOf,
  structOf,
  text,
} from '../../machinery/decode/configuration.ts'
import type { FieldType } from '../../machinery/schema.ts'

/** Texts by name: amounts of resources, thresholds of signals. */
type Amounts = Readonly<Record<string, string>>

export interface WrittenTaint {
  readonly key: string
  readonly value?: string
  readonly effect: string
  readonly timeAdded?: string
}

export interface WrittenAuthentication {
  readonly x509?: { readonly clientCAFile?: string }
  readonly webhook?: { readonly enabled?: boolean; readonly cacheTTL?: string }
  readonly anonymous?: { readonly enabled?: boolean }
}

export interface WrittenAuthorization {
  readonly mode?: string
  readonly webhook?: { readonly cacheAuthorizedTTL?: string; readonly cacheUnauthorizedTTL?: string }
}

export interface WrittenLogging {
  readonly format?: string
  readonly verbosity?: number
}

export interface ShutdownPriority {
  readonly priority: number
  readonly shutdownGracePeriodSeconds: number
}

export interface MemoryReservation {
  readonly numaNode: number
  readonly limits: Amounts
}

export interface WrittenConfiguration {
  readonly enableServer?: boolean
  readonly staticPodPath?: string
  readonly podLogsDir?: string
  readonly syncFrequency?: string
  readonly fileCheckFrequency?: string
  readonly httpCheckFrequency?: string
  readonly staticPodURL?: string
  readonly staticPodURLHeader?: Readonly<Record<string, readonly string[]>>
  readonly address?: string
  readonly port?: number
  readonly readOnlyPort?: number
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  readonly tlsCipherSuites?: readonly string[]
  readonly tlsCurvePreferences?: readonly number[]
  readonly tlsMinVersion?: string
  readonly rotateCertificates?: boolean
  readonly serverTLSBootstrap?: boolean
  readonly authentication?: WrittenAuthentication
  readonly authorization?: WrittenAuthorization
  readonly registryPullQPS?: number
  readonly registryBurst?: number
  readonly imagePullCredentialsVerificationPolicy?: string
  readonly preloadedImagesVerificationAllowlist?: readonly string[]
  readonly eventRecordQPS?: number
  readonly eventBurst?: number
  readonly enableDebuggingHandlers?: boolean
  readonly enableContentionProfiling?: boolean
  readonly healthzPort?: number
  readonly healthzBindAddress?: string
  readonly oomScoreAdj?: number
  readonly clusterDomain?: string
  readonly clusterDNS?: readonly string[]
  readonly streamingConnectionIdleTimeout?: string
  readonly nodeStatusUpdateFrequency?: string
  readonly nodeStatusReportFrequency?: string
  readonly nodeLeaseDurationSeconds?: number
  readonly imageMinimumGCAge?: string
  readonly imageMaximumGCAge?: string
  readonly imageGCHighThresholdPercent?: number
  readonly imageGCLowThresholdPercent?: number
  readonly volumeStatsAggPeriod?: string
  readonly kubeletCgroups?: string
  readonly systemCgroups?: string
  readonly cgroupRoot?: string
  readonly cgroupsPerQOS?: boolean
  readonly cgroupDriver?: string
  readonly cpuManagerPolicy?: string
  readonly singleProcessOOMKill?: boolean
  readonly cpuManagerPolicyOptions?: Amounts
  readonly cpuManagerReconcilePeriod?: string
  readonly memoryManagerPolicy?: string
  readonly topologyManagerPolicy?: string
  readonly topologyManagerScope?: string
  readonly topologyManagerPolicyOptions?: Amounts
  readonly qosReserved?: Amounts
  readonly runtimeRequestTimeout?: string
  readonly hairpinMode?: string
  readonly maxPods?: number
  readonly podCIDR?: string
  readonly podPidsLimit?: number
  readonly resolvConf?: string
  readonly runOnce?: boolean
  readonly cpuCFSQuota?: boolean
  readonly cpuCFSQuotaPeriod?: string
  readonly nodeStatusMaxImages?: number
  readonly maxOpenFiles?: number
  readonly contentType?: string
  readonly kubeAPIQPS?: number
  readonly kubeAPIBurst?: number
  readonly serializeImagePulls?: boolean
  readonly maxParallelImagePulls?: number
  readonly evictionHard?: Amounts
  readonly evictionSoft?: Amounts
  readonly evictionSoftGracePeriod?: Amounts
  readonly evictionPressureTransitionPeriod?: string
  readonly evictionMaxPodGracePeriod?: number
  readonly evictionMinimumReclaim?: Amounts
  readonly mergeDefaultEvictionSettings?: boolean
  readonly podsPerCore?: number
  readonly enableControllerAttachDetach?: boolean
  readonly protectKernelDefaults?: boolean
  readonly makeIPTablesUtilChains?: boolean
  readonly iptablesMasqueradeBit?: number
  readonly iptablesDropBit?: number
  readonly featureGates?: Readonly<Record<string, boolean>>
  readonly failSwapOn?: boolean
  readonly memorySwap?: { readonly swapBehavior?: string }
  readonly containerLogMaxSize?: string
  readonly containerLogMaxFiles?: number
  readonly containerLogMaxWorkers?: number
  readonly containerLogMonitorInterval?: string
  readonly configMapAndSecretChangeDetectionStrategy?: string
  readonly systemReserved?: Amounts
  readonly kubeReserved?: Amounts
  readonly reservedSystemCPUs?: string
  readonly showHiddenMetricsForVersion?: string
  readonly systemReservedCgroup?: string
  readonly kubeReservedCgroup?: string
  readonly enforceNodeAllocatable?: readonly string[]
  readonly allowedUnsafeSysctls?: readonly string[]
  readonly volumePluginDir?: string
  readonly providerID?: string
  readonly kernelMemcgNotification?: boolean
  readonly logging?: WrittenLogging
  readonly enableSystemLogHandler?: boolean
  readonly enableSystemLogQuery?: boolean
  readonly shutdownGracePeriod?: string
  readonly shutdownGracePeriodCriticalPods?: string
  readonly shutdownGracePeriodByPodPriority?: readonly ShutdownPriority[]
  readonly crashLoopBackOff?: { readonly maxContainerRestartPeriod?: string }
  readonly reservedMemory?: readonly MemoryReservation[]
  readonly enableProfilingHandler?: boolean
  readonly enableDebugFlagsHandler?: boolean
  readonly seccompDefault?: boolean
  readonly memoryThrottlingFactor?: number
  readonly memoryReservationPolicy?: string
  readonly registerWithTaints?: readonly WrittenTaint[]
  readonly registerNode?: boolean
  readonly tracing?: object
  readonly localStorageCapacityIsolation?: boolean
  readonly containerRuntimeEndpoint?: string
  readonly imageServiceEndpoint?: string
  readonly failCgroupV1?: boolean
  readonly userNamespaces?: { readonly idsPerPod?: number }
}

const amounts: FieldType = { kind: 'map', values: text }
const int64: FieldType = { kind: 'integer', format: 'int64' }
const float: FieldType = { kind: 'number' }

const authentication = structOf('KubeletAuthentication', {
  x509: structOf('KubeletX509Authentication', { clientCAFile: text }),
  webhook: structOf('KubeletWebhookAuthentication', { enabled: flag, cacheTTL: text }),
  anonymous: structOf('KubeletAnonymousAuthentication', { enabled: flag }),
})

const authorization = structOf('KubeletAuthorization', {
  mode: text,
  webhook: structOf('KubeletWebhookAuthorization', { cacheAuthorizedTTL: text, cacheUnauthorizedTTL: text }),
})

const logging = structOf('LoggingConfiguration', {
  format: text,
  flushFrequency: anything,
  verbosity: int32,
  vmodule: anything,
  options: anything,
})

const fields = {
  enableServer: flag,
  staticPodPath: text,
  podLogsDir: text,
  syncFrequency: text,
  fileCheckFrequency: text,
  httpCheckFrequency: text,
  staticPodURL: text,
  staticPodURLHeader: { kind: 'map', values: listOf(text) },
  address: text,
  port: int32,
  readOnlyPort: int32,
  tlsCertFile: text,
  tlsPrivateKeyFile: text,
  tlsCipherSuites: listOf(text),
  tlsCurvePreferences: listOf(int32),
  tlsMinVersion: text,
  rotateCertificates: flag,
  serverTLSBootstrap: flag,
  authentication: authentication,
  authorization: authorization,
  registryPullQPS: int32,
  registryBurst: int32,
  imagePullCredentialsVerificationPolicy: text,
  preloadedImagesVerificationAllowlist: listOf(text),
  eventRecordQPS: int32,
  eventBurst: int32,
  enableDebuggingHandlers: flag,
  enableContentionProfiling: flag,
  healthzPort: int32,
  healthzBindAddress: text,
  oomScoreAdj: int32,
  clusterDomain: text,
  clusterDNS: listOf(text),
  streamingConnectionIdleTimeout: text,
  nodeStatusUpdateFrequency: text,
  nodeStatusReportFrequency: text,
  nodeLeaseDurationSeconds: int32,
  imageMinimumGCAge: text,
  imageMaximumGCAge: text,
  imageGCHighThresholdPercent: int32,
  imageGCLowThresholdPercent: int32,
  volumeStatsAggPeriod: text,
  kubeletCgroups: text,
  systemCgroups: text,
  cgroupRoot: text,
  cgroupsPerQOS: flag,
  cgroupDriver: text,
  cpuManagerPolicy: text,
  singleProcessOOMKill: flag,
  cpuManagerPolicyOptions: amounts,
  cpuManagerReconcilePeriod: text,
  memoryManagerPolicy: text,
  topologyManagerPolicy: text,
  topologyManagerScope: text,
  topologyManagerPolicyOptions: amounts,
  qosReserved: amounts,
  runtimeRequestTimeout: text,
  hairpinMode: text,
  maxPods: int32,
  podCIDR: text,
  podPidsLimit: int64,
  resolvConf: text,
  runOnce: flag,
  cpuCFSQuota: flag,
  cpuCFSQuotaPeriod: text,
  nodeStatusMaxImages: int32,
  maxOpenFiles: int64,
  contentType: text,
  kubeAPIQPS: int32,
  kubeAPIBurst: int32,
  serializeImagePulls: flag,
  maxParallelImagePulls: int32,
  evictionHard: amounts,
  evictionSoft: amounts,
  evictionSoftGracePeriod: amounts,
  evictionPressureTransitionPeriod: text,
  evictionMaxPodGracePeriod: int32,
  evictionMinimumReclaim: amounts,
  mergeDefaultEvictionSettings: flag,
  podsPerCore: int32,
  enableControllerAttachDetach: flag,
  protectKernelDefaults: flag,
  makeIPTablesUtilChains: flag,
  iptablesMasqueradeBit: int32,
  iptablesDropBit: int32,
  featureGates: { kind: 'map', values: flag },
  failSwapOn: flag,
  memorySwap: structOf('MemorySwapConfiguration', { swapBehavior: text }),
  containerLogMaxSize: text,
  containerLogMaxFiles: int32,
  containerLogMaxWorkers: int32,
  containerLogMonitorInterval: text,
  configMapAndSecretChangeDetectionStrategy: text,
  systemReserved: amounts,
  kubeReserved: amounts,
  reservedSystemCPUs: text,
  showHiddenMetricsForVersion: text,
  systemReservedCgroup: text,
  kubeReservedCgroup: text,
  enforceNodeAllocatable: listOf(text),
  allowedUnsafeSysctls: listOf(text),
  volumePluginDir: text,
  providerID: text,
  kernelMemcgNotification: flag,
  logging: logging,
  enableSystemLogHandler: flag,
  enableSystemLogQuery: flag,
  shutdownGracePeriod: text,
  shutdownGracePeriodCriticalPods: text,
  shutdownGracePeriodByPodPriority: listOf(
    structOf('ShutdownGracePeriodByPodPriority', { priority: int32, shutdownGracePeriodSeconds: int64 }),
  ),
  crashLoopBackOff: structOf('CrashLoopBackOffConfig', { maxContainerRestartPeriod: text }),
  reservedMemory: listOf(structOf('MemoryReservation', { numaNode: int32, limits: amounts })),
  enableProfilingHandler: flag,
  enableDebugFlagsHandler: flag,
  seccompDefault: flag,
  memoryThrottlingFactor: float,
  memoryReservationPolicy: text,
  registerWithTaints: listOf(structOf('Taint', { key: text, value: text, effect: text, timeAdded: text })),
  registerNode: flag,
  tracing: structOf('TracingConfiguration', { endpoint: text, samplingRatePerMillion: int32 }),
  localStorageCapacityIsolation: flag,
  containerRuntimeEndpoint: text,
  imageServiceEndpoint: text,
  failCgroupV1: flag,
  userNamespaces: structOf('UserNamespaces', { idsPerPod: int64 }),
} satisfies Record<keyof WrittenConfiguration, FieldType>

export const kubeletConfiguration: ConfigurationKind = {
  kind: 'KubeletConfiguration',
  versions: ['kubelet.config.k8s.io/v1beta1'],
  fields,
}
