/** The admission of pods at this node, and their way to the workers. */
import { nodes } from '../../../client/kinds.ts'
import { hasAppArmor } from '../../../lib/linux/has-apparmor.ts'
import { PodAdmission } from '../../admission/pod-admission.ts'
import { type Pod, specOf } from '../../pod-types.ts'
import { PodDispatcher } from '../../pods/pod-dispatcher.ts'
import { component } from '../parts.ts'

const preempted = { reason: 'Preempting', message: 'Preempted in order to admit critical pod' } as const

export const admission = component({
  name: 'pod admission',
  needs: ['options', 'client', 'metrics', 'events', 'node', 'ownNode', 'registration', 'workers', 'allocations'],
  gives: ['admission'],
  start({ options: { configuration }, client, metrics, events, node, ownNode, registration, workers, allocations }) {
    const preempt = async (pod: Pod, resource: string): Promise<void> => {
      events.ofPod(pod, 'Warning', preempted.reason, preempted.message)
      await workers.terminate(pod.metadata.uid ?? '', {
        graceSeconds: specOf(pod).terminationGracePeriodSeconds ?? 30,
        status: { ...preempted, isDisruption: true },
      })
      metrics.preemptions([resource]).add()
    }
    const admission = new PodAdmission({
      node: async () => ownNode.get('', node.name) ?? (await registration.current()),
      readNode: () => client.get(nodes, '', node.name),
      activePods: () => workers.active.map((pod) => allocations.allocatedPod(pod)),
      preempt,
      allowedUnsafeSysctls: configuration.allowedUnsafeSysctls,
      hasAppArmor: hasAppArmor(),
    })
    return { admission }
  },
})

export const dispatcher = component({
  name: 'pod dispatcher',
  needs: ['options', 'workers', 'status', 'events', 'admission', 'allocations'],
  gives: ['dispatcher'],
  start: ({ options: { log }, workers, status, events, admission, allocations }) => ({
    dispatcher: new PodDispatcher({
      workers,
      status,
      events,
      allocations,
      admit: (pod) => admission.admit(allocations.allocatedPod(pod)),
      log,
      now: Date.now,
    }),
  }),
})
