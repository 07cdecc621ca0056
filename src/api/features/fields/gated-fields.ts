/**
 * Fields that are only stored while a feature is on, as data: gate → fields. A field that an object of the store has
 * already may stay, so that an update never loses it. Gates that are locked on have no line here. The facts are those
 * of `+featureGate` in k8s.io/api.
 */

/**
 * A path such as `spec.devices[].attributes{}.ints`: `[]` goes through a list, `{}` through the values of a map. A `?`
 * after a parent removes it too if nothing else is in it.
 */
export type FieldPath = string

/** A field with a value that is always allowed. */
export interface FieldWithDefault {
  readonly path: FieldPath
  readonly allowed: string
}

export interface GatedFields {
  /** The fields stay while all of these are on. */
  readonly gates: readonly string[]
  /** `GROUP/PLURAL`, `PLURAL` in the core group, or `podSpec` for all kinds with pods or templates of pods. */
  readonly of: string
  readonly fields: readonly (FieldPath | FieldWithDefault)[]
  /** Fields that say of a stored object that it uses the feature; those of `fields` if absent. */
  readonly inUse?: readonly FieldPath[]
  /** The fields are removed only where one of these is set. */
  readonly onlyWith?: readonly FieldPath[]
}

const containers = ['containers', 'initContainers', 'ephemeralContainers']
const inContainers = (path: string): FieldPath[] => containers.map((list) => `${list}[].${path}`)
const inContainerStatuses = (path: string): FieldPath[] =>
  ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'].map((list) => `status.${list}[].${path}`)

const podFields: readonly GatedFields[] = [
  { gates: ['ContainerStopSignals'], of: 'podSpec', fields: inContainers('lifecycle?.stopSignal') },
  {
    gates: ['ClusterTrustBundleProjection'],
    of: 'podSpec',
    fields: ['volumes[].projected.sources[].clusterTrustBundle'],
  },
  { gates: ['PodCertificateRequest'], of: 'podSpec', fields: ['volumes[].projected.sources[].podCertificate'] },
  { gates: ['GenericWorkload'], of: 'podSpec', fields: ['schedulingGroup'] },
  {
    gates: ['PodLevelResources'],
    of: 'podSpec',
    fields: ['resources'],
    inUse: ['resources.requests', 'resources.limits'],
  },
  {
    gates: ['ContainerRestartRules'],
    of: 'podSpec',
    fields: [
      'containers[].restartPolicy',
      'containers[].restartPolicyRules',
      { path: 'initContainers[].restartPolicy', allowed: 'Always' },
      'initContainers[].restartPolicyRules',
    ],
  },
  { gates: ['HostnameOverride'], of: 'podSpec', fields: ['hostnameOverride'] },
  { gates: ['EnvFiles'], of: 'podSpec', fields: inContainers('env[].valueFrom.fileKeyRef') },
  {
    gates: ['MatchLabelKeysInPodTopologySpread'],
    of: 'podSpec',
    fields: ['topologySpreadConstraints[].matchLabelKeys'],
  },
  {
    gates: ['InPlacePodLevelResourcesVerticalScaling'],
    of: 'pods',
    fields: ['status.resources', 'status.allocatedResources'],
  },
  { gates: ['DRAExtendedResource'], of: 'pods', fields: ['status.extendedResourceClaimStatus'] },
  { gates: ['DRANodeAllocatableResources'], of: 'pods', fields: ['status.nodeAllocatableResourceClaimStatuses'] },
  { gates: ['ResourceHealthStatus'], of: 'pods', fields: inContainerStatuses('allocatedResourcesStatus'), inUse: [] },
  {
    gates: ['ResourceHealthStatusMessage'],
    of: 'pods',
    fields: inContainerStatuses('allocatedResourcesStatus[].resources[].message'),
  },
  { gates: ['ImageVolumeWithDigest'], of: 'pods', fields: inContainerStatuses('volumeMounts[].volumeStatus?.image') },
]

const workloadFields: readonly GatedFields[] = [
  {
    gates: ['MaxUnavailableStatefulSet'],
    of: 'apps/statefulsets',
    fields: ['spec.updateStrategy.rollingUpdate.maxUnavailable'],
  },
  {
    gates: ['DeploymentReplicaSetTerminatingReplicas'],
    of: 'apps/deployments',
    fields: ['status.terminatingReplicas'],
  },
  {
    gates: ['DeploymentReplicaSetTerminatingReplicas'],
    of: 'apps/replicasets',
    fields: ['status.terminatingReplicas'],
  },
  {
    gates: ['HPAConfigurableTolerance'],
    of: 'autoscaling/horizontalpodautoscalers',
    fields: ['spec.behavior.scaleUp.tolerance', 'spec.behavior.scaleDown.tolerance'],
  },
]

