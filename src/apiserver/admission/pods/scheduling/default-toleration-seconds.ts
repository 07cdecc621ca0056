/** DefaultTolerationSeconds: by default, pods tolerate nodes that are not ready or unreachable for five minutes. */
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { AdmissionPlugin } from '../../plugin.ts'
import { writtenPod } from '../pod-write.ts'
import type { Toleration } from './tolerations.ts'

/** Toleration times in seconds. */
export interface TolerationSeconds {
  readonly notReady?: number
  readonly unreachable?: number
}

const defaultSeconds = 300

/**
 * Returns true if a toleration covers the taint with NoExecute. An empty key covers all taints, an empty effect all
 * effects.
 */
const covers = ({ key, effect }: Toleration, taint: string): boolean =>
  (!key || key === taint) && (!effect || effect === 'NoExecute')

export const defaultTolerationSeconds = (
  pods: ServedResource,
  { notReady = defaultSeconds, unreachable = defaultSeconds }: TolerationSeconds = {},
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
