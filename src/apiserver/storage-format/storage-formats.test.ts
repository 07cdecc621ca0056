import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { allResources } from '../../api/registry.ts'
import { resourceKey } from '../../api/resource.ts'
import { envelope, field, number } from '../../machinery/protobuf/encode.fixture.ts'
import { memoryStore } from '../../storage/memory/index.ts'
import { TransformedStore } from '../encryption/index.ts'
import { aesGcm } from '../encryption/providers/aes-gcm.ts'
import { byPrefix } from '../encryption/value-transformer.ts'
import { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { type StorageMediaType, storageFormats } from './index.ts'

const encryption = byPrefix([{ prefix: 'k8s:enc:aesgcm:v1:k:', transformer: aesGcm(randomBytes(32)) }])

/** A registry on a memory store, whose values it reads and writes in their stored forms. */
function cluster(mediaType: StorageMediaType = 'application/json', isEncrypted = false) {
  const inner = memoryStore()
  const store = new TransformedStore(
    inner,
    storageFormats({
      definitions: allResources,
      served: (definition) => registry.served(definition),
      mediaType,
      encryption: isEncrypted ? () => encryption : undefined,
    }),
  )
  const registry: Registry = new Registry(store, allResources)
  const served = (key: string): ServedResource =>
    registry.served(allResources.find((definition) => resourceKey(definition) === key)!)
  const put = (key: string, value: string | Buffer) =>
    inner.commit({ conditions: [], operations: [{ key, value: Buffer.from(value) }] })
  return {
    inner,
    store,
    put,
    /** The object as clients of a resource see it, without resourceVersion. */
    async read(resource: string, key: string): Promise<Record<string, unknown>> {
      const of = served(resource)
      const object = await registry.newest(of, key)
      const { metadata, ...rest } = object!.parse()
      delete metadata.resourceVersion
      return { ...rest, metadata }
    },
    view: (resource: string) => registry.cacher(served(resource)).ready(),
    get: (resource: string, key: string) => registry.get(served(resource), key),
    isStale: (key: string) => store.isStale(key),
  }
}

const configMaps = 'v1/configmaps'
const key = '/registry/configmaps/default/c'
const metadata = field(1, [field(1, 'c'), field(2, ''), field(3, 'default'), field(8, '')])
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'default' } }
const data = field(2, [field(1, 'k'), field(2, 'v')])

