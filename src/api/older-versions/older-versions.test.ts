import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allResources } from '../registry.ts'
import { type OlderObject, upgradeOf } from './index.ts'

function upgraded(plural: string, version: string, object: OlderObject): OlderObject {
  const definition = allResources.find((one) => one.plural === plural)
  assert.ok(definition)
  upgradeOf(definition, version)?.(object)
  return object
}

test('a version that was never stored is unknown', () => {
  const definition = allResources.find(({ plural }) => plural === 'cronjobs')
  assert.ok(definition)
  assert.equal(upgradeOf(definition, 'v2alpha1'), undefined)
  assert.notEqual(upgradeOf(definition, 'v1beta1'), undefined)
})

test('a definition of custom resources of v1beta1 gets what its versions share in each of them', () => {
  const schema = { openAPIV3Schema: { type: 'object' } }
  const conversion = {
    strategy: 'Webhook',
    webhookClientConfig: { url: 'https://a' },
    conversionReviewVersions: ['v1'],
  }
  const spec = {
    group: 'example.com',
    scope: 'Cluster',
    version: 'v1',
    versions: [
      { name: 'v1', served: true, storage: true },
      { name: 'v2', served: true, storage: false, subresources: {}, additionalPrinterColumns: [] },
    ],
    validation: schema,
    subresources: { status: {} },
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', JSONPath: '.spec.size' }],
    conversion,
    preserveUnknownFields: false,
  }
  assert.deepEqual(upgraded('customresourcedefinitions', 'v1beta1', { spec }).spec, {
    group: 'example.com',
    scope: 'Cluster',
    preserveUnknownFields: false,
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      },
      { name: 'v2', served: true, storage: false, schema, subresources: {}, additionalPrinterColumns: [] },
    ],
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: { url: 'https://a' }, conversionReviewVersions: ['v1'] },
    },
  })
})

test('a definition of v1beta1 with one version has it as a list, and retains unknown fields', () => {
  assert.deepEqual(upgraded('customresourcedefinitions', 'v1beta1', { spec: { version: 'v1' } }).spec, {
    scope: 'Namespaced',
    preserveUnknownFields: true,
    versions: [{ name: 'v1', served: true, storage: true }],
  })
})

test('an endpoint of v1beta1 has its zone in a field', () => {
  const topology = { 'topology.kubernetes.io/zone': 'z', 'kubernetes.io/hostname': 'n', other: 'o' }
  const expected = { endpoints: [{ nodeName: 'n', zone: 'z', deprecatedTopology: { other: 'o' } }] }
  assert.deepEqual(upgraded('endpointslices', 'v1beta1', { endpoints: [{ nodeName: 'n', topology }] }), expected)
  const decoded = [{ nodeName: 'n', deprecatedTopology: topology }]
  assert.deepEqual(upgraded('endpointslices', 'v1beta1', { endpoints: decoded }), expected)
})

test('an empty selector of a disruption budget of v1beta1 selects no pods', () => {
  const label = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'
  const selector = (of: object): unknown => {
    const { spec } = upgraded('poddisruptionbudgets', 'v1beta1', { spec: { selector: of } })
    return (spec as { selector: unknown }).selector
  }
  assert.deepEqual(selector({}), { matchExpressions: [{ key: label, operator: 'Exists' }] })
  assert.deepEqual(selector({ matchExpressions: [{ key: label, operator: 'DoesNotExist' }] }), {})
  assert.deepEqual(selector({ matchLabels: { a: 'b' } }), { matchLabels: { a: 'b' } })
})
