/** CSI drivers of this node. Starts before the node is registered, and registers drivers after it (`follow`). */
import { CsiNode } from '../../volumes/plugins/csi/index.ts'
import { component } from '../parts.ts'

export const csi = component({
  name: 'CSI',
  needs: ['options', 'client', 'node', 'schedule'],
  gives: ['csi'],
  start({ options: { root, log }, client, node, schedule }, lifetime) {
    const csi = new CsiNode({ client, nodeName: node.name, root, schedule, now: Date.now, log })
    lifetime.onEnd(() => csi.stop())
    return { csi }
  },
})
