/**
 * The effect of each settable gate of 1.36 that has one, as data. `fields/gated-fields.ts` has the gated fields. Locked
 * gates are not listed, since they cannot change.
 */
import { gatedFields } from './fields/gated-fields.ts'

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

/** Gates of fields. */
export const fieldGates: ReadonlySet<string> = new Set(gatedFields.flatMap(({ gates }) => gates))
