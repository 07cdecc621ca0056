/**
 * The names of all plug-ins in the order in which they run, and those that are enabled by default. The same as
 * upstream.
 */
import type { FeatureGates } from '../../api/features/feature-gates.ts'

export const pluginOrder: readonly string[] = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'AlwaysPullImages',
  'ImagePolicyWebhook',
  'PodSecurity',
  'PodNodeSelector',
  'Priority',
  'DefaultTolerationSeconds',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  // Upstream's plug-in checks PodGroups, which exist only with the gate GenericWorkload: alpha, off.
  'PodGroupProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DenyServiceExternalIPs',
  'PodTopologyLabels',
  // As PodGroupProtection.
  'PodGroupWorkloadExists',
  'NodeDeclaredFeatureValidator',
  // Upstream's plug-in checks Jobs only with the gate WorkloadWithJob: alpha, off.
  'JobValidation',
  'PodResizeValidator',
  // Plug-ins that run policies and webhooks of users come last: first the mutating, then the validating ones.
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
]

export const defaultEnabledPlugins: ReadonlySet<string> = new Set([
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'ClusterTrustBundleAttest',
  'DefaultIngressClass',
  'DefaultStorageClass',
  'DefaultTolerationSeconds',
  'JobValidation',
  'LimitRanger',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'NamespaceLifecycle',
  'NodeDeclaredFeatureValidator',
  'PersistentVolumeClaimResize',
  'PodGroupProtection',
  'PodGroupWorkloadExists',
  'PodResizeValidator',
  'PodSecurity',
  'PodTopologyLabels',
  'Priority',
  'ResourceQuota',
  'RuntimeClass',
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'TaintNodesByCondition',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
])

/** The features that a plug-in needs. */
const pluginGates: Readonly<Partial<Record<string, readonly string[]>>> = {
  MutatingAdmissionPolicy: ['MutatingAdmissionPolicy'],
  NodeDeclaredFeatureValidator: ['NodeDeclaredFeatures'],
  PodTopologyLabels: ['PodTopologyLabelsAdmission'],
}

interface PluginSelection {
  readonly enabled: readonly string[]
  readonly disabled: readonly string[]
}

export const isPluginOn = (name: string, { enabled, disabled }: PluginSelection, features: FeatureGates): boolean =>
  (defaultEnabledPlugins.has(name) || enabled.includes(name)) &&
  !disabled.includes(name) &&
  (pluginGates[name]?.every((gate) => features.isEnabled(gate)) ?? true)
