/**
 * Fields that are only stored while a feature is enabled, by gate. A field that the stored object has stays, so that an
 * update never loses it. Gates that are locked on have no entry. The source is `+featureGate` in k8s.io/api.
 */

/**
 * A path such as `spec.devices[].attributes{}.ints`: `[]` iterates a list, `{}` the values of a map. A parent with `?`
 * is removed too if it becomes empty.
 */
export type FieldPath = string

/** A field with a value that needs no feature. */
export interface FieldWithDefault {
  readonly path: FieldPath
  readonly allowed: string
}

export interface GatedFields {
  /** The fields are stored while all of these gates are enabled. */
  readonly gates: readonly string[]
  /** `GROUP/PLURAL`, `PLURAL` in the core group, or `podSpec` for all kinds with pods or templates of pods. */
  readonly kind: string
  readonly fields: readonly (FieldPath | FieldWithDefault)[]
  /** Fields that show that a stored object uses the feature. Default: `fields`. */
  readonly inUse?: readonly FieldPath[]
  /** The fields are removed only if one of these is set. */
  readonly onlyWith?: readonly FieldPath[]
}

const containers = ['containers', 'initContainers', 'ephemeralContainers']
const inContainers = (path: string): FieldPath[] => containers.map((list) => `${list}[].${path}`)
const inContainerStatuses = (path: string): FieldPath[] =>
  ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'].map((list) => `status.${list}[].${path}`)

const podFields: readonly GatedFields[] = [
  { gates: ['ContainerStopSignals'], kind: 'podSpec', fields: inContainers('lifecycle?.stopSignal') },
  {
    gates: ['ClusterTrustBundleProjection'],
    kind: 'podSpec',
    fields: ['volumes[].projected.sources[].clusterTrustBundle'],
  },
  { gates: ['PodCertificateRequest'], kind: 'podSpec', fields: ['volumes[].projected.sources[].podCertificate'] },
  { gates: ['GenericWorkload'], kind: 'podSpec', fields: ['schedulingGroup'] },
  {
    gates: ['PodLevelResources'],
    kind: 'podSpec',
    fields: ['resources'],
    inUse: ['resources.requests', 'resources.limits'],
  },
  {
    gates: ['ContainerRestartRules'],
    kind: 'podSpec',
    fields: [
      'containers[].restartPolicy',
      'containers[].restartPolicyRules',
      { path: 'initContainers[].restartPolicy', allowed: 'Always' },
      'initContainers[].restartPolicyRules',
    ],
  },
  { gates: ['HostnameOverride'], kind: 'podSpec', fields: ['hostnameOverride'] },
  { gates: ['EnvFiles'], kind: 'podSpec', fields: inContainers('env[].valueFrom.fileKeyRef') },
  {
    gates: ['MatchLabelKeysInPodTopologySpread'],
    kind: 'podSpec',
    fields: ['topologySpreadConstraints[].matchLabelKeys'],
  },
  {
    gates: ['InPlacePodLevelResourcesVerticalScaling'],
    kind: 'pods',
    fields: ['status.resources', 'status.allocatedResources'],
  },
  { gates: ['DRAExtendedResource'], kind: 'pods', fields: ['status.extendedResourceClaimStatus'] },
  { gates: ['DRANodeAllocatableResources'], kind: 'pods', fields: ['status.nodeAllocatableResourceClaimStatuses'] },
  { gates: ['ResourceHealthStatus'], kind: 'pods', fields: inContainerStatuses('allocatedResourcesStatus'), inUse: [] },
  {
    gates: ['ResourceHealthStatusMessage'],
    kind: 'pods',
    fields: inContainerStatuses('allocatedResourcesStatus[].resources[].message'),
  },
  { gates: ['ImageVolumeWithDigest'], kind: 'pods', fields: inContainerStatuses('volumeMounts[].volumeStatus?.image') },
]

const workloadFields: readonly GatedFields[] = [
  {
    gates: ['MaxUnavailableStatefulSet'],
    kind: 'apps/statefulsets',
    fields: ['spec.updateStrategy.rollingUpdate.maxUnavailable'],
  },
  {
    gates: ['DeploymentReplicaSetTerminatingReplicas'],
    kind: 'apps/deployments',
    fields: ['status.terminatingReplicas'],
  },
  {
    gates: ['DeploymentReplicaSetTerminatingReplicas'],
    kind: 'apps/replicasets',
    fields: ['status.terminatingReplicas'],
  },
  {
    gates: ['HPAConfigurableTolerance'],
    kind: 'autoscaling/horizontalpodautoscalers',
    fields: ['spec.behavior.scaleUp.tolerance', 'spec.behavior.scaleDown.tolerance'],
  },
]

const clusterFields: readonly GatedFields[] = [
  { gates: ['CoordinatedLeaderElection'], kind: 'coordination.k8s.io/leases', fields: ['spec.strategy'] },
  { gates: ['CoordinatedLeaderElection'], kind: 'coordination.k8s.io/leases', fields: ['spec.preferredHolder'] },
  { gates: ['NodeDeclaredFeatures'], kind: 'nodes', fields: ['status.declaredFeatures'] },
  { gates: ['VolumeLimitScaling'], kind: 'storage.k8s.io/csidrivers', fields: ['spec.preventPodSchedulingIfMissing'] },
  {
    gates: ['CrossNamespaceVolumeDataSource'],
    kind: 'persistentvolumeclaims',
    fields: ['spec.dataSourceRef'],
    onlyWith: ['spec.dataSourceRef.namespace'],
  },
  {
    gates: ['CRDObservedGenerationTracking'],
    kind: 'apiextensions.k8s.io/customresourcedefinitions',
    fields: ['status.observedGeneration', 'status.conditions[].observedGeneration'],
  },
]

