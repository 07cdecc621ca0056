/** DefaultTolerationSeconds: pods stay for five minutes on nodes that are not ready or unreachable, unless they say otherwise. */
import type { KubeObject } from '../../machinery/object.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { AdmissionPlugin } from './plugin.ts'

interface Toleration {
  key?: string
  operator?: string
  effect?: string
  tolerationSeconds?: number
}

interface Pod extends KubeObject {
  spec?: { tolerations?: Toleration[] }
}

const seconds = 300
const taints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

/** Whether a toleration speaks of the taint's NoExecute: without a key it speaks of all, without an effect too. */
const covers = ({ key, effect }: Toleration, taint: string): boolean => (!key || key === taint) && (!effect || effect === 'NoExecute')

export const defaultTolerationSeconds = (pods: ServedResource): AdmissionPlugin => ({
  name: 'DefaultTolerationSeconds',
  mutate({ operation, resource, subresource, object }) {
    if (resource !== pods || subresource || !object || (operation !== 'CREATE' && operation !== 'UPDATE')) return
    const { spec } = object as Pod
    if (!spec) return
    const missing = taints.filter((taint) => !spec.tolerations?.some((toleration) => covers(toleration, taint)))
    if (missing.length === 0) return
    spec.tolerations = [...(spec.tolerations ?? []), ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds }))]
  },
})
