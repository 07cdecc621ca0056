import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkPolicy } from '../../../client/kinds.ts'
import { PolicyObjects } from '../picture/policy-objects.ts'
import { explainConnection } from './explain-connection.ts'
import { verdictLines } from './verdict-text.ts'

const objects = new PolicyObjects()
for (const name of ['shop', 'other'])
  objects.setNamespace({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { name } } }, undefined)
for (const [namespace, name, address] of [
  ['shop', 'web', '10.0.0.1'],
  ['shop', 'db', '10.0.0.2'],
  ['other', 'web', '10.0.1.1'],
] as const) {
  const ports = [{ name: 'sql', containerPort: 5432 }]
  const spec = { nodeName: 'here', containers: [{ name: 'c', ports }] }
  const metadata = { namespace, name, uid: `${namespace}-${name}`, labels: { app: name } }
  objects.setPod({ apiVersion: 'v1', kind: 'Pod', metadata, spec, status: { podIP: address } }, undefined)
}
const podOf = (key: string) => [...objects.pods].find(({ namespace, name }) => `${namespace}/${name}` === key)!

const policy = (spec: NetworkPolicy['spec']): NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { namespace: 'shop', name: 'db' },
  spec,
})

function explain(from: string, port: number, spec?: NetworkPolicy['spec']): string[] {
  const one = spec && policy({ policyTypes: ['Ingress'], ...spec })
  if (one) objects.setPolicy(one, undefined)
  const asked = { from: podOf(from), to: podOf('shop/db'), port, protocol: 'TCP' }
  const lines = verdictLines(asked, explainConnection(objects, asked))
  if (one) objects.setPolicy(undefined, one)
  return lines
}

const db = { matchLabels: { app: 'db' } }
const web = { podSelector: { matchLabels: { app: 'web' } } }

test('without policies, everything is allowed', () => {
  assert.deepEqual(explain('shop/web', 1), [
    'shop/web may reach shop/db on TCP 1',
    '  egress of shop/web: no policy selects the pod, so everything is allowed',
    '  ingress of shop/db: no policy selects the pod, so everything is allowed',
  ])
})

test('a policy that allows it is named', () => {
  const lines = explain('shop/web', 5432, { podSelector: db, ingress: [{ from: [web], ports: [{ port: 'sql' }] }] })
  assert.equal(lines[0], 'shop/web may reach shop/db on TCP 5432')
  assert.deepEqual(lines.slice(2), ['  ingress of shop/db: allowed by 1 policy', '    shop/db allows it'])
})

for (const [title, from, port, ingress, miss] of [
  ['no rules', 'shop/web', 80, [], 'it has no rules for ingress'],
  [
    'another port',
    'shop/web',
    80,
    [{ ports: [{ port: 'sql' }, { port: 90, endPort: 99 }] }],
    'a rule allows the ports TCP sql (5432), TCP 90-99',
  ],
  [
    'another namespace',
    'other/web',
    80,
    [{ from: [web] }],
    'pods of the namespace shop are meant, and other/web is in other',
  ],
  [
    'labels of the namespace',
    'other/web',
    80,
    [{ from: [{ namespaceSelector: { matchLabels: { name: 'shop' } } }] }],
    'the namespace other has the labels name=other, not name=shop',
  ],
  [
    'labels of the pod',
    'shop/web',
    80,
    [{ from: [{ podSelector: db }] }],
    'the pod shop/web has the labels app=web, not app=db',
  ],
  [
    'another range',
    'shop/web',
    80,
    [{ from: [{ ipBlock: { cidr: '10.0.1.0/24' } }] }],
    '10.0.0.1 is not in 10.0.1.0/24',
  ],
  [
    'an exception',
    'shop/web',
    80,
    [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.1/32'] } }] }],
    '10.0.0.1/32 is excepted from 10.0.0.0/8',
  ],
] as const)
  test(`what misses is said: ${title}`, () => {
    const lines = explain(from, port, { podSelector: db, ingress: structuredClone(ingress) as never })
    assert.equal(lines.at(-1)?.trim(), miss)
    assert.match(lines[0] ?? '', /must not reach/)
  })