const clusterFields: readonly GatedFields[] = [
  { gates: ['CoordinatedLeaderElection'], of: 'coordination.k8s.io/leases', fields: ['spec.strategy'] },
  { gates: ['CoordinatedLeaderElection'], of: 'coordination.k8s.io/leases', fields: ['spec.preferredHolder'] },
  { gates: ['NodeDeclaredFeatures'], of: 'nodes', fields: ['status.declaredFeatures'] },
  { gates: ['VolumeLimitScaling'], of: 'storage.k8s.io/csidrivers', fields: ['spec.preventPodSchedulingIfMissing'] },
  {
    gates: ['CrossNamespaceVolumeDataSource'],
    of: 'persistentvolumeclaims',
    fields: ['spec.dataSourceRef'],
    onlyWith: ['spec.dataSourceRef.namespace'],
  },
  {
    gates: ['CRDObservedGenerationTracking'],
    of: 'apiextensions.k8s.io/customresourcedefinitions',
    fields: ['status.observedGeneration', 'status.conditions[].observedGeneration'],
  },
]

const requests = 'devices.requests[]'
const inRequests = (prefix: string, field: string): FieldPath[] => [
  `${prefix}.${requests}.exactly.${field}`,
  `${prefix}.${requests}.firstAvailable[].${field}`,
]
const allocated = 'status.allocation.devices.results[]'

/** What claims, and templates of claims, share. */
const claimFields = (of: string, spec: string): GatedFields[] => [
  { gates: ['DRAPrioritizedList'], of, fields: [`${spec}.${requests}.firstAvailable`] },
  { gates: ['DRADeviceTaints'], of, fields: inRequests(spec, 'tolerations') },
  {
    gates: ['DRAConsumableCapacity'],
    of,
    fields: [...inRequests(spec, 'capacity'), `${spec}.devices.constraints[].distinctAttribute`],
  },
]

const deviceFields: readonly GatedFields[] = [
  ...claimFields('resource.k8s.io/resourceclaims', 'spec'),
  ...claimFields('resource.k8s.io/resourceclaimtemplates', 'spec.spec'),
  { gates: ['DRAResourceClaimDeviceStatus'], of: 'resource.k8s.io/resourceclaims', fields: ['status.devices'] },
  { gates: ['DRADeviceTaints'], of: 'resource.k8s.io/resourceclaims', fields: [`${allocated}.tolerations`] },
  {
    gates: ['DRADeviceBindingConditions', 'DRAResourceClaimDeviceStatus'],
    of: 'resource.k8s.io/resourceclaims',
    fields: [
      `${allocated}.bindingConditions`,
      `${allocated}.bindingFailureConditions`,
      'status.allocation.allocationTimestamp',
    ],
  },
  {
    gates: ['DRAConsumableCapacity'],
    of: 'resource.k8s.io/resourceclaims',
    fields: [`${allocated}.shareID`, `${allocated}.consumedCapacity`, 'status.devices[].shareID'],
  },
  { gates: ['DRAExtendedResource'], of: 'resource.k8s.io/deviceclasses', fields: ['spec.extendedResourceName'] },
  { gates: ['DRADeviceTaints'], of: 'resource.k8s.io/resourceslices', fields: ['spec.devices[].taints'] },
  {
    gates: ['DRAPartitionableDevices'],
    of: 'resource.k8s.io/resourceslices',
    fields: [
      'spec.sharedCounters',
      'spec.perDeviceNodeSelection',
      ...['consumesCounters', 'nodeName', 'nodeSelector', 'allNodes'].map((field) => `spec.devices[].${field}`),
    ],
  },
  {
    gates: ['DRADeviceBindingConditions', 'DRAResourceClaimDeviceStatus'],
    of: 'resource.k8s.io/resourceslices',
    fields: ['bindsToNode', 'bindingConditions', 'bindingFailureConditions'].map((field) => `spec.devices[].${field}`),
  },
  {
    gates: ['DRAConsumableCapacity'],
    of: 'resource.k8s.io/resourceslices',
    fields: ['spec.devices[].allowMultipleAllocations', 'spec.devices[].capacity{}.requestPolicy'],
  },
  {
    gates: ['DRANodeAllocatableResources'],
    of: 'resource.k8s.io/resourceslices',
    fields: ['spec.devices[].nodeAllocatableResourceMappings'],
  },
  {
    gates: ['DRAListTypeAttributes'],
    of: 'resource.k8s.io/resourceslices',
    fields: ['ints', 'bools', 'strings', 'versions'].map((field) => `spec.devices[].attributes{}.${field}`),
  },
]

/** Groups of pods, and the templates of such groups in a workload. */
const groupFields = (of: string, prefix: string): GatedFields[] => [
  { gates: ['TopologyAwareWorkloadScheduling'], of, fields: [`${prefix}.schedulingConstraints`] },
  { gates: ['DRAWorkloadResourceClaims'], of, fields: [`${prefix}.resourceClaims`] },
  {
    gates: ['WorkloadAwarePreemption'],
    of,
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
  { gates: ['DRAWorkloadResourceClaims'], of: 'scheduling.k8s.io/podgroups', fields: ['status.resourceClaimStatuses'] },
]

/** Where kinds have the spec of a pod. */
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
