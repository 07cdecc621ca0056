/** Controllers of nodes and of the pods on them. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { addressFlags } from './addresses/flags.ts'
import { lifecycleFlags } from './lifecycle/flags.ts'

/** Upstream's account of the controllers that watch nodes. */
const account = 'node-controller'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'node-ipam-controller',
    queue: 'cidrallocator_node',
    aliases: ['nodeipam'],
    account,
    flags: addressFlags,
    make: async (_sources, flags, registry) => {
      const [{ nodeAddresses }, { RangeMetrics }] = await Promise.all([
        import('./addresses/controller.ts'),
        import('./addresses/metrics.ts'),
      ])
      return nodeAddresses(flags, new RangeMetrics(registry))
    },
  },
  {
    name: 'node-lifecycle-controller',
    queue: 'node_lifecycle_controller',
    aliases: ['nodelifecycle'],
    account,
    flags: lifecycleFlags,
    make: async ({ clock }, flags, registry) => {
      const [{ nodeLifecycle }, { NodeMetrics }] = await Promise.all([
        import('./lifecycle/controller.ts'),
        import('./lifecycle/metrics.ts'),
      ])
      return nodeLifecycle({
        metrics: new NodeMetrics(registry),
        grace: {
          monitor: flags.duration('node-monitor-grace-period'),
          startup: flags.duration('node-startup-grace-period'),
        },
        rates: {
          normal: flags.number('node-eviction-rate'),
          secondary: flags.number('secondary-node-eviction-rate'),
          unhealthyShare: flags.number('unhealthy-zone-threshold'),
          largeSize: flags.number('large-cluster-size-threshold'),
        },
        periodMs: flags.duration('node-monitor-period'),
        now: () => clock.now(),
      })
    },
  },
  {
    name: 'taint-eviction-controller',
    queue: 'noexec_taint_node',
    account,
    make: async ({ clock }, _flags, registry) => {
      const [{ taintEviction }, { nodeTaintMetrics }] = await Promise.all([
        import('./taint-eviction/controller.ts'),
        import('../pods/eviction-metrics.ts'),
      ])
      return taintEviction(nodeTaintMetrics(registry), () => clock.now())
    },
  },
  {
    name: 'pod-garbage-collector-controller',
    queue: 'orphaned_pods_nodes',
    aliases: ['podgc'],
    account: 'pod-garbage-collector',
    flags: [
      {
        name: 'terminated-pod-gc-threshold',
        type: 'number',
        help: 'maximum number of ended pods to retain; no limit if 0 or less',
        default: '12500',
      },
    ],
    make: async ({ clock }, flags, registry) => {
      const [{ podGarbage }, { PodGarbageMetrics }] = await Promise.all([
        import('./pod-garbage/controller.ts'),
        import('./pod-garbage/metrics.ts'),
      ])
      return podGarbage({
        maxEnded: flags.number('terminated-pod-gc-threshold'),
        metrics: new PodGarbageMetrics(registry),
        now: () => clock.now(),
      })
    },
  },
  {
    name: 'ttl-controller',
    queue: 'ttlcontroller',
    aliases: ['ttl'],
    account: 'ttl-controller',
    make: async () => (await import('./time-to-live.ts')).timeToLive(),
  },
]
