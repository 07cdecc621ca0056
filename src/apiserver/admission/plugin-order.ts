/**
 * The plug-ins that there are, in the order in which they look at a write, and which of them are on unless somebody
 * says otherwise. Upstream's.
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
  // Upstream's looks at PodGroups, which are there only with the gate GenericWorkload: alpha, off.
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
  // Upstream's looks at Jobs only with the gate WorkloadWithJob: alpha, off.
  'JobValidation',
  'PodResizeValidator',
  // What changes objects by rules of others, then what only looks at them, comes last.
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
]

export const usualPlugins: ReadonlySet<string> = new Set([
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

/** Features that have to be on for a plug-in to do something. */
const pluginGates: Readonly<Partial<Record<string, readonly string[]>>> = {
  MutatingAdmissionPolicy: ['MutatingAdmissionPolicy'],
  NodeDeclaredFeatureValidator: ['NodeDeclaredFeatures'],
  PodTopologyLabels: ['PodTopologyLabelsAdmission'],
}

interface Choice {
  readonly enabled: readonly string[]
  readonly disabled: readonly string[]
}

export const isPluginOn = (name: string, { enabled, disabled }: Choice, features: FeatureGates): boolean =>
  (usualPlugins.has(name) || enabled.includes(name)) &&
  !disabled.includes(name) &&
  (pluginGates[name]?.every((gate) => features.isEnabled(gate)) ?? true)
