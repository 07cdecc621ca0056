import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resource } from '../../api/resource.ts'
import { ServedResource } from '../registry/served-resource.ts'
import { StoredObject } from '../registry/stored-object.ts'
import { CustomSchema } from './custom-schema.ts'
import { type CustomVersion, storedForm } from './stored-form.ts'

const text = { type: 'string' }
const properties = {
  v1: { same: text, fresh: { ...text, default: 'new' } },
  v1beta1: { same: text, former: text, given: { ...text, default: 'old' } },
}
const definition = JSON.stringify({
  spec: {
    versions: Object.entries(properties).map(([name, spec]) => ({
      name,
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: spec } } } },
    })),
  },
})

const define = (version: string): ServedResource =>
  new ServedResource(
    resource({ group: 'example.com', version, kind: 'Widget', plural: 'widgets', scope: 'Namespaced' }),
  )
const storage = define('v1')
const stored = new StoredObject(storage, '/registry/definition', 1, Buffer.from(definition))
const versions = new Map<string, CustomVersion>([
  ['v1', { resource: storage, schema: new CustomSchema(stored, 'v1') }],
  ['v1beta1', { resource: define('v1beta1'), schema: new CustomSchema(stored, 'v1beta1') }],
])
const value = (version: string, spec: object): Buffer =>
  Buffer.from(JSON.stringify({ kind: 'Widget', apiVersion: `example.com/${version}`, metadata: { name: 'a' }, spec }))
const read = (bytes: Buffer, webhook = false) => storedForm(storage, versions, webhook)(bytes)

test('an object in its current form is returned as it is', () => {
  const bytes = value('v1', { same: 'x', fresh: 'y' })
  assert.equal(read(bytes).value, bytes)
})

test('unknown fields are pruned, and new defaults are applied', () => {
  assert.deepEqual(read(value('v1', { same: 'x', gone: 'y' })).value, value('v1', { same: 'x', fresh: 'new' }))
})

test('an object of another version keeps common fields and has the defaults of its stored version', () => {
  assert.deepEqual(read(value('v1beta1', { same: 'x', former: 'y' })), {
    resource: storage,
    value: value('v1', { same: 'x' }),
  })
})

test('with a conversion webhook, an object keeps its stored version', () => {
  const { resource, value: kept } = read(value('v1beta1', { same: 'x', former: 'y' }), true)
  assert.equal(resource, versions.get('v1beta1')?.resource)
  assert.deepEqual(kept, value('v1beta1', { same: 'x', former: 'y', given: 'old' }))
})

test('reading an object of a removed version is an error', () => {
  assert.throws(() => read(value('v1alpha1', {})), {
    code: 500,
    message: /request to convert CR to an invalid group\/version: example\.com\/v1alpha1/,
  })
})
