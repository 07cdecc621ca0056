/**
 * DefaultTolerationSeconds: pods stay for five minutes on nodes that are not ready or unreachable, unless they say
 * otherwise.
 */
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { AdmissionPlugin } from '../../plugin.ts'
import { writtenPod } from '../pod-write.ts'
import type { Toleration } from './tolerations.ts'

/** How long pods stay, in seconds. */
export interface TolerationSeconds {
  readonly notReady?: number
  readonly unreachable?: number
}

const usualSeconds = 300

/** Whether a toleration speaks of the taint's NoExecute: without a key it speaks of all, without an effect too. */
const covers = ({ key, effect }: Toleration, taint: string): boolean =>
  (!key || key === taint) && (!effect || effect === 'NoExecute')

export const defaultTolerationSeconds = (
  pods: ServedResource,
  { notReady = usualSeconds, unreachable = usualSeconds }: TolerationSeconds = {},
): AdmissionPlugin => ({
  name: 'DefaultTolerationSeconds',
  handles: ['CREATE', 'UPDATE'],
  mutate(attributes) {
    const spec = writtenPod(pods, attributes)?.spec
    if (!spec) return
    const missing = [
      { key: 'node.kubernetes.io/not-ready', tolerationSeconds: notReady },
      { key: 'node.kubernetes.io/unreachable', tolerationSeconds: unreachable },
    ].filter(({ key }) => !spec.tolerations?.some((toleration) => covers(toleration, key)))
    if (missing.length === 0) return
    const added = missing.map(({ key, tolerationSeconds }) => ({
      key,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds,
    }))
    spec.tolerations = [...(spec.tolerations ?? []), ...added]
  },
})
