/** DefaultTolerationSeconds: pods stay for five minutes on nodes that are not ready or unreachable, unless they say otherwise. */
import type { KubeObject } from '../../../machinery/object.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionPlugin } from '../plugin.ts'

interface Toleration {
  key?: string
  operator?: string
  effect?: string
  tolerationSeconds?: number
}

interface Pod extends KubeObject {
  spec?: { tolerations?: Toleration[] }
}

/** How long pods stay, in seconds. */
export interface TolerationSeconds {
  readonly notReady?: number
  readonly unreachable?: number
}

const usualSeconds = 300

/** Whether a toleration speaks of the taint's NoExecute: without a key it speaks of all, without an effect too. */
const covers = ({ key, effect }: Toleration, taint: string): boolean => (!key || key === taint) && (!effect || effect === 'NoExecute')

export const defaultTolerationSeconds = (
  pods: ServedResource,
  { notReady = usualSeconds, unreachable = usualSeconds }: TolerationSeconds = {},
): AdmissionPlugin => ({
  name: 'DefaultTolerationSeconds',
  mutate({ operation, resource, subresource, object }) {
    if (resource !== pods || subresource || !object || (operation !== 'CREATE' && operation !== 'UPDATE')) return
    const { spec } = object as Pod
    if (!spec) return
    const missing = [
      { key: 'node.kubernetes.io/not-ready', tolerationSeconds: notReady },
      { key: 'node.kubernetes.io/unreachable', tolerationSeconds: unreachable },
    ].filter(({ key }) => !spec.tolerations?.some((toleration) => covers(toleration, key)))
    if (missing.length === 0) return
    const added = missing.map(({ key, tolerationSeconds }) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }))
    spec.tolerations = [...(spec.tolerations ?? []), ...added]
  },
})
