/** Counts Services, their node ports and load balancers. */
import type { V1Service } from '@kubernetes/client-node'
import type { Model } from '../../../../machinery/object.ts'
import type { Usage } from './usage.ts'

const names = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers']

export const serviceUsage: Usage = {
  matching: (wanted) => wanted.filter((name) => names.includes(name)),
  usage(object) {
    const { spec } = object as Model<V1Service>
    return {
      'count/services': '1',
      services: '1',
      'services.nodeports': String(nodePorts(spec)),
      'services.loadbalancers': spec?.type === 'LoadBalancer' ? '1' : '0',
    }
  },
}

/** Returns the number of node ports. They are allocated later, so it counts those that will be. */
function nodePorts(spec: Model<V1Service>['spec']): number {
  const ports = spec?.ports ?? []
  if (spec?.type === 'NodePort') return ports.length
  if (spec?.type !== 'LoadBalancer') return 0
  return spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort).length : ports.length
}
