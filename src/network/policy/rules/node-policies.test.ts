import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NetworkPolicy, Pod } from '../../../client/kinds.ts'
import { ruleText } from '../../netlink/nftables/commands.ts'
import { rulesOf } from '../nftables/rule-expressions.ts'
import { PolicyObjects } from '../picture/policy-objects.ts'
import { NodePolicies } from './node-policies.ts'
import type { PolicyState } from './policy-state.ts'

type Spec = NonNullable<NetworkPolicy['spec']>
type Ingress = NonNullable<Spec['ingress']>

const pod = (name: string, ip: string, app = name, port = 8080): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'x', name, uid: name, labels: { app } },
  spec: { nodeName: 'here', containers: [{ name: 'c', ports: [{ name: 'web', containerPort: port }] }] },
  status: { podIPs: [{ ip }] },
})

const policy = (name: string, spec: Spec): NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { namespace: 'x', name },
  spec,
})

const of = (app: string) => ({ podSelector: { matchLabels: { app } } })

/** Two pods of `web` and one of `db`, and policies. */
function lab(...policies: readonly NetworkPolicy[]) {
  const objects = new PolicyObjects()
  objects.setNamespace({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } }, undefined)
  const pods = [pod('web-1', '10.0.0.1', 'web'), pod('web-2', '10.0.0.2', 'web', 8081), pod('db', '10.0.0.3')]
  for (const one of pods) objects.setPod(one, undefined)
  for (const one of policies) objects.setPolicy(one, undefined)
  return { objects, node: new NodePolicies(objects, 'here') }
}

/** Sets have their elements in place of their name. */
function texts({ chains, sets }: PolicyState): string[] {
  const elementsOf = (name: string): string => `{ ${[...(sets.get(name)?.elements ?? [])].join(', ')} }`
  return [...chains.values()].flatMap((chain) =>
    rulesOf(chain, 4).map((rule) => ruleText(rule).replace(/@(\S+)/g, (_, name: string) => elementsOf(name))),
  )
}

const rulesFor = (ingress: Ingress): string[] =>
  texts(lab(policy('p', { ...of('web'), ingress })).node.state(4)).slice(0, -1)

describe('the rules of a node', () => {
  test('are shared by pods with the same policies, and end with a drop', () => {
    const state = lab(policy('p', of('web'))).node.state(4)
    const [name] = state.chains.keys()
    assert.deepEqual(
      [...state.isolated.Ingress],
      [
        ['10.0.0.1', name],
        ['10.0.0.2', name],
      ],
    )
    assert.equal(state.isolated.Egress.size, 0)
    assert.deepEqual(texts(state), ['drop comment "not allowed by x/p"'])
  })

  test('have the peers of a rule by their addresses, and ranges without those of the other family', () => {
    assert.deepEqual(rulesFor([{ from: [of('db')] }]), ['ip saddr { 10.0.0.3 } return comment "x/p"'])
    const block = (cidr: string, except: string[] = []) => ({ ipBlock: { cidr, except } })
    assert.deepEqual(rulesFor([{ from: [block('10.0.0.0/8', ['10.1.0.0/16']), block('fd00::/8')] }]), [
      'ip saddr { 10.0.0.0/8 except 10.1.0.0/16 } return comment "x/p"',
    ])
    assert.deepEqual(rulesFor([{ from: [block('fd00::/8')] }]), [])
  })

  test('have merged ports for each protocol, and the numbers that pods have for a name', () => {
    const ports = [{ port: 80, endPort: 90 }, { port: 85, endPort: 95 }, { protocol: 'UDP' }, { port: 443 }]
    assert.deepEqual(rulesFor([{ ports }]), [
      'meta l4proto tcp th dport { 80-95, 443 } return comment "x/p"',
      'meta l4proto udp return comment "x/p"',
    ])
    assert.deepEqual(rulesFor([{ ports: [{ port: 'web' }], from: [of('db')] }]), [
      'ip saddr { 10.0.0.3 } ip daddr . meta l4proto . th dport { 10.0.0.1 . tcp . 8080, 10.0.0.2 . tcp . 8081 } ' +
        'return comment "x/p"',
    ])
    const egress = [{ to: [{ ipBlock: { cidr: '10.0.0.2/31' } }], ports: [{ port: 'web' }] }]
    assert.deepEqual(
      texts(lab(policy('p', { ...of('db'), policyTypes: ['Egress'], egress })).node.state(4))[0],
      ['ip daddr . meta l4proto . th dport { 10.0.0.2 . tcp . 8081, 10.0.0.3 . tcp . 8080 } return comment "x/p"'][0],
    )
  })
})

describe('a change', () => {
  const allow = policy('allow', { ...of('db'), ingress: [{ from: [of('web')] }] })
  const other = policy('other', { ...of('web'), ingress: [{ from: [of('db')] }] })

  test('of a pod makes no chain, and only the sets that it is in', () => {
    const { objects, node } = lab(allow, other)
    const before = node.state(4)
    objects.setPod(pod('web-3', '10.0.0.4', 'web'), undefined)
    const after = node.state(4)
    assert.deepEqual([...after.chains], [...before.chains])
    for (const [name, chain] of after.chains) assert.equal(chain, before.chains.get(name))
    const changed = [...after.sets].filter(([name, set]) => set !== before.sets.get(name))
    assert.deepEqual(
      changed.map(([, { elements }]) => [...elements]),
      [['10.0.0.1', '10.0.0.2', '10.0.0.4']],
    )
    assert.equal(after.isolated.Ingress.size, 4)
  })

  test('of a policy makes the chains of its pods', () => {
    const { objects, node } = lab(allow, other)
    const before = node.state(4)
    const changed = { ...other, spec: { ...of('web'), ingress: [{}] } }
    objects.setPolicy(changed, other)
    const after = node.state(4)
    const same = [...after.chains].filter(([name, chain]) => chain === before.chains.get(name))
    assert.deepEqual([after.chains.size, same.length], [2, 1])
    assert.ok(texts(after).includes('return comment "x/other"'))
    objects.setPolicy(undefined, changed)
    assert.deepEqual([...node.state(4).isolated.Ingress.keys()], ['10.0.0.3'])
  })

  test('of labels moves a pod between policies and peers', () => {
    const { objects, node } = lab(allow, other)
    node.state(4)
    objects.setPod(pod('web-2', '10.0.0.2', 'db', 8081), pod('web-2', '10.0.0.2', 'web', 8081))
    const { isolated, sets } = node.state(4)
    assert.equal(isolated.Ingress.get('10.0.0.2'), isolated.Ingress.get('10.0.0.3'))
    assert.deepEqual([...sets.values()].map(({ elements }) => [...elements].join()).sort(), [
      '10.0.0.1',
      '10.0.0.3,10.0.0.2',
    ])
  })

  test('of the labels of a namespace is found in its pods', () => {
    const from = [{ namespaceSelector: { matchLabels: { tier: 'front' } } }]
    const { objects, node } = lab(policy('p', { ...of('db'), ingress: [{ from }] }))
    assert.deepEqual(texts(node.state(4))[0], 'ip saddr {  } return comment "x/p"')
    const labels = { tier: 'front' }
    objects.setNamespace({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x', labels } }, undefined)
    assert.match(texts(node.state(4))[0] ?? '', /10\.0\.0\.1, 10\.0\.0\.2, 10\.0\.0\.3/)
  })
})
