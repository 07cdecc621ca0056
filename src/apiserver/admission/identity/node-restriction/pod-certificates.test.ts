import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pluginFixture, rejectionOf } from '../../plugin.fixture.ts'
import { nodeRestriction } from './index.ts'

const fixture = pluginFixture()
const { store, sources, write } = fixture
const plugin = nodeRestriction(sources)

async function uidOf(kind: string, namespace: string, name: string): Promise<string> {
  const resource = sources.find(kind)
  return (await sources.registry.get(resource, resource.key(namespace, name)))!.parse().metadata.uid!
}

test('a node may request certificates only for pods that run on it, with their current UIDs', async (t) => {
  const pod = (name: string, nodeName: string, more: object = {}) => ({
    metadata: { name, namespace: 'ns', ...more },
    spec: { nodeName, serviceAccountName: 'sa', containers: [{ name: 'c', image: 'i' }] },
  })
  for (const name of ['n1', 'n2']) await store('v1/nodes', { metadata: { name } })
  await store('v1/serviceaccounts', { metadata: { name: 'sa', namespace: 'ns' } })
  await store('v1/pods', pod('mine', 'n1'))
  await store('v1/pods', pod('theirs', 'n2'))
  const [n1, mine, theirs, sa] = await Promise.all([
    uidOf('v1/nodes', '', 'n1'),
    uidOf('v1/pods', 'ns', 'mine'),
    uidOf('v1/pods', 'ns', 'theirs'),
    uidOf('v1/serviceaccounts', 'ns', 'sa'),
  ])
  const right = {
    nodeName: 'n1',
    nodeUID: n1,
    podName: 'mine',
    podUID: mine,
    serviceAccountName: 'sa',
    serviceAccountUID: sa,
  }
  const request = 'PodCertificateRequest for pod "ns/mine"'
  const cases: readonly (readonly [string, object, string | undefined, boolean?])[] = [
    ['current names and UIDs', {}, undefined],
    [
      'another node',
      { nodeName: 'n2' },
      'PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1"',
      true,
    ],
    [
      'a recreated node',
      { nodeUID: 'old' },
      `${request} names node UID "old", inconsistent with the running node ("${n1}")`,
    ],
    [
      'a missing pod',
      { podName: 'gone' },
      'while retrieving pod "ns/gone" named in the PodCertificateRequest: pod "gone" not found',
    ],
    [
      'a recreated pod',
      { podUID: 'old' },
      `${request} contains pod UID ("old") which differs from running pod "${mine}"`,
    ],
    [
      'a pod of another node',
      { podName: 'theirs', podUID: theirs },
      'pod "ns/theirs" is not running on node "n1" named in the PodCertificateRequest',
      true,
    ],
    [
      'another account',
      { serviceAccountName: 'x' },
      `${request} contains serviceAccountName ("x") that differs from running pod ("sa")`,
      true,
    ],
    [
      'a recreated account',
      { serviceAccountUID: 'old' },
      `${request} names service account UID "old", which differs from the running service account ("${sa}")`,
    ],
  ]
  const asked = (spec: object, more: object = {}) =>
    rejectionOf(
      plugin,
      write(
        'certificates.k8s.io/v1beta1/podcertificaterequests',
        { metadata: { name: 'r', namespace: 'ns' }, spec: { ...right, ...spec } },
        { user: { name: 'system:node:n1', groups: ['system:nodes'] }, ...more },
      ),
    )
  const start = 'podcertificaterequests.certificates.k8s.io "r" is forbidden:'
  for (const [what, spec, why, isForbidden] of cases) {
    await t.test(what, async () => assert.equal(await asked(spec), why && isForbidden ? `${start} ${why}` : why))
  }
  assert.equal(await asked({}, { operation: 'UPDATE' }), `${start} unexpected operation UPDATE`)
  assert.equal(await asked({}, { subresource: 'status' }), `${start} unexpected subresource status`)
})