describe('a stored value', () => {
  test('of protobuf is read as the object that it holds', async () => {
    const { put, read, isStale } = cluster()
    await put(key, envelope('v1', 'ConfigMap', [metadata, data, field(99, 'unknown')]))
    assert.deepEqual(await read(configMaps, key), { ...configMap, data: { k: 'v' } })
    assert.equal(await isStale(key), true)
  })

  test('of JSON is read with any order of members, and a newline at the end', async () => {
    const { put, read, isStale } = cluster()
    await put(
      key,
      '{"data":{"k":"v"},"metadata":{"namespace":"default","name":"c"},"apiVersion":"v1","kind":"ConfigMap"}\n',
    )
    assert.deepEqual(await read(configMaps, key), { ...configMap, data: { k: 'v' } })
    assert.equal(await isStale(key), false)
  })

  test('of YAML is read', async () => {
    const { put, read } = cluster()
    await put(key, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  namespace: default\ndata:\n  k: v\n')
    assert.deepEqual(await read(configMaps, key), { ...configMap, data: { k: 'v' } })
  })

  test('gets defaults that are newer than the value', async () => {
    const { put, read } = cluster()
    const service = '/registry/services/specs/default/s'
    const port = field(1, [
      field(1, ''),
      field(2, 'TCP'),
      number(3, 80),
      field(4, [number(1, 0), number(2, 80), field(3, '')]),
    ])
    await put(service, envelope('v1', 'Service', [field(1, [field(1, 's'), field(3, 'default')]), field(2, [port])]))
    const { spec } = (await read('v1/services', service)) as { spec: Record<string, unknown> }
    assert.equal(spec.internalTrafficPolicy, 'Cluster')
    assert.equal(spec.sessionAffinity, 'None')
  })

  test('of another served version is converted', async () => {
    const { put, read } = cluster()
    const hpa = '/registry/horizontalpodautoscalers/default/h'
    const target = field(1, [field(1, 'Deployment'), field(2, 'd'), field(3, 'apps/v1')])
    await put(
      hpa,
      envelope('autoscaling/v1', 'HorizontalPodAutoscaler', [
        field(1, [field(1, 'h'), field(3, 'default')]),
        field(2, [target, number(3, 5), number(4, 70)]),
      ]),
    )
    const { apiVersion, spec } = await read('autoscaling/v2/horizontalpodautoscalers', hpa)
    assert.equal(apiVersion, 'autoscaling/v2')
    assert.deepEqual((spec as { metrics: unknown }).metrics, [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
    ])
  })

  test('of a version that is no longer served is read as the current one', async () => {
    const { put, read } = cluster()
    const level = '/registry/prioritylevelconfigurations/p'
    const limited = '{"assuredConcurrencyShares":7,"limitResponse":{"type":"Reject"}}'
    await put(
      level,
      '{"apiVersion":"flowcontrol.apiserver.k8s.io/v1beta2","kind":"PriorityLevelConfiguration",' +
        `"metadata":{"name":"p"},"spec":{"type":"Limited","limited":${limited}}}`,
    )
    const { apiVersion, spec } = (await read('flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations', level)) as {
      apiVersion: string
      spec: { limited: { nominalConcurrencyShares: number } }
    }
    assert.equal(apiVersion, 'flowcontrol.apiserver.k8s.io/v1')
    assert.equal(spec.limited.nominalConcurrencyShares, 7)
  })

  test('is an error if it cannot be read, with the message of upstream; others remain readable', async () => {
    const { put, read, view, get } = cluster()
    await put(key, envelope('v1', 'ConfigMap', [metadata, data]))
    const bad = `${key}-bad`
    const expected: readonly (readonly [string | Buffer, string])[] = [
      [envelope('v1', 'ConfigMap', [metadata]).subarray(0, -8), 'unexpected EOF'],
      [
        '{"kind":"ConfigMap","apiVersion":"v9","metadata":{}}',
        'no kind "ConfigMap" is registered for version "v9" in scheme "pkg/api/legacyscheme/scheme.go:30"',
      ],
      [
        '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":5}}\n',
        'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
      ],
      ['{"apiVersion":"v1"}', 'Object \'Kind\' is missing in \'{"apiVersion":"v1"}\''],
      ['garbage', 'the value is neither protobuf nor a JSON or YAML object'],
    ]
    for (const [value, message] of expected) {
      await put(bad, value)
      await assert.rejects(read(configMaps, bad), { code: 500, message })
      await assert.rejects(view(configMaps), { code: 500, message })
    }
    assert.equal((await get(configMaps, key))?.name, 'c')
  })
})

describe('a written value', () => {
  const text = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c","namespace":"default"},"data":{"k":"v"}}`
  const write = async (mediaType: StorageMediaType, at = key, value = text, isEncrypted = false) => {
    const { store, inner, read, isStale } = cluster(mediaType, isEncrypted)
    await store.commit({ conditions: [], operations: [{ key: at, value: Buffer.from(value) }] })
    assert.equal(await isStale(at), false)
    return { stored: (await inner.get(at))!.value, read }
  }

  test('is JSON by default', async () => {
    assert.equal((await write('application/json')).stored.toString(), text)
  })

  test('is protobuf or YAML if the flag says so, and the same object when it is read', async () => {
    const { stored, read } = await write('application/vnd.kubernetes.protobuf')
    const meta = field(1, [
      ...[field(1, 'c'), field(2, ''), field(3, 'default'), field(4, ''), field(5, ''), field(6, ''), number(7, 0)],
      field(8, ''),
    ])
    assert.deepEqual(stored, envelope('v1', 'ConfigMap', [meta, data]))
    assert.deepEqual(await read(configMaps, key), { ...configMap, data: { k: 'v' } })
    const yaml = await write('application/yaml')
    assert.match(yaml.stored.toString(), /^apiVersion: v1\ndata:\n {2}k: v\nkind: ConfigMap\n/)
    assert.deepEqual(await yaml.read(configMaps, key), { ...configMap, data: { k: 'v' } })
  })

  test('of an API service or a custom resource is always JSON, as upstream', async () => {
    const service =
      '{"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1","metadata":{"name":"v1.a"},"spec":{}}'
    const services = '/registry/apiregistration.k8s.io/apiservices/v1.a'
    assert.equal((await write('application/vnd.kubernetes.protobuf', services, service)).stored.toString(), service)
    const { store, inner } = cluster('application/vnd.kubernetes.protobuf')
    const custom = '/registry/example.com/widgets/default/w'
    await store.commit({ conditions: [], operations: [{ key: custom, value: Buffer.from('{}') }] })
    assert.equal((await inner.get(custom))!.value.toString(), '{}')
  })

  test('is encrypted after it got its form', async () => {
    const { stored, read } = await write('application/vnd.kubernetes.protobuf', key, text, true)
    const decrypted = await encryption.decrypt(stored, key)
    assert.equal(decrypted.value.toString('latin1', 0, 4), 'k8s\0')
    assert.deepEqual(await read(configMaps, key), { ...configMap, data: { k: 'v' } })
  })
})
