/** The built-in resources of Kubernetes with the types of their objects, for clients, informers and controllers. */
import type {
  CoreV1Event,
  ResourceV1ResourceClaim,
  V1APIService,
  V1beta1ClusterTrustBundle,
  V1beta1PodCertificateRequest,
  V1beta1StorageVersionMigration,
  V1CertificateSigningRequest,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1ControllerRevision,
  V1CronJob,
  V1CSIDriver,
  V1CSINode,
  V1CSIStorageCapacity,
  V1CustomResourceDefinition,
  V1DaemonSet,
  V1Deployment,
  V1DeviceClass,
  V1EndpointSlice,
  V1Endpoints,
  V1Ingress,
  V1IngressClass,
  V1IPAddress,
  V1Job,
  V1Lease,
  V1LimitRange,
  V1Namespace,
  V1NetworkPolicy,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1PodTemplate,
  V1ReplicaSet,
  V1ReplicationController,
  V1ResourceClaimTemplate,
  V1ResourceQuota,
  V1ResourceSlice,
  V1Role,
  V1RoleBinding,
  V1RuntimeClass,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1ServiceCIDR,
  V1StatefulSet,
  V1StorageClass,
  V1SubjectAccessReview,
  V1TokenReview,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
  V1VolumeAttachment,
  V1VolumeAttributesClass,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node'
import type { Model } from '../machinery/object.ts'
import { resource } from './resource.ts'

export type ConfigMap = Model<V1ConfigMap>
export type Endpoints = Model<V1Endpoints>
export type Event = Model<CoreV1Event>
export type LimitRange = Model<V1LimitRange>
export type Namespace = Model<V1Namespace>
export type Node = Model<V1Node>
export type PersistentVolumeClaim = Model<V1PersistentVolumeClaim>
export type PersistentVolume = Model<V1PersistentVolume>
export type Pod = Model<V1Pod>
export type PodTemplate = Model<V1PodTemplate>
export type ReplicationController = Model<V1ReplicationController>
export type ResourceQuota = Model<V1ResourceQuota>
export type Secret = Model<V1Secret>
export type ServiceAccount = Model<V1ServiceAccount>
export type Service = Model<V1Service>
export type ValidatingAdmissionPolicy = Model<V1ValidatingAdmissionPolicy>
export type ValidatingAdmissionPolicyBinding = Model<V1ValidatingAdmissionPolicyBinding>
export type CustomResourceDefinition = Model<V1CustomResourceDefinition>
export type APIService = Model<V1APIService>
export type ControllerRevision = Model<V1ControllerRevision>
export type DaemonSet = Model<V1DaemonSet>
export type Deployment = Model<V1Deployment>
export type ReplicaSet = Model<V1ReplicaSet>
export type StatefulSet = Model<V1StatefulSet>
export type SubjectAccessReview = Model<V1SubjectAccessReview>
export type TokenReview = Model<V1TokenReview>
export type HorizontalPodAutoscaler = Model<V2HorizontalPodAutoscaler>
export type CronJob = Model<V1CronJob>
export type Job = Model<V1Job>
export type CertificateSigningRequest = Model<V1CertificateSigningRequest>
export type Lease = Model<V1Lease>
export type EndpointSlice = Model<V1EndpointSlice>
export type Ingress = Model<V1Ingress>
export type NetworkPolicy = Model<V1NetworkPolicy>
export type IngressClass = Model<V1IngressClass>
export type IPAddress = Model<V1IPAddress>
export type ServiceCIDR = Model<V1ServiceCIDR>
export type PodDisruptionBudget = Model<V1PodDisruptionBudget>
export type ClusterRole = Model<V1ClusterRole>
export type ClusterRoleBinding = Model<V1ClusterRoleBinding>
export type Role = Model<V1Role>
export type RoleBinding = Model<V1RoleBinding>
export type DeviceClass = Model<V1DeviceClass>
export type ResourceClaim = Model<ResourceV1ResourceClaim>
export type ResourceClaimTemplate = Model<V1ResourceClaimTemplate>
export type ResourceSlice = Model<V1ResourceSlice>
export type CSIDriver = Model<V1CSIDriver>
export type CSINode = Model<V1CSINode>
export type CSIStorageCapacity = Model<V1CSIStorageCapacity>
export type RuntimeClass = Model<V1RuntimeClass>
export type StorageClass = Model<V1StorageClass>
export type VolumeAttachment = Model<V1VolumeAttachment>
export type VolumeAttributesClass = Model<V1VolumeAttributesClass>

export type ClusterTrustBundle = Model<V1beta1ClusterTrustBundle>
export type PodCertificateRequest = Model<V1beta1PodCertificateRequest>
export type StorageVersionMigration = Model<V1beta1StorageVersionMigration>

export const configMaps = resource<ConfigMap>('v1', 'ConfigMap', 'configmaps')
export const endpoints = resource<Endpoints>('v1', 'Endpoints', 'endpoints')
export const events = resource<Event>('v1', 'Event', 'events')
export const limitRanges = resource<LimitRange>('v1', 'LimitRange', 'limitranges')
export const namespaces = resource<Namespace>('v1', 'Namespace', 'namespaces', false)
export const nodes = resource<Node>('v1', 'Node', 'nodes', false)
export const persistentVolumeClaims = resource<PersistentVolumeClaim>(
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
)
export const persistentVolumes = resource<PersistentVolume>('v1', 'PersistentVolume', 'persistentvolumes', false)
export const pods = resource<Pod>('v1', 'Pod', 'pods')
export const podTemplates = resource<PodTemplate>('v1', 'PodTemplate', 'podtemplates')
export const replicationControllers = resource<ReplicationController>(
  'v1',
  'ReplicationController',
  'replicationcontrollers',
)
export const resourceQuotas = resource<ResourceQuota>('v1', 'ResourceQuota', 'resourcequotas')
export const secrets = resource<Secret>('v1', 'Secret', 'secrets')
export const serviceAccounts = resource<ServiceAccount>('v1', 'ServiceAccount', 'serviceaccounts')
export const services = resource<Service>('v1', 'Service', 'services')
export const validatingAdmissionPolicies = resource<ValidatingAdmissionPolicy>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
  false,
)
export const validatingAdmissionPolicyBindings = resource<ValidatingAdmissionPolicyBinding>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
  false,
)
export const customResourceDefinitions = resource<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  false,
)
export const apiServices = resource<APIService>('apiregistration.k8s.io/v1', 'APIService', 'apiservices', false)
export const controllerRevisions = resource<ControllerRevision>('apps/v1', 'ControllerRevision', 'controllerrevisions')
export const daemonSets = resource<DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets')
export const deployments = resource<Deployment>('apps/v1', 'Deployment', 'deployments')
export const replicaSets = resource<ReplicaSet>('apps/v1', 'ReplicaSet', 'replicasets')
export const statefulSets = resource<StatefulSet>('apps/v1', 'StatefulSet', 'statefulsets')
export const subjectAccessReviews = resource<SubjectAccessReview>(
  'authorization.k8s.io/v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
  false,
)
export const tokenReviews = resource<TokenReview>('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews', false)
export const horizontalPodAutoscalers = resource<HorizontalPodAutoscaler>(
  'autoscaling/v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
)
export const cronJobs = resource<CronJob>('batch/v1', 'CronJob', 'cronjobs')
export const jobs = resource<Job>('batch/v1', 'Job', 'jobs')
export const certificateSigningRequests = resource<CertificateSigningRequest>(
  'certificates.k8s.io/v1',
  'CertificateSigningRequest',
  'certificatesigningrequests',
  false,
)
export const leases = resource<Lease>('coordination.k8s.io/v1', 'Lease', 'leases')
export const endpointSlices = resource<EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices')
export const networkPolicies = resource<NetworkPolicy>('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies')
export const ingresses = resource<Ingress>('networking.k8s.io/v1', 'Ingress', 'ingresses')
export const ingressClasses = resource<IngressClass>('networking.k8s.io/v1', 'IngressClass', 'ingressclasses', false)
export const ipAddresses = resource<IPAddress>('networking.k8s.io/v1', 'IPAddress', 'ipaddresses', false)
export const serviceCIDRs = resource<ServiceCIDR>('networking.k8s.io/v1', 'ServiceCIDR', 'servicecidrs', false)
export const podDisruptionBudgets = resource<PodDisruptionBudget>(
  'policy/v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
)
export const clusterRoles = resource<ClusterRole>('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', false)
export const clusterRoleBindings = resource<ClusterRoleBinding>(
  'rbac.authorization.k8s.io/v1',
  'ClusterRoleBinding',
  'clusterrolebindings',
  false,
)
export const roles = resource<Role>('rbac.authorization.k8s.io/v1', 'Role', 'roles')
export const roleBindings = resource<RoleBinding>('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings')
export const deviceClasses = resource<DeviceClass>('resource.k8s.io/v1', 'DeviceClass', 'deviceclasses', false)
export const resourceClaims = resource<ResourceClaim>('resource.k8s.io/v1', 'ResourceClaim', 'resourceclaims')
export const resourceClaimTemplates = resource<ResourceClaimTemplate>(
  'resource.k8s.io/v1',
  'ResourceClaimTemplate',
  'resourceclaimtemplates',
)
export const resourceSlices = resource<ResourceSlice>('resource.k8s.io/v1', 'ResourceSlice', 'resourceslices', false)
export const csiDrivers = resource<CSIDriver>('storage.k8s.io/v1', 'CSIDriver', 'csidrivers', false)
export const csiNodes = resource<CSINode>('storage.k8s.io/v1', 'CSINode', 'csinodes', false)
export const csiStorageCapacities = resource<CSIStorageCapacity>(
  'storage.k8s.io/v1',
  'CSIStorageCapacity',
  'csistoragecapacities',
)
export const runtimeClasses = resource<RuntimeClass>('node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses', false)
export const storageClasses = resource<StorageClass>('storage.k8s.io/v1', 'StorageClass', 'storageclasses', false)
export const volumeAttachments = resource<VolumeAttachment>(
  'storage.k8s.io/v1',
  'VolumeAttachment',
  'volumeattachments',
  false,
)
export const volumeAttributesClasses = resource<VolumeAttributesClass>(
  'storage.k8s.io/v1',
  'VolumeAttributesClass',
  'volumeattributesclasses',
  false,
)
/** Beta: not every server has them. */
export const clusterTrustBundles = resource<ClusterTrustBundle>(
  'certificates.k8s.io/v1beta1',
  'ClusterTrustBundle',
  'clustertrustbundles',
  false,
)
export const podCertificateRequests = resource<PodCertificateRequest>(
  'certificates.k8s.io/v1beta1',
  'PodCertificateRequest',
  'podcertificaterequests',
)
export const storageVersionMigrations = resource<StorageVersionMigration>(
  'storagemigration.k8s.io/v1beta1',
  'StorageVersionMigration',
  'storageversionmigrations',
  false,
)
