import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { adminPolicyOf } from './admin-policy.ts'
import {
  type AdminPolicyObject,
  adminNetworkPolicies,
  adminPolicyKinds,
  baselineAdminNetworkPolicies,
  clusterNetworkPolicies,
} from './kinds.ts'

const everywhere = { namespaces: {} }

const object = (spec: object | undefined, name = 'p'): AdminPolicyObject => ({
  apiVersion: 'policy.networking.k8s.io/v1',
  kind: 'Policy',
  metadata: { name },
  ...(spec && { spec }),
})

const cluster = (spec: object) =>
  adminPolicyOf(clusterNetworkPolicies, object({ tier: 'Admin', priority: 1, subject: everywhere, ...spec }))

const admin = (spec: object) =>
  adminPolicyOf(adminNetworkPolicies, object({ priority: 1, subject: everywhere, ...spec }))

describe('the kinds have one form', () => {
  test('in which older kinds allow what newer ones accept', () => {
    const from = [everywhere]
    const { title, tier, rules } = admin({ ingress: [{ name: 'all', action: 'Allow', from }] })
    assert.deepEqual([title, tier], ['AdminNetworkPolicy p', 'Admin'])
    const rule = { title: 'rule 1 (all)', action: 'Accept', scope: 'peers', nodes: [], ports: undefined } as const
    assert.deepEqual(rules.Ingress, [{ ...rule, peers: [{ namespaceSelector: {} }] }])
    assert.deepEqual(cluster({ ingress: [{ name: 'all', action: 'Accept', from }] }).rules, rules)
  })

  test('in which a BaselineAdminNetworkPolicy comes last', () => {
    const spec = { subject: everywhere, egress: [] }
    const { tier, priority, problems } = adminPolicyOf(baselineAdminNetworkPolicies, object(spec, 'default'))
    assert.deepEqual([tier, priority, problems], ['Baseline', 1001, []])
  })

  test('in which peers and ports are those of NetworkPolicies', () => {
    const to = [
      { pods: { namespaceSelector: {}, podSelector: { matchLabels: { app: 'db' } } } },
      { networks: ['10.0.0.0/8', 'fd00::/8'] },
      { nodes: { matchLabels: { role: 'gpu' } } },
    ]
    const ports = [
      { portNumber: { port: 80 } },
      { portRange: { protocol: 'UDP', start: 1, end: 9 } },
      { namedPort: 'web' },
    ]
    const protocols = [
      { tcp: { destinationPort: { number: 80 } } },
      { udp: { destinationPort: { range: { start: 1, end: 9 } } } },
      { destinationNamedPort: 'web' },
    ]
    const [rule] = admin({ egress: [{ action: 'Deny', to, ports }] }).rules.Egress
    assert.deepEqual(rule?.peers, [
      { namespaceSelector: {}, podSelector: { matchLabels: { app: 'db' } } },
      { ipBlock: { cidr: '10.0.0.0/8' } },
      { ipBlock: { cidr: 'fd00::/8' } },
    ])
    assert.deepEqual(rule?.nodes, [{ matchLabels: { role: 'gpu' } }])
    assert.deepEqual(rule?.ports, [
      { protocol: 'TCP', port: 80 },
      { protocol: 'UDP', port: 1, endPort: 9 },
      ...['TCP', 'UDP', 'SCTP'].map((protocol) => ({ protocol, port: 'web' })),
    ])
    assert.deepEqual(cluster({ egress: [{ action: 'Deny', to, protocols }] }).rules.Egress, [rule])
    const [all] = cluster({ egress: [{ action: 'Deny', to, protocols: [{ sctp: {} }] }] }).rules.Egress
    assert.deepEqual(all?.ports, [{ protocol: 'SCTP' }])
  })
})

const valid = { action: 'Accept', to: [everywhere] }

for (const [title, rule, problem] of [
  ['an unknown peer', { to: [{ clouds: {} }] }, /none of the fields that are supported/],
  ['two fields in a peer', { to: [{ ...everywhere, nodes: {} }] }, /or several/],
  ['domain names', { to: [{ domainNames: ['*.example.com'] }] }, /domainNames are not supported/],
  ['no peers', { to: undefined }, /it has no peers \(to\)/],
  ['an invalid range', { to: [{ networks: ['10.0.0.0'] }] }, /"10.0.0.0" is not a range/],
  [
    'an invalid selector',
    { to: [{ namespaces: { matchExpressions: [{ key: 'a', operator: 'Is' }] } }] },
    /"Is" is not/,
  ],
  ['an unknown protocol', { protocols: [{ icmp: {} }] }, /a port must have one of tcp, udp, sctp/],
  ['an invalid port', { protocols: [{ tcp: { destinationPort: { number: 0 } } }] }, /a port is not from 1 to 65535/],
  ['peers that are no list', { to: 'all' }, /to must be a list/],
] as const)
  test(`a rule with ${title} fails closed`, () => {
    const { rules, problems } = cluster({
      egress: [
        { ...valid, ...rule },
        { ...valid, ...rule, action: 'Pass' },
      ],
    })
    assert.deepEqual(
      rules.Egress.map(({ action, scope }) => [action, scope]),
      [
        ['Accept', 'nothing'],
        ['Deny', 'everything'],
      ],
    )
    assert.match(problems[0] ?? '', problem)
    assert.match(problems[0] ?? '', /^egress rule 1 has no effect: /)
    assert.match(problems[1] ?? '', /^egress rule 2 denies everything: /)
  })

test('a rule with an unknown action denies everything', () => {
  const { rules, problems } = admin({ ingress: [{ action: 'Drop', from: [everywhere] }] })
  assert.equal(rules.Ingress[0]?.scope, 'everything')
  assert.deepEqual(problems, ['ingress rule 1 denies everything: its action must be Allow or Deny or Pass'])
})

for (const [title, spec, problem] of [
  ['tier', { tier: 'Middle' }, 'spec.tier must be Admin or Baseline'],
  ['priority', { priority: 1001 }, 'spec.priority must be 0 to 1000'],
  ['subject', { subject: { ...everywhere, pods: {} } }, 'spec.subject must have either namespaces or pods'],
  ['list of rules', { ingress: 'all' }, 'spec.ingress must be a list'],
] as const)
  test(`a policy with an invalid ${title} has no effect`, () => {
    const { subject, problems } = cluster(spec)
    assert.equal(subject, undefined)
    assert.deepEqual(problems, [`it has no effect: ${problem}`])
  })

test('objects without a specification, and other names of the baseline, have no effect', () => {
  for (const kind of adminPolicyKinds) assert.equal(adminPolicyOf(kind, object(undefined)).subject, undefined)
  const { subject, problems } = adminPolicyOf(baselineAdminNetworkPolicies, object({ subject: everywhere }))
  assert.equal(subject, undefined)
  assert.deepEqual(problems, ['it has no effect: only the one with the name default is used'])
})
