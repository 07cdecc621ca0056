/** Selectors match a request by its objects and their namespace. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { LabelSelector } from '../../../machinery/selectors/label-selector.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { pluginFixture } from '../plugin.fixture.ts'
import { isExemptFromPolicies, isExemptFromWebhooks, Match, Matcher } from './matcher.ts'

const { sources, store, write } = pluginFixture()
const matcher = new Matcher(sources.registry, sources.apis, sources.find('v1/namespaces'))

const selects = (
  selectors: { objectSelector?: LabelSelector; namespaceSelector?: LabelSelector },
  attributes: AdmissionAttributes,
) => matcher.selects(new Match(selectors), attributes)

const node = (level: string) => ({ metadata: { name: 'n', labels: { runlevel: level } } })
const notFirst: LabelSelector = { matchExpressions: [{ key: 'runlevel', operator: 'NotIn', values: ['1'] }] }
const unlabelled: LabelSelector = { matchExpressions: [{ key: 'runlevel', operator: 'DoesNotExist' }] }
const written = (level: string) => write('v1/nodes', node(level))
const deleted = (level: string): AdmissionAttributes => ({
  ...written(level),
  operation: 'DELETE',
  object: undefined,
  old: written(level).object,
})
/** CONNECT options have no metadata. */
const connected = (): AdmissionAttributes => ({
  ...written('2'),
  operation: 'CONNECT',
  object: { kind: 'NodeProxyOptions' } as unknown as undefined,
})

const cases: readonly (readonly [string, LabelSelector, AdmissionAttributes, boolean])[] = [
  ['an empty selector matches a request without an object', {}, { ...written('1'), object: undefined }, true],
  ['the new object', notFirst, written('2'), true],
  ['the old object', notFirst, deleted('2'), true],
  ['not the new object, without an old one', notFirst, written('1'), false],
  ['not the old object, without a new one', notFirst, deleted('1'), false],
  ['a missing object does not match DoesNotExist', unlabelled, written('1'), false],
  ['an object without labels', unlabelled, write('v1/nodes', { metadata: { name: 'n' } }), true],
  ['one of the two objects', notFirst, { ...written('1'), operation: 'UPDATE', old: written('2').object }, true],
  ['not an object without metadata', notFirst, connected(), false],
  ['an empty selector matches an object without metadata', {}, connected(), true],
]
for (const [what, objectSelector, attributes, expected] of cases)
  test(`objectSelector: ${what}`, async () => assert.equal(await selects({ objectSelector }, attributes), expected))

test('namespaceSelector matches the namespace of an object; cluster-scoped objects always match', async () => {
  await store('v1/namespaces', { metadata: { name: 'blue', labels: { team: 'blue' } } })
  const blue = { namespaceSelector: { matchLabels: { team: 'blue' } } }
  const pod = (namespace: string) =>
    write('v1/pods', { metadata: { name: 'p', namespace }, spec: { containers: [{ name: 'c', image: 'i' }] } })
  assert.equal(await selects(blue, pod('blue')), true)
  assert.equal(await selects({ namespaceSelector: { matchLabels: { team: 'red' } } }, pod('blue')), false)
  assert.equal(await selects(blue, written('1')), true)
  const namespace = (labels: object) => write('v1/namespaces', { metadata: { name: 'blue', labels } })
  assert.equal(await selects(blue, namespace({ team: 'blue' })), true)
  assert.equal(await selects(blue, namespace({ team: 'red' })), false)
  // On a delete, the stored object is matched.
  assert.equal(await selects(blue, { ...namespace({ team: 'red' }), operation: 'DELETE', object: undefined }), true)
  await assert.rejects(
    async () => selects(blue, pod('none')),
    (error) => error instanceof StatusError && error.code === 404,
  )
  assert.equal(await selects({ namespaceSelector: {} }, pod('none')), true)
})

test('policies may match webhook configurations, but not policies', () => {
  const exempt = (key: string) => [isExemptFromWebhooks(sources.find(key)), isExemptFromPolicies(sources.find(key))]
  const registration = 'admissionregistration.k8s.io/v1/'
  assert.deepEqual(exempt(`${registration}validatingwebhookconfigurations`), [true, false])
  assert.deepEqual(exempt(`${registration}mutatingwebhookconfigurations`), [true, false])
  for (const plural of [
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
  ]) {
    assert.deepEqual(exempt(registration + plural), [true, true])
  }
  assert.deepEqual(exempt('authorization.k8s.io/v1/subjectaccessreviews'), [false, true])
  assert.deepEqual(exempt('authentication.k8s.io/v1/tokenreviews'), [false, true])
  assert.deepEqual(exempt('v1/pods'), [false, false])
})
