/** Network policies by iptables hold for all traffic of pods: in both variants, with and without `ipset`. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { runRulesProgram } from '../../../src/network/cni/host-ports/run-rules-program.ts'
import { PolicyChains, type PolicyChainsOptions } from '../../../src/network/policy/iptables/policy-chains.ts'
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { prepareNodeNamespaces } from '../../support/node-namespaces.ts'
import { waitFor } from '../../support/wait-for.ts'
import { PolicyLab, policyRules } from './policy-lab.ts'
import { startTrafficPods, testTraffic } from './traffic-behaviours.ts'

type Choice = Required<Pick<PolicyChainsOptions, 'variant' | 'usesSets'>>

const choices: readonly Choice[] = [
  { variant: 'nft', usesSets: true },
  { variant: 'legacy', usesSets: false },
]

const combinations = [
  { protocol: 'udp', family: 4 },
  { protocol: 'tcp', family: 6 },
] as const

/** Inputs of `iptables-restore`, and of its form for IPv6. */
const inputs: string[] = []

const run: PolicyChainsOptions['run'] = (program, args, input) => {
  if (program.startsWith('iptables') && program.endsWith('-restore')) inputs.push(input ?? '')
  return runRulesProgram(program, args, input)
}

const rules = (variant: string): string =>
  execFileSync(`iptables-${variant}-save`, ['-t', 'filter'], { encoding: 'utf8' })

const of = (pod: string) => ({ podSelector: { matchLabels: { pod } } })

function testChanges(lab: PolicyLab, { variant, usesSets }: Choice): void {
  test('the rules are behind the first rules of the chains of the kernel, and leave others alone', async () => {
    execFileSync(`iptables-${variant}`, ['-A', 'FORWARD', '-j', 'ACCEPT'])
    await lab.policy('x', 'tested', { ...of('a'), ingress: [{ from: [of('b')], ports: [{ port: 80 }] }] })
    const isIsolated = async (): Promise<boolean> =>
      !(await lab.reachesBy('y/a', 'x/a', { protocol: 'tcp', family: 4, port: 80 }))
    await waitFor('a is isolated', isIsolated)
    const saved = rules(variant)
    const [entry] = saved.match(/^-A FORWARD .*$/m) ?? []
    assert.match(entry ?? '', /--comment "network policies of pods" -j T8S-NWPLCY-NODE-FORWARD$/)
    assert.match(saved, usesSets ? /--match-set T8S-NWPLCY4-NODE-[0-9a-f]{12} src / : /-s 10\.244\.0\.\d+\/32 -p tcp/)
    assert.match(saved, /-m tcp --dport 80 -m comment --comment "x\/tested" -j RETURN/)
    assert.match(saved, /--comment "not allowed by x\/tested" -j DROP/)
  })

  test('a change is one run of iptables-restore with the chains that have changed', async () => {
    inputs.length = 0
    await lab.policy('x', 'other', { ...of('b'), policyTypes: ['Ingress'] })
    await waitFor(
      'b is isolated',
      async () => !(await lab.reachesBy('y/a', 'x/b', { protocol: 'tcp', family: 4, port: 80 })),
    )
    const [input = '', ...others] = inputs
    assert.equal(others.length, 0)
    const chains = input.match(/(?<=^:)\S+/gm) ?? []
    assert.equal(chains.length, 2, input)
    assert.ok(chains.includes('T8S-NWPLCY-NODE-INGRESS'))
  })

  test('another process takes over, deletes unused chains, and leaves nothing of the last policy', async () => {
    await lab.restartAgent(async () => {
      await lab.cluster.call('DELETE', '/apis/networking.k8s.io/v1/namespaces/x/networkpolicies/other')
    })
    await waitFor('b is not isolated', () => lab.reachesBy('y/a', 'x/b', { protocol: 'tcp', family: 4, port: 80 }))
    assert.equal(await lab.reachesBy('y/a', 'x/a', { protocol: 'tcp', family: 4, port: 80 }), false)
    await waitFor('its chain is deleted', () => rules(variant).match(/^:T8S-NWPLCY-NODE-[0-9a-f]{12} /gm)?.length === 1)
    await lab.removePolicies()
    await waitFor('all rules are removed', () => policyRules() === '')
    assert.match(rules(variant), /^-A FORWARD -j ACCEPT$/m)
    await waitFor('all sets are removed', () => execFileSync('ipset', ['list', '-name'], { encoding: 'utf8' }) === '')
    execFileSync(`iptables-${variant}`, ['-D', 'FORWARD', '-j', 'ACCEPT'])
  })
}

await inNamespaces(import.meta.filename, async () => {
  prepareNodeNamespaces()
  let choice: Choice = choices[0]!
  const lab = await PolicyLab.start({ backend: (family) => new PolicyChains({ family, run, ...choice }) })
  await startTrafficPods(lab)
  for (const one of choices)
    describe(`network policies by iptables-${one.variant} ${one.usesSets ? 'with' : 'without'} ipset`, () => {
      test('start', () =>
        lab.restartAgent(async () => {
          choice = one
        }))
      testTraffic(lab, combinations)
      testChanges(lab, one)
    })
})