const requests = 'devices.requests[]'
const inRequests = (prefix: string, field: string): FieldPath[] => [
  `${prefix}.${requests}.exactly.${field}`,
  `${prefix}.${requests}.firstAvailable[].${field}`,
]
const allocated = 'status.allocation.devices.results[]'

/** Fields of claims and claim templates. */
const claimFields = (kind: string, spec: string): GatedFields[] => [
  { gates: ['DRAPrioritizedList'], kind, fields: [`${spec}.${requests}.firstAvailable`] },
  { gates: ['DRADeviceTaints'], kind, fields: inRequests(spec, 'tolerations') },
  {
    gates: ['DRAConsumableCapacity'],
    kind,
    fields: [...inRequests(spec, 'capacity'), `${spec}.devices.constraints[].distinctAttribute`],
  },
]

const deviceFields: readonly GatedFields[] = [
  ...claimFields('resource.k8s.io/resourceclaims', 'spec'),
  ...claimFields('resource.k8s.io/resourceclaimtemplates', 'spec.spec'),
  { gates: ['DRAResourceClaimDeviceStatus'], kind: 'resource.k8s.io/resourceclaims', fields: ['status.devices'] },
  { gates: ['DRADeviceTaints'], kind: 'resource.k8s.io/resourceclaims', fields: [`${allocated}.tolerations`] },
  {
    gates: ['DRADeviceBindingConditions', 'DRAResourceClaimDeviceStatus'],
    kind: 'resource.k8s.io/resourceclaims',
    fields: [
      `${allocated}.bindingConditions`,
      `${allocated}.bindingFailureConditions`,
      'status.allocation.allocationTimestamp',
    ],
  },
  {
    gates: ['DRAConsumableCapacity'],
    kind: 'resource.k8s.io/resourceclaims',
    fields: [`${allocated}.shareID`, `${allocated}.consumedCapacity`, 'status.devices[].shareID'],
  },
  { gates: ['DRAExtendedResource'], kind: 'resource.k8s.io/deviceclasses', fields: ['spec.extendedResourceName'] },
  { gates: ['DRADeviceTaints'], kind: 'resource.k8s.io/resourceslices', fields: ['spec.devices[].taints'] },
  {
    gates: ['DRAPartitionableDevices'],
    kind: 'resource.k8s.io/resourceslices',
    fields: [
      'spec.sharedCounters',
      'spec.perDeviceNodeSelection',
      ...['consumesCounters', 'nodeName', 'nodeSelector', 'allNodes'].map((field) => `spec.devices[].${field}`),
    ],
  },
  {
    gates: ['DRADeviceBindingConditions', 'DRAResourceClaimDeviceStatus'],
    kind: 'resource.k8s.io/resourceslices',
    fields: ['bindsToNode', 'bindingConditions', 'bindingFailureConditions'].map((field) => `spec.devices[].${field}`),
  },
  {
    gates: ['DRAConsumableCapacity'],
    kind: 'resource.k8s.io/resourceslices',
    fields: ['spec.devices[].allowMultipleAllocations', 'spec.devices[].capacity{}.requestPolicy'],
  },
  {
    gates: ['DRANodeAllocatableResources'],
    kind: 'resource.k8s.io/resourceslices',
    fields: ['spec.devices[].nodeAllocatableResourceMappings'],
  },
  {
    gates: ['DRAListTypeAttributes'],
    kind: 'resource.k8s.io/resourceslices',
    fields: ['ints', 'bools', 'strings', 'versions'].map((field) => `spec.devices[].attributes{}.${field}`),
  },
]

/** Fields of PodGroups and of their templates in Workloads. */
const groupFields = (kind: string, prefix: string): GatedFields[] => [
  { gates: ['TopologyAwareWorkloadScheduling'], kind, fields: [`${prefix}.schedulingConstraints`] },
  { gates: ['DRAWorkloadResourceClaims'], kind, fields: [`${prefix}.resourceClaims`] },
  {
    gates: ['WorkloadAwarePreemption'],
    kind,
    fields: ['disruptionMode', 'priorityClassName', 'priority'].map((field) => `${prefix}.${field}`),
  },
]

export const gatedFields: readonly GatedFields[] = [
  ...podFields,
  ...workloadFields,
  ...clusterFields,
  ...deviceFields,
  ...groupFields('scheduling.k8s.io/podgroups', 'spec'),
  ...groupFields('scheduling.k8s.io/workloads', 'spec.podGroupTemplates[]'),
  {
    gates: ['DRAWorkloadResourceClaims'],
    kind: 'scheduling.k8s.io/podgroups',
    fields: ['status.resourceClaimStatuses'],
  },
]

/** The path of the pod spec by kind. */
export const podSpecs: Readonly<Record<string, string>> = {
  pods: 'spec',
  podtemplates: 'template.spec',
  replicationcontrollers: 'spec.template.spec',
  'apps/deployments': 'spec.template.spec',
  'apps/replicasets': 'spec.template.spec',
  'apps/daemonsets': 'spec.template.spec',
  'apps/statefulsets': 'spec.template.spec',
  'batch/jobs': 'spec.template.spec',
  'batch/cronjobs': 'spec.jobTemplate.spec.template.spec',
}
