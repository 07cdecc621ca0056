/** Policies of administrators by nftables. */
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { prepareNodeNamespaces } from '../../support/node-namespaces.ts'
import { startAdminPods, testAdminPolicies } from './admin-behaviours.ts'
import { PolicyLab } from './policy-lab.ts'

await inNamespaces(import.meta.filename, async () => {
  prepareNodeNamespaces()
  const lab = await PolicyLab.start()
  await startAdminPods(lab)
  testAdminPolicies(lab)
})
