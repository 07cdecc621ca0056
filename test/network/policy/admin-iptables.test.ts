/** Policies of administrators by iptables: in both variants, with and without `ipset`. */
import { describe, test } from 'node:test'
import { runRulesProgram } from '../../../src/network/cni/host-ports/run-rules-program.ts'
import { PolicyChains } from '../../../src/network/policy/iptables/policy-chains.ts'
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { prepareNodeNamespaces } from '../../support/node-namespaces.ts'
import { startAdminPods, testAdminRules } from './admin-behaviours.ts'
import { PolicyLab } from './policy-lab.ts'

const choices = [
  { variant: 'nft', usesSets: true },
  { variant: 'legacy', usesSets: false },
] as const

await inNamespaces(import.meta.filename, async () => {
  prepareNodeNamespaces()
  let choice: (typeof choices)[number] = choices[0]
  const run = runRulesProgram
  const lab = await PolicyLab.start({ backend: (family) => new PolicyChains({ family, run, ...choice }) })
  await startAdminPods(lab)
  for (const one of choices)
    describe(`policies of administrators by iptables-${one.variant} ${one.usesSets ? 'with' : 'without'} ipset`, () => {
      test('start', () =>
        lab.restartAgent(async () => {
          choice = one
        }))
      testAdminRules(lab)
    })
})
