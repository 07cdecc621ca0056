/**
 * What each gate of 1.36 that can be set switches here, as data. Fields are a table of their own
 * (`fields/gated-fields.ts`). Locked gates are not here: they are always as they are.
 */
import type { FeatureGates } from './feature-gates.ts'
import { gatedFields } from './fields/gated-fields.ts'
import { knownGates } from './gates.ts'

/** What a gate switches, beside fields. */
export const behaviours: Readonly<Record<string, string>> = {
  AllAlpha: 'all alpha gates that are not set themselves',
  AllBeta: 'all beta gates that are not set themselves',
  AllowInsecureKubeletCertificateSigningRequests: 'nodes may ask for certificates of others',
  AllowParsingUserUIDFromCertAuth: 'the UID of a user is read from the subject of a certificate',
  ConstrainedImpersonation: 'rights to impersonate for some requests only',
  DeploymentReplicaSetTerminatingReplicas: 'ReplicaSets count terminating pods',
  HPAScaleToZero: 'autoscalers may have minReplicas 0',
  MatchLabelKeysInPodTopologySpreadSelectorMerge: 'label keys of spread constraints are written into their selectors',
  MaxUnavailableStatefulSet: 'StatefulSets replace several pods at once',
  MutableSchedulingDirectivesForSuspendedJobs: 'where pods of a suspended Job run may change after it has run',
  MutablePodResourcesForSuspendedJobs: 'resources of a suspended Job may change',
  MutablePVNodeAffinity: 'the nodes of a volume may change',
  MutatingAdmissionPolicy: 'the admission plug-in',
  NodeDeclaredFeatures: "the admission plug-in and the scheduler's",
  PodDeletionCost: 'ReplicaSets delete pods of low cost first',
  PodTopologyLabelsAdmission: 'the admission plug-in',
  RelaxedServiceNameValidation: 'names of Services may begin with a digit',
  RemoteRequestHeaderUID: 'front proxies may say the UID of a user',
  ServiceAccountNodeAudienceRestriction: 'nodes get tokens for audiences that their pods ask for only',
  UserNamespacesHostNetworkSupport: "pods with users of their own may share the host's network",
  WatchList: 'watches that begin with the state',
}

/** Gates that change nothing here, by the reason. */
const idle: Readonly<Record<string, string>> = {
  'kubelets obey it': `AllowDNSOnlyNodeCSR CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions CRIListStreaming CSIVolumeHealth
    ChangeContainerStatusOnKubeletRestart ContainerCheckpoint CustomCPUCFSQuotaPeriod DisableCPUQuotaWithExclusiveCPUs EventedPLEG
    ExtendWebSocketsToKubelet GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority InPlacePodVerticalScalingAllocatedStatus
    InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory InPlacePodVerticalScalingInitContainers
    KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletInUserNamespace KubeletPodResourcesListUseActivePods
    KubeletRegistrationGetOnExistsOnly KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders
    LocalStorageCapacityIsolationFSQuotaMonitoring MemoryQoS PLEGOnDemandRelist PodAndContainerStatsFromCRI PodLevelResourceManagers
    PodReadyToStartContainersCondition PodsAPI QOSReserved ReduceDefaultCrashLoopBackOffDecay ReloadKubeletClientCAFile
    ReloadKubeletServerCertificateFile RotateKubeletServerCertificate RuntimeClassInImageCriApi SELinuxMount
    TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown
    WindowsHostNetwork`,
  'kube-proxy obeys it': 'AllowServiceExternalIPs',
  'it is about how programs in Go work': `APIServingWithRoutine AtomicFIFO ClientsAllowCARotation ClientsAllowCBOR ClientsAllowTLSCacheGC
    ClientsPreferCBOR ConcurrentWatchObjectDecode ContextualLogging DeclarativeValidationBeta DeclarativeValidationTakeover
    InOrderInformersBatchProcess InformerResourceVersion ListFromCacheSnapshot LoggingAlphaOptions LoggingBetaOptions NativeHistograms
    SizeBasedListCostEstimate StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
    StaleControllerConsistencyStatefulSet StorageNamespaceIndex UnauthenticatedHTTP2DOSMitigation UnlockWhileProcessingFIFO
    WatchCacheInitializationPostStartHook WatchListClient`,
  'there is no cloud provider in this program':
    'CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook',
  'the feature is not there': `AllowUnsafeMalformedObjectDeletion CBORServingAndStorage DetectCacheInconsistency GangScheduling KMSv1
    ManifestBasedAdmissionControlConfig PersistentVolumeClaimUnusedSinceTime PodLogsQuerySplitStreams ShardedListAndWatch StorageCapacityScoring
    TaintTolerationComparisonOperators UnknownVersionInteroperabilityProxy WorkloadWithJob`,
  '--runtime-config switches its API':
    'ClusterTrustBundle DRADeviceTaintRules DRAResourcePoolStatus StorageVersionAPI StorageVersionMigrator',
  'its feature cannot be switched here': `APIResponseCompression APIServerIdentity AuthorizePodWebsocketUpgradeCreatePermission
    ClearingNominatedNodeNameAfterBinding ComponentFlagz ComponentStatusz ControllerManagerReleaseLeaderElectionLockOnExit
    DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching
    PortForwardWebsockets PreventStaticPodAPIReferences RestartAllContainersOnContainerExits SchedulerAsyncAPICalls SchedulerAsyncPreemption
    SchedulerPopFromBackoffQ ServiceCIDRStatusFieldWiping StatefulSetSemanticRevisionComparison StorageVersionHash StrictIPCIDRValidation
    StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics
    TokenRequestServiceAccountUIDValidation TranslateStreamCloseWebsocketRequests`,
}

/** Reasons by gate. */
export const idleGates: ReadonlyMap<string, string> = new Map(
  Object.entries(idle).flatMap(([reason, names]) => names.split(/\s+/).map((name) => [name, reason] as const)),
)

/** Gates that switch fields. */
export const fieldGates: ReadonlySet<string> = new Set(gatedFields.flatMap(({ gates }) => gates))

/** What is to be said of gates that were set to something else than their default and change nothing, a line each. */
export const idleGateLines = ({ settings }: FeatureGates): string[] =>
  Object.entries(settings).flatMap(([name, isOn]) => {
    const reason = idleGates.get(name)
    return reason !== undefined && knownGates.get(name)?.isOn !== isOn
      ? [`--feature-gates=${name}=${isOn} changes nothing here: ${reason}`]
      : []
  })
