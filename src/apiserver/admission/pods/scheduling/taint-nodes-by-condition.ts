/** TaintNodesByCondition: a new node gets the not-ready taint, until the node lifecycle controller has checked it. */
import type { V1Node } from '@kubernetes/client-node'
import type { Model } from '../../../../machinery/object.ts'
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { AdmissionPlugin } from '../../plugin.ts'

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

export const taintNodesByCondition = (nodes: ServedResource): AdmissionPlugin => ({
  name: 'TaintNodesByCondition',
  handles: ['CREATE'],
  mutate({ resource, subresource, object }) {
    if (resource !== nodes || subresource || !object) return
    const node = object as Model<V1Node>
    const taints = node.spec?.taints ?? []
    if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return
    node.spec = { ...node.spec, taints: [...taints, { ...notReady }] }
  },
})
