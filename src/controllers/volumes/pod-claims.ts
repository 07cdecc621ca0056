/** The claims of a pod's volumes. */
import type { Pod } from '../../client/kinds.ts'

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]

/** The name of an ephemeral volume's claim. */
export const ephemeralClaimName = (pod: string, volume: string): string => `${pod}-${volume}`

/** The name of a volume's claim, referenced or ephemeral; undefined if it has none. */
export function claimNameOf(pod: Pod, { name, persistentVolumeClaim, ephemeral }: Volume): string | undefined {
  if (persistentVolumeClaim) return persistentVolumeClaim.claimName
  return ephemeral ? ephemeralClaimName(pod.metadata.name ?? '', name) : undefined
}

/** The keys of a pod's claims. Also an index function. */
export function claimsOfPod(pod: Pod): string[] {
  const keys: string[] = []
  for (const volume of pod.spec?.volumes ?? []) {
    const name = claimNameOf(pod, volume)
    if (name !== undefined) keys.push(`${pod.metadata.namespace}/${name}`)
  }
  return keys
}
