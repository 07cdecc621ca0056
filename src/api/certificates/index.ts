/** certificates.k8s.io, in the order of its discovery. */
import { certificateSigningRequests } from './certificate-signing-request.ts'
import { alphaClusterTrustBundles, clusterTrustBundles } from './cluster-trust-bundle.ts'
import { podCertificateRequests } from './pod-certificate-request.ts'

export const resources = [
  certificateSigningRequests,
  clusterTrustBundles,
  podCertificateRequests,
  alphaClusterTrustBundles,
]
