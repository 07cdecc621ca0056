import assert from 'node:assert/strict'
import test from 'node:test'
import type { ObjectMeta } from '../object.ts'
import { validateMetadata, validateMetadataUpdate } from './metadata.ts'
import { dnsSubdomain } from './names.ts'

const rules = { namespaced: true, nameRule: dnsSubdomain }
const base: ObjectMeta = {
  name: 'a',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2020-01-01T00:00:00Z',
}
const messages = (errors: { field: string; message: string }[]): string[] =>
  errors.map(({ field, message }) => `${field}: ${message.replace(/ \(e\.g\. .*/, '')}`)
const owner = { apiVersion: 'v1', kind: 'Secret', name: 'o', uid: 'u-1' }

test('invalid metadata is rejected on create', () => {
  const cases: [Partial<ObjectMeta>, string[]][] = [
    [{}, []],
    [
      {
        finalizers: ['kubernetes', 'example.com/ok'],
        labels: { 'example.com/a': '' },
        annotations: { 'Example.COM/k': 'ü' },
      },
      [],
    ],
    [{ name: '' }, ['metadata.name: Required value: name or generateName is required']],
    [{ namespace: '' }, ['metadata.namespace: Required value']],
    [
      { labels: { a: 'x'.repeat(64) } },
      [`metadata.labels: Invalid value: "${'x'.repeat(64)}": must be no more than 63 bytes`],
    ],
    [
      { annotations: { big: 'x'.repeat(262144) } },
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    [{ annotations: { big: 'x'.repeat(262141) } }, []],
    [
      { finalizers: ['nodomain'] },
      [
        'metadata.finalizers[0]: Invalid value: "nodomain": name is neither a standard finalizer name nor is it ' +
          'fully qualified',
      ],
    ],
    [{ finalizers: ['orphan', 'example.com/ok'] }, []],
    [
      { finalizers: ['orphan', 'foregroundDeletion'] },
      [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and ' +
          'foregroundDeletion cannot be both set',
      ],
    ],
    [
      { ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] },
      ['metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty'],
    ],
    [
      { ownerReferences: [{ ...owner, uid: '' }] },
      ['metadata.ownerReferences.uid: Invalid value: "": must not be empty'],
    ],
    [
      { ownerReferences: [{ ...owner, kind: 'Event' }] },
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"o","uid":"u-1"}: ' +
          '/v1, Kind=Event is disallowed from being an owner',
      ],
    ],
  ]
  for (const [change, expected] of cases)
    assert.deepEqual(messages(validateMetadata({ ...base, ...change }, rules)), expected)
  assert.deepEqual(messages(validateMetadata(base, { ...rules, namespaced: false })), [
    'metadata.namespace: Forbidden: not allowed on this type',
  ])
})

test('an object has at most one controller', () => {
  const owners = [1, 2].map((n) => ({ ...owner, name: `o${n}`, controller: true }))
  assert.match(
    messages(validateMetadata({ ...base, ownerReferences: owners }, rules))[0] ?? '',
    /: Only one reference can have Controller set to true\. Found "true" in references for Secret\/o1 and Secret\/o2$/,
  )
})

test('an update that changes immutable metadata is rejected', () => {
  const deleted = { ...base, deletionTimestamp: '2020-01-02T00:00:00Z', finalizers: ['example.com/a'] }
  const cases: [ObjectMeta, ObjectMeta, string[]][] = [
    [base, base, []],
    [{ ...base, uid: 'x' }, base, ['metadata.uid: Invalid value: "x": field is immutable']],
    [
      { ...base, resourceVersion: undefined },
      base,
      ['metadata.resourceVersion: Invalid value: "": must be specified for an update'],
    ],
    [{ ...deleted, finalizers: [] }, deleted, []],
    [{ ...base, finalizers: ['plain'] }, { ...base, finalizers: ['plain'] }, []],
    [
      { ...base, finalizers: ['plain', 'new', 'orphan'] },
      { ...base, finalizers: ['plain'] },
      [
        'metadata.finalizers[1]: Invalid value: "new": name is neither a standard finalizer name nor is it fully ' +
          'qualified',
      ],
    ],
    [
      { ...deleted, finalizers: ['x/z', 'x/b'] },
      deleted,
      [
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found ' +
          'new finalizers []string{"x/b", "x/z"}',
      ],
    ],
  ]
  for (const [meta, old, expected] of cases) assert.deepEqual(messages(validateMetadataUpdate(meta, old)), expected)
})

test('custom resources accept finalizers without a domain', () => {
  const rules = { namespaced: false, nameRule: () => [], anyFinalizer: true }
  assert.deepEqual(validateMetadata({ name: 'n', finalizers: ['nodomain'] }, rules), [])
  assert.equal(validateMetadata({ name: 'n', finalizers: ['not valid'] }, rules).length, 1)
})
