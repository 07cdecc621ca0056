import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NetworkPolicy, Pod } from '../../../client/kinds.ts'
import { ruleText } from '../../netlink/nftables/commands.ts'
import { chainLines, dispatchLines } from '../iptables/chain-lines.ts'
import { kernelNames } from '../iptables/kernel-names.ts'
import { rulesOf } from '../nftables/rule-expressions.ts'
import { adminPolicyOf } from '../picture/admin/admin-policy.ts'
import { clusterNetworkPolicies } from '../picture/admin/kinds.ts'
import { PolicyObjects } from '../picture/policy-objects.ts'
import { NodePolicies } from './node-policies.ts'
import type { PolicyState } from './policy-state.ts'

const pod = (name: string, ip: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'x', name, uid: name, labels: { app: name } },
  spec: { nodeName: 'here', containers: [{ name: 'c', ports: [{ name: 'web', containerPort: 8080 }] }] },
  status: { podIPs: [{ ip }] },
})

const everywhere = { namespaces: {} }
const of = (app: string) => ({ podSelector: { matchLabels: { app } } })

interface Lab {
  readonly objects: PolicyObjects
  readonly node: NodePolicies
}

function lab(): Lab {
  const objects = new PolicyObjects()
  objects.setNamespace({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } }, undefined)
  for (const one of [pod('a', '10.0.0.1'), pod('b', '10.0.0.2')]) objects.setPod(one, undefined)
  return { objects, node: new NodePolicies(objects, 'here') }
}

function add({ objects }: Lab, name: string, spec: object): void {
  const policy = adminPolicyOf(clusterNetworkPolicies, {
    apiVersion: 'policy.networking.k8s.io/v1alpha2',
    kind: 'ClusterNetworkPolicy',
    metadata: { name },
    spec: { priority: 1, subject: everywhere, ...spec },
  })
  assert.deepEqual(policy.problems, [])
  objects.setAdminPolicy(policy.title, policy)
}

const deny = (app: string): NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { namespace: 'x', name: 'deny' },
  spec: { ...of(app), policyTypes: ['Ingress'] },
})

const ingress = (action: string, name: string) => ({ ingress: [{ name, action, from: [everywhere] }] })

/** The chains of an address, from the first one on, with the names of their tiers. */
function tiers(state: PolicyState, first: string | undefined): string[] {
  const found: string[] = []
  for (let name = first; name !== undefined; ) {
    found.push(name.replace(/ingress-.*/, ''))
    const verdict = state.chains.get(name)?.rules.at(-1)?.verdict
    name = typeof verdict === 'object' ? verdict.goTo : undefined
  }
  return found
}

