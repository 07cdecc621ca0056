/**
 * PodTopologyLabels: copies the zone and region labels of the node to the pod when it is bound (KEP-4742), so that the
 * pod can read them through the downward API.
 */
import type { Pod } from '../../../../api/core/pod/model.ts'
import { own } from '../../../../lib/own.ts'
import type { KubeObject } from '../../../../machinery/object.ts'
import { Informer } from '../../../registry/informer.ts'
import type { AdmissionPlugin, PluginSources } from '../../plugin.ts'

interface Binding extends KubeObject {
  readonly target?: { readonly kind?: string; readonly name?: string }
}

type Labels = Readonly<Record<string, string>>

const copied = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

export function podTopologyLabels({ registry, find, log }: PluginSources): AdmissionPlugin {
  const pods = find('v1/pods')
  const nodes = new Informer<Labels | undefined>({
    registry,
    resource: find('v1/nodes'),
    read: ({ summary }) => topologyOf(summary.labels),
    log,
  })
  return {
    name: 'PodTopologyLabels',
    handles: ['CREATE'],
    mutate({ resource, subresource, object }) {
      if (resource !== pods || !object || (subresource !== '' && subresource !== 'binding')) return
      const node = subresource ? nodeOf(object) : (object as Pod).spec?.nodeName
      const labels = node ? nodes.get('', node) : undefined
      // Overwrites labels of the pod or binding. The labels of a binding become the pod's.
      if (labels) object.metadata.labels = { ...object.metadata.labels, ...labels }
    },
    start: () => nodes.start(),
    stop: () => nodes.stop(),
  }
}

/** Schedulers set only the kind and name of the target. */
const nodeOf = ({ target }: Binding): string | undefined => (target?.kind === 'Node' ? target.name : undefined)

function topologyOf(labels: Labels): Labels | undefined {
  const found = copied.flatMap((key) => {
    const value = own(labels, key)
    return value === undefined ? [] : [[key, value] as const]
  })
  return found.length ? Object.fromEntries(found) : undefined
}
