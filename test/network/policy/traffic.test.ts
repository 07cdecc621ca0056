/** Network policies by nftables hold for all traffic of pods. */
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { prepareNodeNamespaces } from '../../support/node-namespaces.ts'
import { PolicyLab } from './policy-lab.ts'
import { startTrafficPods, testTraffic } from './traffic-behaviours.ts'

await inNamespaces(import.meta.filename, async () => {
  prepareNodeNamespaces()
  const lab = await PolicyLab.start()
  await startTrafficPods(lab)
  testTraffic(lab)
})
