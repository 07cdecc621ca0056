/** Certificates that are asked for: approved, signed, and forgotten. */
import { clusterTrustBundles, podCertificateRequests } from '../../client/kinds.ts'
import type { ControllerDescriptor } from '../descriptor.ts'

const account = 'certificate-controller'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'certificatesigningrequest-approving-controller',
    aliases: ['csrapproving'],
    account,
    make: async ({ signer }) => (await import('./approving.ts')).csrApproving(signer),
  },
  {
    name: 'certificatesigningrequest-signing-controller',
    aliases: ['csrsigning'],
    account,
    make: async ({ signer }) => (await import('./signing.ts')).csrSigning(signer),
  },
  {
    name: 'certificatesigningrequest-cleaner-controller',
    aliases: ['csrcleaner'],
    account,
    make: async () => (await import('./cleaner.ts')).csrCleaner(),
  },
  {
    name: 'podcertificaterequest-cleaner-controller',
    account: 'podcertificaterequestcleaner',
    requires: [podCertificateRequests],
    make: async () => (await import('./pod-request-cleaner.ts')).podRequestCleaner(),
  },
  {
    name: 'kube-apiserver-serving-clustertrustbundle-publisher-controller',
    account: 'kube-apiserver-serving-clustertrustbundle-publisher',
    requires: [clusterTrustBundles],
    make: async ({ rootCA }) => (await import('./trust-bundle-publisher.ts')).trustBundlePublisher(rootCA),
  },
]
