/** ExtendedResourceToleration: a pod that requests a device tolerates the taint of nodes reserved for it. */
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { AdmissionPlugin } from '../../plugin.ts'
import { writtenPod } from '../pod-write.ts'

/** True for a qualified name outside of Kubernetes' domain, such as `example.com/device`. */
const isExtended = (name: string): boolean =>
  name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.')

export const extendedResourceToleration = (pods: ServedResource): AdmissionPlugin => ({
  name: 'ExtendedResourceToleration',
  handles: ['CREATE', 'UPDATE'],
  mutate(attributes) {
    const spec = writtenPod(pods, attributes)?.spec
    if (!spec) return
    const requested = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      Object.keys(resources?.requests ?? {}),
    )
    for (const key of [...new Set(requested.filter(isExtended))].sort()) {
      const others = (spec.tolerations ?? []).filter(
        (one) => !(one.key === key && one.operator === 'Exists' && one.effect === 'NoSchedule' && !one.value),
      )
      if (others.length === (spec.tolerations ?? []).length)
        spec.tolerations = [...others, { key, operator: 'Exists', effect: 'NoSchedule' }]
    }
  },
})
