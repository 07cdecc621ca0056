/** Values that drivers get with a volume: secrets, facts of the pod, and tokens of its service account. */
import type { CSIDriver } from '../../../../client/kinds.ts'
import { type Pod, specOf } from '../../../pod-types.ts'
import type { TokenCache } from '../../tokens/token-cache.ts'
import type { CsiObjects } from './csi-objects.ts'
import type { CsiVolume, SecretReference } from './csi-volume.ts'

type Values = Readonly<Record<string, string>>

/** Resolves with the texts of a secret. Rejects with upstream's message. */
export async function secretValues(
  objects: Pick<CsiObjects, 'secret'>,
  reference: SecretReference | undefined,
): Promise<Values> {
  if (!reference) return {}
  const { namespace, name } = reference
  const secret = await objects.secret(namespace, name)
  if (!secret) {
    const missing = `secrets ${JSON.stringify(name)} not found`
    throw new Error(`failed to find the secret ${name} in the namespace ${namespace} with error: ${missing}`)
  }
  const entries = Object.entries(secret.data ?? {})
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
}

/** The facts of a pod, if its driver requests them (`podInfoOnMount`). */
export function podAttributes(pod: Pod, { isEphemeral }: CsiVolume, driver: CSIDriver | undefined): Values {
  if (!driver?.spec?.podInfoOnMount) return {}
  const { name = '', namespace = '', uid = '' } = pod.metadata
  return {
    'csi.storage.k8s.io/pod.name': name,
    'csi.storage.k8s.io/pod.namespace': namespace,
    'csi.storage.k8s.io/pod.uid': uid,
    'csi.storage.k8s.io/serviceAccount.name': specOf(pod).serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(isEphemeral),
  }
}

const tokensKey = 'csi.storage.k8s.io/serviceAccount.tokens'
const defaultTokenSeconds = 3_600

/** The tokens that a driver requests (`tokenRequests`), by audience, as JSON. */
export async function tokenAttributes(
  pod: Pod,
  driver: CSIDriver | undefined,
  tokens: Pick<TokenCache, 'issued'>,
): Promise<Values> {
  const requests = driver?.spec?.tokenRequests ?? []
  if (requests.length === 0) return {}
  const { name = '', namespace = '', uid = '' } = pod.metadata
  const issued: Record<string, { token: string; expirationTimestamp: string }> = {}
  for (const { audience, expirationSeconds = defaultTokenSeconds } of requests) {
    const spec = {
      audiences: audience === '' ? [] : [audience],
      expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    }
    const { token, expiresMs } = await tokens.issued(namespace, specOf(pod).serviceAccountName ?? 'default', spec)
    const expirationTimestamp = new Date(expiresMs).toISOString().replace('.000Z', 'Z')
    issued[audience] = { token, expirationTimestamp }
  }
  return { [tokensKey]: JSON.stringify(issued) }
}
