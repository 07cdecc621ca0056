/** NodeName: allows only the node named in the spec. */
import { on, pluginFactory, skip, unresolvable } from '../../framework/index.ts'

const otherNode = unresolvable("node(s) didn't match the requested node name")

export const nodeName = pluginFactory({
  name: 'NodeName',
  make: () => ({
    events: [on('Node', ['Add'])],
    preFilter: ({ pod }) => (pod.spec?.nodeName ? { state: pod.spec.nodeName } : skip),
    filter: (wanted, _pod, node) => (node.name === wanted ? undefined : otherNode),
  }),
})
