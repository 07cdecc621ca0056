/** The runtime's handlers, and the users of pods that have users of their own. */
import { join } from 'node:path'
import { idsPerPodUnit, kubeletIdRange } from '../../user-namespaces/id-range.ts'
import { RuntimeHandlers } from '../../user-namespaces/runtime-handlers.ts'
import { UserNamespaces } from '../../user-namespaces/user-namespaces.ts'
import { runProgram } from '../../volumes/mounts/run-program.ts'
import { component } from '../parts.ts'

/** Rejects if the IDs of the user `kubelet` do not suffice for all pods. */
export const userNamespaces = component({
  name: 'user namespaces',
  needs: ['options', 'client', 'health', 'machine'],
  gives: ['handlers', 'userNamespaces'],
  async start({ options: { configuration, root, log }, client, health }) {
    const idsPerPod = configuration.userNamespaces?.idsPerPod ?? idsPerPodUnit
    const userNamespaces = new UserNamespaces({
      podsFolder: join(root, 'pods'),
      range: await kubeletIdRange(idsPerPod, runProgram, log),
      idsPerPod,
      maxPods: configuration.maxPods,
    })
    return { handlers: new RuntimeHandlers({ client, reported: () => health.handlers }), userNamespaces }
  },
})
