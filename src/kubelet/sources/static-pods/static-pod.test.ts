import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readManifest, readManifests } from './static-pod.ts'

const file = { kind: 'file', place: '/etc/kubernetes/manifests/web.yaml', nodeName: 'node-1' } as const
const url = { kind: 'http', place: 'http://manifests.test/', nodeName: 'n1' } as const
const seen = '2026-01-01T00:00:00Z'

const text = (name = 'web', more = ''): string => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  containers: [{name: c, image: web}]
${more}`

test('a manifest becomes a pod of the node, with defaults, identity and annotations', () => {
  const { metadata, spec, status } = readManifest(text(), file, seen)
  assert.equal(metadata.name, 'web-node-1')
  assert.equal(metadata.namespace, 'default')
  assert.match(metadata.uid ?? '', /^[0-9a-f]{32}$/)
  assert.deepEqual(metadata.annotations, {
    'kubernetes.io/config.hash': metadata.uid,
    'kubernetes.io/config.seen': seen,
    'kubernetes.io/config.source': 'file',
  })
  assert.equal(spec?.nodeName, 'node-1')
  assert.equal(spec?.restartPolicy, 'Always')
  assert.equal(spec?.containers[0]?.imagePullPolicy, 'Always')
  assert.deepEqual(spec?.tolerations, [{ operator: 'Exists', effect: 'NoExecute' }])
  assert.deepEqual(status, { phase: 'Pending', qosClass: 'BestEffort' })
})

test('the UID of a static pod follows from its content, its file and its node', () => {
  const uid = (content: string, source: Parameters<typeof readManifest>[1]) =>
    readManifest(content, source, seen).metadata.uid
  const first = uid(text(), file)
  assert.equal(uid(text(), file), first)
  // The order of members and comments do not count.
  assert.equal(uid(`# a comment\n${text()}`, file), first)
  assert.notEqual(uid(text('web', '  hostNetwork: true'), file), first)
  assert.notEqual(uid(text(), { ...file, place: '/other.yaml' }), first)
  assert.notEqual(uid(text(), { ...file, nodeName: 'n2' }), first)
  assert.equal(uid(text().replace('{name: web}', '{name: web, uid: own}'), file), 'own')
})

test('a URL serves one pod or a list, whose pods tolerate nothing more', () => {
  const [one] = readManifests(text(), url, seen)
  assert.equal(one?.metadata.annotations?.['kubernetes.io/config.source'], 'http')
  assert.equal(one?.spec?.tolerations, undefined)
  const list = {
    apiVersion: 'v1',
    kind: 'PodList',
    items: ['a', 'b'].map((name) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } })),
  }
  const names = readManifests(JSON.stringify(list), url, seen).map(({ metadata }) => metadata.name)
  assert.deepEqual(names, ['a-n1', 'b-n1'])
})

for (const [fault, content, message] of [
  ['no YAML', 'a: b: c', /^couldn't parse as pod\(error converting YAML to JSON: .*\), please check config file$/],
  ['no kind', '{}', /^couldn't parse as pod\(Object 'Kind' is missing\), please check config file$/],
  ['another kind', text().replace('kind: Pod', 'kind: Job'), /only a v1 Pod is expected/],
  ['a wrong type', text('web', '  hostNetwork: 3'), /^couldn't parse as pod\(json: cannot unmarshal number/],
  ['no name', text('""'), /^invalid pod: name is needed for the pod$/],
  ['a bad name', text('Web'), /^invalid pod: \[metadata.name: Invalid value: "Web-node-1": a lowercase RFC 1123/],
  ['a bad field', text('web', '  dnsPolicy: Never'), /^invalid pod: \[spec.dnsPolicy: Unsupported value: "Never"/],
  ['a reference', text('web', '  serviceAccountName: s'), /^static pods may not reference serviceaccounts$/],
] as const)
  test(`a manifest with ${fault} is rejected`, () => {
    assert.throws(() => readManifest(content, file, seen), { message })
  })
