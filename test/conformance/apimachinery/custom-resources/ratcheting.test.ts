/**
 * Tests of upstream's suite for custom resources whose schema has become stricter
 * (`test/e2e/apimachinery/crd_validation_ratcheting.go`, KEP-4008).
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { waitFor } from '../../../support/wait-for.ts'
import { conformanceClients } from '../../support/clients.ts'
import { define, type Schema } from '../../support/definitions.ts'

const clients = conformanceClients({ controllers: [] })

/** Creates a custom resource for one test, whose schema can be changed. */
async function kindOf(t: TestContext) {
  const { cluster } = clients()
  const group = `${t.name.toLowerCase().replace(/[^a-z]+/g, '-')}.example.com`.slice(-60).replace(/^[^a-z]+/, '')
  await define(clients(), { group })
  const apply = (name: string, more: object, labels: object = {}) =>
    cluster.call(
      'PATCH',
      `/apis/${group}/v1/namespaces/default/foos/${name}?fieldManager=manager`,
      { apiVersion: `${group}/v1`, kind: 'Foo', metadata: { name, labels }, ...more },
      'application/apply-patch+yaml',
    )
  let changes = 0
  /** Replaces the schema. Resolves when it is in effect: an object that violates it is rejected. */
  const restrict = async (properties: Schema) => {
    const sentinel = `change-${++changes}`
    const value = { type: 'object', properties: { ...properties, sentinel: { type: 'string', enum: [sentinel] } } }
    const patch = JSON.stringify([{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value }])
    await cluster.call(
      'PATCH',
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foos.${group}`,
      patch,
      'application/json-patch+json',
    )
    await waitFor('the schema', () =>
      apply('sentinel', { sentinel: 'none' }).then(
        () => false,
        (error: Error) => error.message.includes(sentinel),
      ),
    )
  }
  return { apply, restrict }
}

/** The same field in all places where old and new values are correlated: in an object, a list of type map, a map. */
const everywhere = (field: Schema): Schema => {
  const one = { type: 'object', properties: { field, other: { type: 'string' } } }
  const listed = { type: 'object', required: ['key'], properties: { key: { type: 'string' }, ...one.properties } }
  return {
    field,
    struct: one,
    list: {
      type: 'array',
      maxItems: 5,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['key'],
      items: listed,
    },
    map: { type: 'object', maxProperties: 5, additionalProperties: one },
  }
}
const holding = (field: string, more: object = {}) => ({
  field,
  struct: { field, ...more },
  list: [{ key: 'foo', field, ...more }],
  map: { foo: { field, ...more } },
})
const lists = (items: Schema): Schema => ({
  atomicArray: { type: 'array', 'x-kubernetes-list-type': 'atomic', items },
  setArray: { type: 'array', 'x-kubernetes-list-type': 'set', items },
})
const says =
  (...paths: string[]) =>
  ({ message }: Error) =>
    paths.every((path) => message.includes(path))
const schemaErrors = { type: 'string', enum: ['valid', 'notfoo'] }
// No bounds, as upstream: such simple rules are cheap enough.
const rule = (rule: string): Schema => ({ type: 'string', 'x-kubernetes-validations': [{ rule }] })

for (const [what, field, item, inMap] of [
  ['JSONSchema', schemaErrors, schemaErrors, 'map.foo.field'],
  ['CRD Validation Rule', rule('self == "valid"'), rule('self != "foo"'), 'map[foo].field'],
] as const) {
  test(
    `CRDValidationRatcheting MUST NOT fail to update a resource due to ${what} errors on unchanged correlatable ` +
      'fields',
    async (t) => {
      const { apply, restrict } = await kindOf(t)
      await apply('a', holding('foo'))
      await restrict(everywhere(field))
      await apply('a', holding('foo'), { foo: 'bar' })
      await apply('a', holding('foo', { other: 'new' }))
    },
  )

  test(
    `CRDValidationRatcheting MUST fail to update a resource due to ${what} errors on unchanged uncorrelatable ` +
      'fields',
    async (t) => {
      const { apply, restrict } = await kindOf(t)
      await apply('a', { atomicArray: ['foo', 'bar'], setArray: ['foo', 'bar'] })
      await restrict(lists(item))
      const changed = ['foo', 'bar', 'notfoo']
      await assert.rejects(apply('a', { atomicArray: changed, setArray: changed }), says('atomicArray', 'setArray'))
    },
  )

  test(`CRDValidationRatcheting MUST fail to update a resource due to ${what} errors on changed fields`, async (t) => {
    const { apply, restrict } = await kindOf(t)
    await apply('a', holding('valid'))
    await restrict(everywhere(field))
    await assert.rejects(apply('a', holding('other')), says('"field"', 'struct.field', 'list[0].field', inMap))
  })
}

test('CRDValidationRatcheting MUST NOT ratchet errors raised by transition rules', async (t) => {
  const { apply, restrict } = await kindOf(t)
  await apply('a', holding('foo'))
  await restrict(
    everywhere({ type: 'string', maxLength: 5, 'x-kubernetes-validations': [{ rule: 'self != oldSelf' }] }),
  )
  await assert.rejects(
    apply('a', holding('foo'), { foo: 'bar' }),
    says('struct.field', 'list[0].field', 'map[foo].field'),
  )
})

test(
  'CRDValidationRatcheting MUST evaluate a CRD Validation Rule with oldSelf = nil for new values when ' +
    'optionalOldSelf is true',
  async (t) => {
    const { apply, restrict } = await kindOf(t)
    await restrict({
      field: {
        type: 'string',
        maxLength: 5,
        'x-kubernetes-validations': [{ rule: '!oldSelf.hasValue() || self != "foo"', optionalOldSelf: true }],
      },
    })
    await apply('a', { field: 'foo' })
    await apply('a', { field: 'bar' })
    await assert.rejects(apply('a', { field: 'foo' }), says('failed rule'))
  },
)
