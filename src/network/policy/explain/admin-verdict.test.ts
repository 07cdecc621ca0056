import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkPolicy } from '../../../client/kinds.ts'
import { adminPolicyOf } from '../picture/admin/admin-policy.ts'
import { clusterNetworkPolicies } from '../picture/admin/kinds.ts'
import { PolicyObjects } from '../picture/policy-objects.ts'
import { explainConnection } from './explain-connection.ts'
import { verdictLines } from './verdict-text.ts'

const everywhere = { namespaces: {} }
const inOther = { namespaces: { matchLabels: { name: 'other' } } }

const cluster = (name: string, spec: object) =>
  adminPolicyOf(clusterNetworkPolicies, {
    apiVersion: 'policy.networking.k8s.io/v1alpha2',
    kind: 'ClusterNetworkPolicy',
    metadata: { name },
    spec: { tier: 'Admin', priority: 1, subject: everywhere, ...spec },
  })

const closed: NetworkPolicy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { namespace: 'shop', name: 'closed' },
  spec: { podSelector: {}, policyTypes: ['Ingress'] },
}

/** The lines about the ingress of shop/db for a connection of shop/web to TCP 80. */
function explain(policies: readonly ReturnType<typeof cluster>[], ...others: readonly NetworkPolicy[]): string[] {
  const objects = new PolicyObjects()
  for (const name of ['web', 'db'])
    objects.setPod(
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: 'shop', name, uid: name },
        spec: { nodeName: 'here', containers: [] },
      },
      undefined,
    )
  const metadata = { name: 'shop', labels: { name: 'shop' } }
  objects.setNamespace({ apiVersion: 'v1', kind: 'Namespace', metadata }, undefined)
  for (const policy of policies) objects.setAdminPolicy(policy.title, policy)
  for (const policy of others) objects.setPolicy(policy, undefined)
  const [from, to] = [...objects.pods]
  const asked = { from: from!, to: to!, port: 80, protocol: 'TCP' }
  return verdictLines(asked, explainConnection(objects, asked)).slice(2)
}

test('the first rule that matches decides, and those before it are explained', () => {
  const miss = { name: 'strangers', action: 'Accept', from: [inOther] }
  const ports = { action: 'Accept', from: [everywhere], protocols: [{ tcp: { destinationPort: { number: 443 } } }] }
  const lines = explain(
    [
      cluster('late', { priority: 9, ingress: [{ action: 'Accept', from: [everywhere] }] }),
      cluster('guard', { priority: 3, ingress: [miss, ports, { action: 'Deny', from: [everywhere] }] }),
    ],
    closed,
  )
  assert.deepEqual(lines, [
    '  ingress of shop/db: denied by ClusterNetworkPolicy guard, rule 3',
    '    ClusterNetworkPolicy guard (tier Admin, priority 3)',
    '      rule 1 (strangers): the namespace shop has the labels name=shop, not name=other',
    '      rule 2: a rule allows the ports TCP 443',
    '      rule 3 denies it',
  ])
})

test('Pass leads to NetworkPolicies, which decide before the baseline', () => {
  const pass = cluster('pass', { ingress: [{ action: 'Pass', from: [everywhere] }] })
  const base = cluster('base', { tier: 'Baseline', ingress: [{ action: 'Deny', from: [everywhere] }] })
  const passed = ['    ClusterNetworkPolicy pass (tier Admin, priority 1)', '      rule 1 passes it on']
  assert.deepEqual(explain([pass, base], closed), [
    '  ingress of shop/db: denied by 1 policy',
    ...passed,
    '    shop/closed does not allow it',
    '      it has no rules for ingress',
  ])
  assert.deepEqual(explain([pass, base]), [
    '  ingress of shop/db: denied by ClusterNetworkPolicy base, rule 1',
    ...passed,
    '    ClusterNetworkPolicy base (tier Baseline, priority 1)',
    '      rule 1 denies it',
  ])
  assert.deepEqual(explain([pass]), ['  ingress of shop/db: no policy decides, so everything is allowed', ...passed])
})

test('invalid rules fail closed, and invalid policies are named', () => {
  const unknown = [{ clouds: {} }]
  const rules = [
    { action: 'Accept', from: unknown },
    { action: 'Pass', from: unknown },
  ]
  const lines = explain([cluster('odd', { ingress: rules }), cluster('useless', { tier: 'Middle' })])
  const reason = 'a peer has none of the fields that are supported, or several'
  assert.deepEqual(lines, [
    '  ingress of shop/db: denied by ClusterNetworkPolicy odd, rule 2',
    '    ClusterNetworkPolicy odd (tier Admin, priority 1)',
    `      rule 1: it has no effect: ${reason}`,
    '      rule 2 denies it',
    '  invalid policies',
    `    ClusterNetworkPolicy odd: ingress rule 1 has no effect: ${reason}`,
    `    ClusterNetworkPolicy odd: ingress rule 2 denies everything: ${reason}`,
    '    ClusterNetworkPolicy useless: it has no effect: spec.tier must be Admin or Baseline',
  ])
})
