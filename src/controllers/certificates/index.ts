/** Controllers that approve, sign and clean up certificate requests. */
import { clusterTrustBundles, podCertificateRequests } from '../../client/kinds.ts'
import type { ControllerDescriptor } from '../descriptor.ts'

const account = 'certificate-controller'
const duration = 'cluster-signing-duration'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'certificatesigningrequest-approving-controller',
    queue: 'certificate',
    aliases: ['csrapproving'],
    account,
    make: async ({ signer, clock }) => (await import('./approving.ts')).csrApproving(signer, () => clock.now()),
  },
  {
    name: 'certificatesigningrequest-signing-controller',
    queue: 'certificate',
    aliases: ['csrsigning'],
    account,
    flags: [
      {
        name: duration,
        type: 'duration',
        help: 'maximum and default duration of signed certificates',
        default: '8760h0m0s',
      },
    ],
    missingRequirement: ({ signer }) =>
      signer.signerNames?.length === 0
        ? 'no signing certificate is configured (--cluster-signing-cert-file)'
        : undefined,
    make: async ({ signer }, flags) => (await import('./signing.ts')).csrSigning(signer, flags.duration(duration)),
  },
  {
    name: 'certificatesigningrequest-cleaner-controller',
    aliases: ['csrcleaner'],
    account,
    make: async ({ clock }) => (await import('./cleaner.ts')).csrCleaner(() => clock.now()),
  },
  {
    name: 'podcertificaterequest-cleaner-controller',
    account: 'podcertificaterequestcleaner',
    requires: [podCertificateRequests],
    make: async ({ clock }) => (await import('./pod-request-cleaner.ts')).podRequestCleaner(() => clock.now()),
  },
  {
    name: 'kube-apiserver-serving-clustertrustbundle-publisher-controller',
    queue: 'ca_cert_publisher_cluster_trust_bundles',
    account: 'kube-apiserver-serving-clustertrustbundle-publisher',
    requires: [clusterTrustBundles],
    make: async ({ rootCA }) => (await import('./trust-bundle-publisher.ts')).trustBundlePublisher(rootCA),
  },
]
