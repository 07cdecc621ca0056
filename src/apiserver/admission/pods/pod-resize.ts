/**
 * PodResizeValidator: rejects an in-place resize beyond the size of the node, or on a node without Linux (KEP-1287).
 */
import type { V1Node } from '@kubernetes/client-node'
import type { Pod } from '../../../api/core/pod/model.ts'
import { podRequests } from '../../../api/core/pod/resources/pod-resources.ts'
import { after } from '../../../lib/flow/after.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model } from '../../../machinery/object.ts'
import { milliValue, wholeValue } from '../../../machinery/values/quantity.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'

type Node = Model<V1Node>

export function podResizeValidator({ registry, find }: PluginSources): AdmissionPlugin {
  const pods = find('v1/pods')
  const nodes = find('v1/nodes')
  return {
    name: 'PodResizeValidator',
    handles: ['UPDATE'],
    validate(attributes) {
      if (attributes.resource !== pods || attributes.subresource !== 'resize') return
      const pod = attributes.object as Pod
      const nodeName = pod.spec?.nodeName
      if (!nodeName || semanticallyEqual(pod.spec, (attributes.old as Pod | undefined)?.spec)) return
      return after(registry.get(nodes, nodes.key('', nodeName)), (found) => {
        const why = found ? resizeFault(pod, found.parse<Node>()) : `node ${JSON.stringify(nodeName)} not found`
        if (why) throw forbiddenWrite(attributes, why)
      })
    },
  }
}

/** Returns the reason why the resized pod cannot run on the node; undefined if it can. */
export function resizeFault(pod: Pod, { metadata, status }: Node): string | undefined {
  const requests = podRequests(pod, { overhead: true })
  const lacking = [
    lack('cpu', milliValue(requests.cpu ?? '0'), milliValue(status?.allocatable?.cpu ?? '0')),
    lack('memory', wholeValue(requests.memory ?? '0'), wholeValue(status?.allocatable?.memory ?? '0')),
  ].filter((one) => one !== undefined)
  if (lacking.length > 0) return `Node didn't have enough allocatable resources: ${lacking.join('; ')}`
  const system = metadata.labels?.['kubernetes.io/os'] ?? ''
  if (system !== 'linux')
    return (
      `pod resize is only supported on linux nodes, node ${JSON.stringify(metadata.name)} is ` +
      `${JSON.stringify(system)}`
    )
}

const lack = (name: string, requested: bigint, allocatable: bigint): string | undefined =>
  requested > allocatable ? `${name}, requested: ${requested}, allocatable: ${allocatable}` : undefined
