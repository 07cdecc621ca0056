/** The claims that a pod's volumes stand for. */
import type { Pod } from '../../client/kinds.ts'

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]

/** The claim of a volume that is made for its pod alone. */
export const ephemeralClaimName = (pod: string, volume: string): string => `${pod}-${volume}`

/** The name of a volume's claim: the one that it names, or the one that is made for it. */
export function claimNameOf(pod: Pod, { name, persistentVolumeClaim, ephemeral }: Volume): string | undefined {
  if (persistentVolumeClaim) return persistentVolumeClaim.claimName
  return ephemeral ? ephemeralClaimName(pod.metadata.name ?? '', name) : undefined
}

/** The claims of a pod, as keys: an index of pods, too. */
export function claimsOfPod(pod: Pod): string[] {
  const keys: string[] = []
  for (const volume of pod.spec?.volumes ?? []) {
    const name = claimNameOf(pod, volume)
    if (name !== undefined) keys.push(`${pod.metadata.namespace}/${name}`)
  }
  return keys
}
