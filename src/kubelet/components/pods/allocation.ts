/** The resources that the node has allocated to its pods, and their changes in place. */
import { join } from 'node:path'
import { misfits, rejectionOf } from '../../admission/checks/predicates.ts'
import { PodAllocations } from '../../allocation/pod-allocations.ts'
import { ResizeConditions } from '../../allocation/resize-conditions.ts'
import { ResourceRecord } from '../../allocation/resource-record.ts'
import { PodResizes } from '../../resize/pod-resizes.ts'
import { component } from '../parts.ts'

/** Upstream's names. */
const allocatedFile = 'allocated_pods_state'
const actualFile = 'actuated_pods_state'

export const allocation = component({
  name: 'allocation',
  needs: [
    'options',
    'runtime',
    'events',
    'desired',
    'signals',
    'cgroups',
    'node',
    'nodeResources',
    'ownNode',
    'registration',
    'schedule',
  ],
  gives: ['allocations', 'resizes', 'resizeConditions'],
  start(parts, lifetime) {
    const { options, runtime, events, desired, signals, cgroups, node, ownNode, registration, schedule } = parts
    const { root, log } = options
    const conditions = new ResizeConditions(Date.now)
    const allocations = new PodAllocations({
      record: new ResourceRecord(join(root, allocatedFile), log),
      conditions,
      events,
      pods: () => desired.pods,
      refusal(pod, others) {
        const current = ownNode.get('', node.name) ?? registration.node
        if (!current) return { reason: 'Deferred', message: 'Kubelet cannot get node info.' }
        const [first] = misfits(pod, current, others)
        return first && { reason: 'Deferred', message: rejectionOf(first).message }
      },
      changed: (uid) => signals.changed(uid),
      schedule,
      log,
    })
    lifetime.onEnd(() => allocations.stop())
    const resizes = new PodResizes({
      runtime,
      cgroups,
      node: parts.nodeResources,
      record: new ResourceRecord(join(root, actualFile), log),
      conditions,
      events,
      resized() {
        cgroups.updateClasses(allocations.allocatedPods())
        allocations.retry()
      },
      log,
    })
    return { allocations, resizes, resizeConditions: conditions }
  },
})
