/**
 * The effect of each settable gate of 1.36, as data. `fields/gated-fields.ts` has the gated fields. Locked gates are
 * not listed, since they cannot change.
 */
import type { FeatureGates } from './feature-gates.ts'
import { gatedFields } from './fields/gated-fields.ts'
import { knownGates } from './gates.ts'

/** The effects of gates, except on fields. */
export const gateEffects: Readonly<Record<string, string>> = {
  AllAlpha: 'all alpha gates that are not set themselves',
  AllBeta: 'all beta gates that are not set themselves',
  AllowInsecureKubeletCertificateSigningRequests: 'nodes may request certificates of other nodes',
  AllowParsingUserUIDFromCertAuth: 'the UID of a user is read from the certificate subject',
  ConstrainedImpersonation: 'impersonation permissions for specific requests',
  DeploymentReplicaSetTerminatingReplicas: 'ReplicaSets count terminating pods',
  HPAScaleToZero: 'autoscalers may have minReplicas 0',
  MatchLabelKeysInPodTopologySpreadSelectorMerge:
    'matchLabelKeys of spread constraints are merged into their selectors',
  MaxUnavailableStatefulSet: 'StatefulSets replace several pods at a time',
  MutableSchedulingDirectivesForSuspendedJobs: 'scheduling fields of a suspended Job may change after it has run',
  MutablePodResourcesForSuspendedJobs: 'resources of a suspended Job may change',
  MutablePVNodeAffinity: 'the node affinity of a volume may change',
  MutatingAdmissionPolicy: 'the admission plug-in',
  NodeDeclaredFeatures: 'the admission plug-in and the scheduler plug-in',
  PodDeletionCost: 'ReplicaSets delete pods of low cost first',
  PodTopologyLabelsAdmission: 'the admission plug-in',
  RelaxedServiceNameValidation: 'names of Services may begin with a digit',
  RemoteRequestHeaderUID: 'front proxies may set the UID of a user',
  ServiceAccountNodeAudienceRestriction: 'nodes get tokens only for audiences that their pods request',
  UserNamespacesHostNetworkSupport: 'pods with a user namespace may use the host network',
  WatchList: 'watches that start with the initial objects',
}

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

/** Gates of fields. */
export const fieldGates: ReadonlySet<string> = new Set(gatedFields.flatMap(({ gates }) => gates))

/** Returns log lines about gates without an effect that are not set to their default. */
export const idleGateLines = ({ settings }: FeatureGates): string[] =>
  Object.entries(settings).flatMap(([name, isOn]) => {
    const reason = idleGates.get(name)
    return reason !== undefined && knownGates.get(name)?.isOn !== isOn
      ? [`--feature-gates=${name}=${isOn} changes nothing here: ${reason}`]
      : []
  })
