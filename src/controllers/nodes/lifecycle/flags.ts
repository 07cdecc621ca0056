/** Flags of the node lifecycle controller, with kube-controller-manager's names and defaults. */
import type { ControllerFlag } from '../../flags.ts'

export const lifecycleFlags: readonly ControllerFlag[] = [
  {
    name: 'node-monitor-grace-period',
    type: 'duration',
    help: 'time without status updates after which a node becomes Unknown',
    default: '50s',
  },
  { name: 'node-monitor-period', type: 'duration', help: 'period of checking nodes', default: '5s' },
  {
    name: 'node-startup-grace-period',
    type: 'duration',
    help: 'time within which a new node must report its status',
    default: '1m',
  },
  { name: 'node-eviction-rate', type: 'number', help: 'nodes per second whose pods are evicted', default: '0.1' },
  {
    name: 'secondary-node-eviction-rate',
    type: 'number',
    help: 'nodes per second whose pods are evicted in large, partially disrupted zones',
    default: '0.01',
  },
  {
    name: 'unhealthy-zone-threshold',
    type: 'number',
    help: 'share of unready nodes that makes a zone partially disrupted',
    default: '0.55',
  },
  {
    name: 'large-cluster-size-threshold',
    type: 'number',
    help: 'number of nodes above which a zone is large',
    default: '50',
  },
]
