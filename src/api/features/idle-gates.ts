/**
 * The settable gates of 1.36 that have no effect here, with the reasons. `gate-effects.fixture.ts` lists the effects of
 * all others.
 */
import type { FeatureGates } from './feature-gates.ts'
import { knownGates } from './gates.ts'

/** Gates without an effect, by the reason. */
const idleReasons: Readonly<Record<string, string>> = {
  'it only affects kubelets': `AllowDNSOnlyNodeCSR CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions
    CRIListStreaming CSIVolumeHealth ChangeContainerStatusOnKubeletRestart ContainerCheckpoint CustomCPUCFSQuotaPeriod
    DisableCPUQuotaWithExclusiveCPUs EventedPLEG ExtendWebSocketsToKubelet GracefulNodeShutdown
    GracefulNodeShutdownBasedOnPodPriority InPlacePodVerticalScalingAllocatedStatus
    InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory
    InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages
    KubeletInUserNamespace KubeletPodResourcesListUseActivePods KubeletRegistrationGetOnExistsOnly
    KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders
    LocalStorageCapacityIsolationFSQuotaMonitoring MemoryQoS PLEGOnDemandRelist PodAndContainerStatsFromCRI
    PodLevelResourceManagers PodReadyToStartContainersCondition PodsAPI QOSReserved ReduceDefaultCrashLoopBackOffDecay
    ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile RotateKubeletServerCertificate
    RuntimeClassInImageCriApi SELinuxMount TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions
    WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown WindowsHostNetwork`,
  'it only affects kube-proxy': 'AllowServiceExternalIPs',
  'it only affects Go implementations': `APIServingWithRoutine AtomicFIFO ClientsAllowCARotation ClientsAllowCBOR
    ClientsAllowTLSCacheGC ClientsPreferCBOR ConcurrentWatchObjectDecode ContextualLogging DeclarativeValidationBeta
    DeclarativeValidationTakeover InOrderInformersBatchProcess InformerResourceVersion ListFromCacheSnapshot
    LoggingAlphaOptions LoggingBetaOptions NativeHistograms SizeBasedListCostEstimate
    StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
    StaleControllerConsistencyStatefulSet StorageNamespaceIndex UnauthenticatedHTTP2DOSMitigation
    UnlockWhileProcessingFIFO WatchCacheInitializationPostStartHook WatchListClient`,
  'cloud providers are not supported':
    'CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook',
  'the feature is not implemented': `AllowUnsafeMalformedObjectDeletion CBORServingAndStorage DetectCacheInconsistency
    GangScheduling KMSv1 ManifestBasedAdmissionControlConfig PersistentVolumeClaimUnusedSinceTime
    PodLogsQuerySplitStreams ShardedListAndWatch StorageCapacityScoring TaintTolerationComparisonOperators
    UnknownVersionInteroperabilityProxy WorkloadWithJob`,
  '--runtime-config enables its API':
    'ClusterTrustBundle DRADeviceTaintRules DRAResourcePoolStatus StorageVersionAPI StorageVersionMigrator',
  'its feature cannot be disabled': `APIResponseCompression APIServerIdentity
    AuthorizePodWebsocketUpgradeCreatePermission ClearingNominatedNodeNameAfterBinding ComponentFlagz ComponentStatusz
    ControllerManagerReleaseLeaderElectionLockOnExit DRAResourceClaimGranularStatusAuthorization
    DRASchedulerFilterTimeout NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PortForwardWebsockets
    PreventStaticPodAPIReferences RestartAllContainersOnContainerExits SchedulerAsyncAPICalls SchedulerAsyncPreemption
    SchedulerPopFromBackoffQ ServiceCIDRStatusFieldWiping StatefulSetSemanticRevisionComparison StorageVersionHash
    StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector
    StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
    TranslateStreamCloseWebsocketRequests`,
}

/** Reasons by gate. */
export const idleGates: ReadonlyMap<string, string> = new Map(
  Object.entries(idleReasons).flatMap(([reason, names]) => names.split(/\s+/).map((name) => [name, reason] as const)),
)

/**
 * Returns log lines about gates without an effect that are not set to their default. `effective` are gates that have an
 * effect in this program alone.
 */
export const idleGateLines = ({ settings }: FeatureGates, effective: ReadonlySet<string> = new Set()): string[] =>
  Object.entries(settings).flatMap(([name, isOn]) => {
    const reason = idleGates.get(name)
    return reason !== undefined && !effective.has(name) && knownGates.get(name)?.isOn !== isOn
      ? [`--feature-gates=${name}=${isOn} changes nothing here: ${reason}`]
      : []
  })
