/** Plug-ins for identities and permissions: nodes, certificates, owners. */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { certificateApproval } from './certificate-approval.ts'
import { certificateSigning } from './certificate-signing.ts'
import { certificateSubjectRestriction } from './certificate-subject-restriction.ts'
import { clusterTrustBundleAttest } from './cluster-trust-bundle-attest.ts'
import { denyServiceExternalIPs } from './deny-service-external-ips.ts'
import { nodeRestriction } from './node-restriction/index.ts'
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts'

export const identityPlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  CertificateApproval: ({ authorizer }) => certificateApproval(authorizer),
  CertificateSigning: ({ authorizer }) => certificateSigning(authorizer),
  CertificateSubjectRestriction: () => certificateSubjectRestriction,
  ClusterTrustBundleAttest: ({ authorizer }) => clusterTrustBundleAttest(authorizer),
  DenyServiceExternalIPs: ({ find }) => denyServiceExternalIPs(find('v1/services')),
  NodeRestriction: (sources) => nodeRestriction(sources),
  OwnerReferencesPermissionEnforcement: ownerReferencesPermissionEnforcement,
}
