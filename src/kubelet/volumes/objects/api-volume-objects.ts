/** The objects of volumes, read from the API server with each call. */
import {
  type ClusterTrustBundle,
  clusterTrustBundles,
  configMaps,
  type PodCertificateRequest,
  persistentVolumeClaims,
  persistentVolumes,
  podCertificateRequests,
  secrets,
  serviceAccounts,
} from '../../../client/kinds.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import type { PodCertificatesOptions } from '../certificates/pod-certificates.ts'
import type { IssuedToken, TokenSpec } from '../tokens/token-cache.ts'
import type { VolumeObjects } from './volume-objects.ts'

type Reader = Pick<RestClient, 'find' | 'list'>
type TokenClient = Pick<RestClient, 'createUnder'>

export const apiVolumeObjects = (client: Reader): VolumeObjects => ({
  configMap: (namespace, name) => client.find(configMaps, namespace, name),
  secret: (namespace, name) => client.find(secrets, namespace, name),
  claim: (namespace, name) => client.find(persistentVolumeClaims, namespace, name),
  persistentVolume: (name) => client.find(persistentVolumes, '', name),
  trustBundle: (name) => client.find(clusterTrustBundles, '', name),
  async trustBundles() {
    const { items } = await client.list<ClusterTrustBundle>(clusterTrustBundles)
    return items
  },
})

/** Requests tokens for `TokenCache`. */
export const requestToken =
  (client: TokenClient) =>
  async (namespace: string, serviceAccount: string, spec: TokenSpec): Promise<IssuedToken> => {
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
    const answer = await client.createUnder<TokenAnswer>(serviceAccounts, namespace, serviceAccount, 'token', request)
    return { ...answer.status, expirationSeconds: answer.spec?.expirationSeconds }
  }

interface TokenAnswer {
  readonly spec?: { readonly expirationSeconds?: number }
  readonly status: { readonly token: string; readonly expirationTimestamp: string }
}

/** The calls of `PodCertificates`. */
export const certificateCalls = (
  client: Pick<RestClient, 'find' | 'create'>,
): Pick<PodCertificatesOptions, 'serviceAccountUid' | 'create' | 'find'> => ({
  async serviceAccountUid(namespace, name) {
    return (await client.find(serviceAccounts, namespace, name))?.metadata.uid
  },
  create: (request) => client.create<PodCertificateRequest>(podCertificateRequests, request),
  find: (namespace, name) => client.find(podCertificateRequests, namespace, name),
})
