/** PodTopologyLabels: a pod that is put on a node shows the node's zone and region, so that it can read them of itself (KEP-4742). */
import type { Pod } from '../../../../api/core/pod/model.ts'
import { own } from '../../../../lib/own.ts'
import { FollowedObjects } from '../../../registry/followed/followed-objects.ts'
import type { AdmissionPlugin, PluginSources } from '../../plugin.ts'

type Labels = Readonly<Record<string, string>>

const copied = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

export function podTopologyLabels({ registry, find, log }: PluginSources): AdmissionPlugin {
  const pods = find('v1/pods')
  const nodes = new FollowedObjects<Labels | undefined>({ registry, resource: find('v1/nodes'), read: ({ summary }) => topologyOf(summary.labels), log })
  return {
    name: 'PodTopologyLabels',
    handles: ['CREATE', 'UPDATE'],
    mutate({ operation, resource, subresource, object }) {
      // Bindings arrive as the change of the pod that they are.
      if (resource !== pods || (operation === 'CREATE' ? subresource !== '' : subresource !== 'binding')) return
      const pod = object as Pod
      const labels = pod.spec?.nodeName ? nodes.get('', pod.spec.nodeName) : undefined
      if (labels) pod.metadata.labels = { ...labels, ...pod.metadata.labels }
    },
    start: () => nodes.start(),
    stop: () => nodes.stop(),
  }
}

function topologyOf(labels: Labels): Labels | undefined {
  const found = copied.flatMap((key) => {
    const value = own(labels, key)
    return value === undefined ? [] : [[key, value] as const]
  })
  return found.length ? Object.fromEntries(found) : undefined
}
