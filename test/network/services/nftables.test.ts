/** The mode nftables of kube-proxy against the kernel, with pods as network namespaces. Needs root. */
import { after } from 'node:test'
import { createNftablesMode } from '../../../src/network/proxy/modes/nftables/nftables-mode.ts'
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { serviceBehaviours } from './behaviours.ts'
import { createLab } from './lab.ts'
import { foreignBehaviours, unservedBehaviours } from './nftables-behaviours.ts'

await inNamespaces(import.meta.filename, async () => {
  const lab = await createLab()
  after(() => lab.stop())
  const more = [unservedBehaviours, foreignBehaviours]
  serviceBehaviours(lab, 4, createNftablesMode, more)
  serviceBehaviours(lab, 6, createNftablesMode, more)
})
