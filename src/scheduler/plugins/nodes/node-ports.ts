/** NodePorts: rejects nodes on which the pod's host ports are in use. */
import { hostPortsOf, on, pluginFactory, portsClash, skip, unschedulable } from '../../framework/index.ts'

const taken = unschedulable("node(s) didn't have free ports for the requested pod ports")

export const nodePorts = pluginFactory({
  name: 'NodePorts',
  make: () => ({
    events: [
      on('Pod', ['Delete'], (pod, deleted) => {
        if (!deleted || !(deleted.spec?.nodeName || deleted.status?.nominatedNodeName)) return false
        return portsClash(pod.hostPorts, hostPortsOf(deleted))
      }),
      on('Node', ['Add']),
    ],
    preFilter: ({ hostPorts }) => (hostPorts.length === 0 ? skip : { state: undefined }),
    filter: (_state, { hostPorts }, node) => (node.usesPort(hostPorts) ? taken : undefined),
  }),
})