describe('the tiers of a pod', () => {
  test('follow each other, and NetworkPolicies decide before the baseline', () => {
    const one = lab()
    add(one, 'guard', { tier: 'Admin', ...ingress('Pass', '') })
    add(one, 'open', { tier: 'Baseline', ...ingress('Deny', '') })
    one.objects.setPolicy(deny('a'), undefined)
    const state = one.node.state(4)
    const { isolated, selfIsolated } = state
    assert.deepEqual(tiers(state, isolated.Ingress.get('10.0.0.1')), ['admin-', ''])
    assert.deepEqual(tiers(state, isolated.Ingress.get('10.0.0.2')), ['admin-', 'baseline-'])
    assert.deepEqual(tiers(state, selfIsolated.Ingress.get('10.0.0.1')), ['admin-'], 'NetworkPolicies allow it')
    assert.deepEqual(tiers(state, selfIsolated.Ingress.get('10.0.0.2')), ['admin-', 'baseline-'])
    assert.equal(isolated.Egress.size, 0)
  })

  test('have the rules of all policies by priority, then by name', () => {
    const one = lab()
    for (const [name, priority] of [
      ['b', 5],
      ['a', 5],
      ['late', 10],
      ['c', 0],
    ] as const)
      add(one, name, { tier: 'Admin', priority, ...ingress('Deny', name) })
    const [chain] = one.node.state(4).chains.values()
    assert.deepEqual(
      chain?.rules.map(({ comment, verdict }) => [comment, verdict]),
      ['c', 'a', 'b', 'late'].map((name) => [`ClusterNetworkPolicy ${name}, rule 1 (${name})`, 'drop']),
    )
  })

  test('have a rule of each action in both backends', () => {
    const one = lab()
    const from = [everywhere]
    const rules = [
      { action: 'Accept', from, protocols: [{ tcp: { destinationPort: { number: 80 } } }] },
      { action: 'Deny', from, protocols: [{ destinationNamedPort: 'web' }] },
      { name: 'a "b" \\ é', action: 'Pass', from },
    ]
    add(one, 'p', { tier: 'Admin', ingress: rules })
    one.objects.setPolicy(deny('a'), undefined)
    const state = one.node.state(4)
    const name = state.isolated.Ingress.get('10.0.0.1')!
    const chain = state.chains.get(name)!
    const next = [...state.chains.keys()].find((other) => other.startsWith('ingress-'))!
    assert.deepEqual(
      rulesOf(chain, 4).map((rule) => ruleText(rule).replaceAll(/@(\w+)-\w+/g, '@$1')),
      [
        'ip saddr @pods meta l4proto tcp th dport { 80 } return comment "ClusterNetworkPolicy p, rule 1"',
        'ip saddr @pods ip daddr . meta l4proto . th dport @ports drop comment "ClusterNetworkPolicy p, rule 2"',
        `ip saddr @pods goto ${next} comment "ClusterNetworkPolicy p, rule 3 (a ?b? ? ?)"`,
        `goto ${next} comment "not decided by ClusterNetworkPolicy p"`,
      ],
    )
    const names = kernelNames(4, 'abcdef')
    const lookup = { family: 4, sets: state.sets, kernelName: names.set, chainName: names.chain } as const
    assert.deepEqual(
      chainLines(chain, lookup).map((line) => line.replace(/^.*--comment "[^"]*" /, '')),
      ['-j RETURN', '-j DROP', `-g ${names.chain(next)}`, `-g ${names.chain(next)}`],
    )
    const own = names.chain(state.selfIsolated.Ingress.get('10.0.0.1')!)
    assert.deepEqual(dispatchLines(state, 'Ingress', names).slice(0, 2), [
      `-s 10.0.0.1 -d 10.0.0.1 -g ${own}`,
      `-d 10.0.0.1 -g ${names.chain(name)}`,
    ])
  })

  test('of a deleted policy are gone', () => {
    const one = lab()
    add(one, 'p', { tier: 'Baseline', ...ingress('Deny', '') })
    assert.equal(one.node.state(4).chains.size, 1)
    one.objects.setAdminPolicy('ClusterNetworkPolicy p', undefined)
    const { chains, sets, isolated } = one.node.state(4)
    assert.deepEqual([chains.size, sets.size, isolated.Ingress.size], [0, 0, 0])
  })
})

test('nodes are peers by their addresses, and a change of them changes a set only', () => {
  const one = lab()
  const to = [{ nodes: { matchLabels: { role: 'gpu' } } }, { networks: ['192.168.0.0/16', 'fd00::/8'] }]
  assert.equal(one.objects.needsNodes, false)
  add(one, 'p', { tier: 'Admin', egress: [{ action: 'Deny', to }] })
  assert.equal(one.objects.needsNodes, true)
  const node = (name: string, role: string, address: string) =>
    one.objects.setNode(
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels: { role } },
        status: {
          addresses: [
            { type: 'InternalIP', address },
            { type: 'Hostname', address: name },
          ],
        },
      },
      undefined,
    )
  node('n1', 'gpu', '172.16.0.1')
  node('n2', 'cpu', '172.16.0.2')
  const before = one.node.state(4)
  const [[name, set] = []] = before.sets
  assert.deepEqual([...(set?.elements ?? [])], ['172.16.0.1'])
  const [chain] = before.chains.values()
  assert.deepEqual(
    rulesOf(chain!, 4).map(ruleText),
    [`@${name}`, '{ 192.168.0.0/16 }'].map(
      (peers) => `ip daddr ${peers} drop comment "ClusterNetworkPolicy p, rule 1"`,
    ),
  )
  node('n2', 'gpu', '172.16.0.2')
  const after = one.node.state(4)
  assert.deepEqual([...(after.sets.get(name!)?.elements ?? [])], ['172.16.0.1', '172.16.0.2'])
  assert.equal([...after.chains.values()][0], chain)
})
