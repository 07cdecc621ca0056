/** LimitPodHardAntiAffinityTopology: required anti-affinity may only use the topology key of the node. */
import type { ServedResource } from '../../../registry/served-resource.ts'
import { forbiddenWrite } from '../../forbidden-write.ts'
import type { AdmissionPlugin } from '../../plugin.ts'
import { writtenPod } from '../pod-write.ts'

const hostname = 'kubernetes.io/hostname'

export const limitPodHardAntiAffinityTopology = (pods: ServedResource): AdmissionPlugin => ({
  name: 'LimitPodHardAntiAffinityTopology',
  handles: ['CREATE', 'UPDATE'],
  validate(attributes) {
    const terms = writtenPod(pods, attributes)?.spec.affinity?.podAntiAffinity
      ?.requiredDuringSchedulingIgnoredDuringExecution
    const wide = terms?.find(({ topologyKey }) => topologyKey !== hostname)
    if (!wide) return
    throw forbiddenWrite(
      attributes,
      `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wide.topologyKey} but only key ` +
        `${hostname} is allowed`,
    )
  },
})
