/** NodePorts: a pod that wants ports of the node itself goes where they are free. */
import { hostPortsOf, on, pluginFactory, portsClash, skip, unschedulable } from '../../framework/index.ts'

const taken = unschedulable("node(s) didn't have free ports for the requested pod ports")

export const nodePorts = pluginFactory({
  name: 'NodePorts',
  make: () => ({
    events: [
      on('Pod', ['Delete'], (pod, gone) => {
        if (!gone || !(gone.spec?.nodeName || gone.status?.nominatedNodeName)) return false
        return portsClash(pod.hostPorts, hostPortsOf(gone))
      }),
      on('Node', ['Add']),
    ],
    preFilter: ({ hostPorts }) => (hostPorts.length === 0 ? skip : { state: undefined }),
    filter: (_state, { hostPorts }, node) => (node.usesPort(hostPorts) ? taken : undefined),
  }),
})
