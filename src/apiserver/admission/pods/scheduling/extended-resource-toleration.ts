/**
 * ExtendedResourceToleration: who asks for a device tolerates the taint that keeps others from the nodes that have it.
 */
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { AdmissionPlugin } from '../../plugin.ts'
import { writtenPod } from '../pod-write.ts'

/** `example.com/device`: qualified, and not Kubernetes' own. */
const isExtended = (name: string): boolean =>
  name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.')

export const extendedResourceToleration = (pods: ServedResource): AdmissionPlugin => ({
  name: 'ExtendedResourceToleration',
  handles: ['CREATE', 'UPDATE'],
  mutate(attributes) {
    const spec = writtenPod(pods, attributes)?.spec
    if (!spec) return
    const asked = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      Object.keys(resources?.requests ?? {}),
    )
    for (const key of [...new Set(asked.filter(isExtended))].sort()) {
      const others = (spec.tolerations ?? []).filter(
        (one) => !(one.key === key && one.operator === 'Exists' && one.effect === 'NoSchedule' && !one.value),
      )
      if (others.length === (spec.tolerations ?? []).length)
        spec.tolerations = [...others, { key, operator: 'Exists', effect: 'NoSchedule' }]
    }
  },
})
