/** Controllers of ReplicaSets and ReplicationControllers, which replicate pods, and of Deployments, which roll out. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { concurrencyFlag } from '../flags.ts'
import { replicaSetKind, replicationControllerKind } from './pod-sets/kind.ts'

const defaultConcurrency = 5

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'deployment-controller',
    queue: 'deployment',
    aliases: ['deployment'],
    account: 'deployment-controller',
    flags: [concurrencyFlag('concurrent-deployment-syncs', 'Deployments', defaultConcurrency)],
    make: async (_sources, flags) =>
      (await import('./deployments/controller.ts')).deploymentController(flags.number('concurrent-deployment-syncs')),
  },
  {
    name: replicaSetKind.controller,
    queue: 'replicaset',
    aliases: ['replicaset'],
    account: 'replicaset-controller',
    flags: [concurrencyFlag('concurrent-replicaset-syncs', 'ReplicaSets', defaultConcurrency)],
    make: async ({ features }, flags, registry) => {
      const [{ podSetController }, { deletionAges }] = await Promise.all([
        import('./pod-sets/controller.ts'),
        import('./pod-sets/metrics.ts'),
      ])
      const countsTerminating = features.isEnabled('DeploymentReplicaSetTerminatingReplicas')
      return podSetController(
        { ...replicaSetKind, countsTerminating, ignoresDeletionCost: !features.isEnabled('PodDeletionCost') },
        flags.number('concurrent-replicaset-syncs'),
        deletionAges(registry),
      )
    },
  },
  {
    name: replicationControllerKind.controller,
    queue: 'replicationmanager',
    aliases: ['replicationcontroller'],
    account: 'replication-controller',
    flags: [concurrencyFlag('concurrent-rc-syncs', 'ReplicationControllers', defaultConcurrency)],
    make: async ({ features }, flags) => {
      const kind = { ...replicationControllerKind, ignoresDeletionCost: !features.isEnabled('PodDeletionCost') }
      return (await import('./pod-sets/controller.ts')).podSetController(kind, flags.number('concurrent-rc-syncs'))
    },
  },
]
