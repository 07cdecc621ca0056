/** Flags of the node lifecycle controller: kube-controller-manager's, with its defaults. */
import type { ControllerFlag } from '../../flags.ts'

export const lifecycleFlags: readonly ControllerFlag[] = [
  {
    name: 'node-monitor-grace-period',
    type: 'duration',
    help: 'how long a node may be silent before it is Unknown',
    default: '50s',
  },
  { name: 'node-monitor-period', type: 'duration', help: 'how often nodes are looked at', default: '5s' },
  { name: 'node-startup-grace-period', type: 'duration', help: 'how long a new node may be silent', default: '1m' },
  { name: 'node-eviction-rate', type: 'number', help: 'nodes a second whose pods are driven away', default: '0.1' },
  {
    name: 'secondary-node-eviction-rate',
    type: 'number',
    help: 'the same in large zones of which a part is down',
    default: '0.01',
  },
  {
    name: 'unhealthy-zone-threshold',
    type: 'number',
    help: 'the share of nodes that have to be down for that',
    default: '0.55',
  },
  {
    name: 'large-cluster-size-threshold',
    type: 'number',
    help: 'zones with more nodes than this are large',
    default: '50',
  },
]
