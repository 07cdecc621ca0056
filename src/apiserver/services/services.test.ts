/** Allocation by writes of Services, on a store in memory. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Service, ServiceSpec } from '../../api/core/service/index.ts'
import { allResources } from '../../api/registry.ts'
import { resourceKey } from '../../api/resource.ts'
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { memoryStore } from '../../storage/memory/index.ts'
import type { Store } from '../../storage/store.ts'
import { AdmissionChain } from '../admission/admission-chain.ts'
import type { AdmissionPlugin } from '../admission/plugin.ts'
import { Registry } from '../registry/registry.ts'
import { encode } from '../registry/stored-object.ts'
import type { Admission } from '../registry/write/admission.ts'
import { createObject } from '../registry/write/create-object.ts'
import { deleteObject } from '../registry/write/delete-object.ts'
import { updateObject } from '../registry/write/update-object.ts'
import { timestamp, type WriteContext } from '../registry/write/write-context.ts'
import { type ServiceAllocation, type ServiceAllocationOptions, serviceAllocation } from './index.ts'

type Given = Partial<ServiceSpec>
type Options = Partial<ServiceAllocationOptions> & {
  readonly store?: Store
  readonly plugins?: readonly AdmissionPlugin[]
}

/** Writes Services as an API server does. */
class Writer {
  readonly registry: Registry
  readonly allocation: ServiceAllocation
  readonly logged: string[] = []
  readonly #admission: Admission

  constructor(t: TestContext, { store = memoryStore(), plugins = [], ...options }: Options = {}) {
    this.registry = new Registry(store, allResources)
    t.after(() => this.registry.stop())
    this.#admission = new AdmissionChain(plugins)
    this.allocation = serviceAllocation({
      registry: this.registry,
      find: this.find,
      log: (line) => this.logged.push(line),
      ...options,
    })
  }

  find = (key: string) => this.registry.served(allResources.find((definition) => resourceKey(definition) === key)!)

  context(name: string, dryRun = false): WriteContext {
    const options = { dryRun, fieldManager: '', fieldValidation: 'Ignore', force: false } as const
    const place = {
      registry: this.registry,
      admission: this.#admission,
      resource: this.find('v1/services'),
      namespace: 'ns',
      name,
      subresource: '',
    }
    return {
      ...place,
      user: { name: 'me', groups: [] },
      manager: 'test',
      options,
      warnings: [],
      annotate: () => {},
      now: timestamp,
      pause: () => undefined,
    }
  }

  async create(name: string, spec: Given = {}, dryRun = false): Promise<Service> {
    const object = {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { name },
      spec: { ports: [{ port: 80 }], ...structuredClone(spec) },
    } as Unstructured
    this.find('v1/services').applyDefaults(object)
    return (await createObject(this.context(name, dryRun), object)).parse<Service>()
  }

  /** Merges fields into the spec; undefined removes one. */
  async change(name: string, spec: Given, dryRun = false): Promise<Service> {
    const { object } = await updateObject(this.context(name, dryRun), {
      startsFromLive: true,
      change: (live) => {
        const object = JSON.parse(JSON.stringify({ ...live, spec: { ...(live as Service).spec, ...spec } }))
        this.find('v1/services').applyDefaults(object)
        return { object }
      },
    })
    return object.parse<Service>()
  }

  remove = (name: string, dryRun = false) => deleteObject(this.context(name, dryRun), { dryRun })

  /** Names of all IPAddresses. */
  async addresses(): Promise<string[]> {
    const resource = this.find('networking.k8s.io/v1/ipaddresses')
    const { objects } = await this.registry.cacher(resource).ready()
    return objects.slice(resource.range('')).map(({ name }) => name)
  }
}

/** The causes of a rejection, without the dump of the value. */
async function refused(write: Promise<unknown>): Promise<string> {
  const error = await write.then(
    () => assert.fail('was not refused'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof StatusError, String(error))
  const causes = error.status.details?.causes ?? []
  return causes
    .map(({ field, message = '' }) => `${field ? `${field}: ` : ''}${message.replace(/^Invalid value: .*?: /, '')}`)
    .join('; ')
}

const ip = ({ spec }: Service): string => spec?.clusterIP ?? ''
const nodePorts = ({ spec }: Service): number[] => (spec?.ports ?? []).map(({ nodePort }) => nodePort ?? 0)

describe('cluster IPs', () => {
  test('each Service gets its own address, also when many are created concurrently', async (t) => {
    const writer = new Writer(t)
    const made = await Promise.all(Array.from({ length: 100 }, (_, i) => writer.create(`s-${i}`)))
    assert.equal(new Set(made.map(ip)).size, 100)
    assert.deepEqual(new Set(await writer.addresses()), new Set(made.map(ip)))
  })

  test('a full range is an internal error, until a Service is deleted', async (t) => {
    const writer = new Writer(t, { clusterIpRange: '10.0.0.0/30' })
    await Promise.all([writer.create('a'), writer.create('b')])
    assert.equal(await refused(writer.create('c')), 'failed to allocate a serviceIP: range is full')
    await writer.remove('a')
    assert.ok(ip(await writer.create('c')))
  })

  test('a requested address is allocated once, and must be in the range', async (t) => {
    const writer = new Writer(t)
    assert.equal(ip(await writer.create('a', { clusterIP: '10.0.0.9' })), '10.0.0.9')
    assert.equal(
      await refused(writer.create('b', { clusterIP: '10.0.0.9' })),
      'spec.clusterIPs: failed to allocate IP 10.0.0.9: provided IP is already allocated',
    )
    const network = 'the provided network does not match the current range'
    for (const address of ['10.0.1.1', '10.0.0.0', '10.0.0.255'])
      assert.equal(
        await refused(writer.create('b', { clusterIP: address })),
        `spec.clusterIPs: failed to allocate IP ${address}: ${network}`,
      )
    assert.equal(
      await refused(writer.create('b', { clusterIP: '10.0.1.1' }, true)),
      'spec.clusterIPs: failed to allocate IP 10.0.1.1: the provided IP (10.0.1.1) is not in the valid range. ' +
        'The range of valid IPs is 10.0.0.0/24',
    )
  })

  test('neither a dry run nor a rejected write allocates anything', async (t) => {
    const refuse: AdmissionPlugin = {
      name: 'refuse',
      validate: ({ name }) => {
        if (name === 'refused') throw new StatusError(403, 'Forbidden', 'no')
      },
    }
    const writer = new Writer(t, { clusterIpRange: '10.0.0.0/30', nodePortRange: '30000-30000', plugins: [refuse] })
    await writer.create('there', { type: 'NodePort' })
    for (let i = 0; i < 5; i++) {
      await assert.rejects(writer.create('refused'))
      await assert.rejects(writer.create('invalid', { ports: [] }))
      assert.equal(
        await refused(writer.create('other', { type: 'NodePort' })),
        'failed to allocate a nodePort: range is full',
      )
      await writer.create('dry', {}, true)
    }
    await writer.remove('there', true)
    assert.equal((await writer.addresses()).length, 1)
    await writer.create('last')
    await writer.remove('there')
    await writer.create('again', { type: 'NodePort' })
  })

  test('a headless Service has no address, an ExternalName releases it', async (t) => {
    const writer = new Writer(t)
    assert.deepEqual((await writer.create('headless', { clusterIP: 'None', selector: { a: 'b' } })).spec?.clusterIPs, [
      'None',
    ])
    await writer.create('s', { clusterIP: '10.0.0.9' })
    const alias = await writer.change('s', { type: 'ExternalName', externalName: 'a.example' })
    assert.equal(alias.spec?.clusterIP, undefined)
    assert.deepEqual(await writer.addresses(), [])
    assert.ok(ip(await writer.change('s', { type: 'ClusterIP', externalName: undefined })))
    assert.equal((await writer.addresses()).length, 1)
  })

  test('added ranges are used when they are ready, after those of the server', async (t) => {
    const writer = new Writer(t, { clusterIpRange: '10.0.0.0/30' })
    await Promise.all([writer.create('a'), writer.create('b')])
    const ranges = writer.find('networking.k8s.io/v1/servicecidrs')
    const write = async (status: 'True' | 'False', more: object = {}): Promise<void> => {
      const object = {
        kind: 'ServiceCIDR',
        apiVersion: 'networking.k8s.io/v1',
        metadata: { name: 'more', ...more },
        spec: { cidrs: ['10.1.0.0/24'] },
        status: { conditions: [{ type: 'Ready', status }] },
      } as Unstructured
      const { store } = writer.registry
      await store.commit({
        conditions: [],
        operations: [{ key: ranges.key('', 'more'), value: encode(ranges, object) }],
      })
      await writer.registry.cacher(ranges).waitFor(store.revision)
    }
    const full = 'failed to allocate a serviceIP: range is full'
    await write('False')
    assert.equal(await refused(writer.create('c')), full)
    await write('True')
    const drawn = ip(await writer.create('c'))
    assert.match(drawn, /^10\.1\.0\./)
    const asked = drawn === '10.1.0.77' ? '10.1.0.78' : '10.1.0.77'
    assert.equal(ip(await writer.create('d', { clusterIP: asked })), asked)
    await write('True', { deletionTimestamp: timestamp() })
    assert.equal(await refused(writer.create('e')), full)
  })

  test('an update without the address retains it, one that changes it is rejected', async (t) => {
    const writer = new Writer(t)
    const made = await writer.create('s')
    const none = { clusterIP: undefined, clusterIPs: undefined, ipFamilies: undefined, ipFamilyPolicy: undefined }
    assert.deepEqual((await writer.change('s', { ...none, ports: [{ port: 81 }] })).spec, {
      ...made.spec,
      ports: [{ port: 81, protocol: 'TCP', targetPort: 81 }],
    })
    assert.equal(
      await refused(writer.change('s', { clusterIP: '10.0.0.9' })),
      'spec.clusterIPs[0]: may not change once set',
    )
  })

  test('a Service held by a finalizer retains its address', async (t) => {
    const writer = new Writer(t)
    const object = {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { name: 's', finalizers: ['example.com/hold'] },
      spec: { ports: [{ port: 80 }] },
    } as Unstructured
    writer.find('v1/services').applyDefaults(object)
    await createObject(writer.context('s'), object)
    await writer.remove('s')
    assert.equal((await writer.addresses()).length, 1)
    await updateObject(writer.context('s'), {
      startsFromLive: true,
      change: (live) => ({ object: { ...live!, metadata: { ...live!.metadata, finalizers: [] } } }),
    })
    assert.deepEqual(await writer.addresses(), [])
  })
})

describe('two families', () => {
  const clusterIpRange = '10.0.0.0/24,fd00::/108'

  test('the policy of a Service requests both families, and releases one', async (t) => {
    const writer = new Writer(t, { clusterIpRange })
    assert.deepEqual((await writer.create('one')).spec?.ipFamilies, ['IPv4'])
    const two = await writer.create('two', { ipFamilyPolicy: 'PreferDualStack' })
    assert.deepEqual(two.spec?.ipFamilies, ['IPv4', 'IPv6'])
    assert.match(two.spec!.clusterIPs!.join(), /^10\.0\.0\.\d+,fd00::/)
    const more = await writer.change('one', { ipFamilyPolicy: 'RequireDualStack' })
    assert.equal(more.spec?.clusterIPs?.length, 2)
    assert.equal((await writer.addresses()).length, 4)
    assert.equal(
      await refused(writer.change('one', { clusterIPs: [ip(more)], ipFamilies: ['IPv4'] })),
      "spec.ipFamilyPolicy: must be 'SingleStack' to release the secondary cluster IP; spec.ipFamilyPolicy: must " +
        "be 'SingleStack' to release the secondary IP family",
    )
    const less = await writer.change('one', { ipFamilyPolicy: 'SingleStack' })
    assert.deepEqual([less.spec?.clusterIPs, less.spec?.ipFamilies], [[ip(more)], ['IPv4']])
    assert.equal((await writer.addresses()).length, 3)
  })

  test('families are inferred from given addresses; a single-stack cluster rejects two', async (t) => {
    const writer = new Writer(t, { clusterIpRange })
    assert.deepEqual((await writer.create('six', { clusterIP: 'fd00::0a' })).spec?.ipFamilies, ['IPv6'])
    assert.match(await refused(writer.create('again', { clusterIP: 'fd00::a' })), /already allocated$/)
    const single = new Writer(t)
    assert.equal(
      await refused(single.create('two', { ipFamilyPolicy: 'RequireDualStack' })),
      'spec.ipFamilyPolicy: this cluster is not configured for dual-stack services',
    )
    assert.match(
      await refused(single.create('six', { clusterIP: 'fd00::a' })),
      /IPv6 is not configured on this cluster$/,
    )
    assert.deepEqual((await single.create('open', { clusterIP: 'None' })).spec?.ipFamilies, ['IPv4', 'IPv6'])
  })
})

describe('node ports', () => {
  test('each port is allocated once, static or dynamic', async (t) => {
    const writer = new Writer(t, { nodePortRange: '30000-30100' })
    const made = await Promise.all(Array.from({ length: 50 }, (_, i) => writer.create(`s-${i}`, { type: 'NodePort' })))
    assert.equal(new Set(made.flatMap(nodePorts)).size, 50)
    const [taken = 0] = nodePorts(made[0]!)
    assert.equal(
      await refused(writer.create('t', { type: 'NodePort', ports: [{ port: 80, nodePort: taken }] })),
      'spec.ports[0].nodePort: provided port is already allocated',
    )
    assert.equal(
      await refused(writer.create('t', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] })),
      'spec.ports[0].nodePort: provided port is not in the valid range. The range of valid ports is 30000-30100',
    )
  })

  test('protocols of one port share a node port', async (t) => {
    const writer = new Writer(t)
    const ports = [
      { name: 'tcp', port: 53, protocol: 'TCP' },
      { name: 'udp', port: 53, protocol: 'UDP' },
    ]
    const [tcp, udp] = nodePorts(await writer.create('dns', { type: 'NodePort', ports }))
    assert.ok(tcp && tcp === udp)
    const asked = ports.map((port) => ({ ...port, nodePort: 30072 }))
    assert.deepEqual(nodePorts(await writer.create('asked', { type: 'LoadBalancer', ports: asked })), [30072, 30072])
  })

  test('an update without node ports retains them by the names of ports', async (t) => {
    const writer = new Writer(t)
    const ports = [
      { name: 'a', port: 80 },
      { name: 'b', port: 81 },
    ]
    const [a, b] = nodePorts(await writer.create('s', { type: 'NodePort', ports }))
    const [c, b2, a2] = nodePorts(
      await writer.change('s', { ports: [{ name: 'c', port: 82 }, { name: 'b', port: 9 }, ports[0]!] }),
    )
    assert.deepEqual([a2, b2], [a, b])
    assert.ok(c && c !== a && c !== b)
  })

  test('changing the type releases node ports', async (t) => {
    const writer = new Writer(t, { nodePortRange: '30000-30000' })
    await writer.create('s', { type: 'NodePort' })
    assert.deepEqual(nodePorts(await writer.change('s', { type: 'ClusterIP' })), [0])
    assert.deepEqual(nodePorts(await writer.create('t', { type: 'LoadBalancer' })), [30000])
  })

  test('load balancers may have none, and have a health check port if traffic stays local', async (t) => {
    const writer = new Writer(t)
    const local = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, externalTrafficPolicy: 'Local' }
    const made = await writer.create('s', local)
    assert.deepEqual(nodePorts(made), [0])
    const { healthCheckNodePort } = made.spec!
    assert.ok(healthCheckNodePort)
    assert.equal(
      (await writer.change('s', { healthCheckNodePort: undefined })).spec?.healthCheckNodePort,
      healthCheckNodePort,
    )
    assert.equal(
      await refused(writer.create('t', { ...local, healthCheckNodePort })),
      `failed to allocate requested HealthCheck NodePort ${healthCheckNodePort}: provided port is already allocated`,
    )
    assert.equal((await writer.change('s', { externalTrafficPolicy: 'Cluster' })).spec?.healthCheckNodePort, undefined)
    assert.equal(
      (await writer.create('t', { ...local, healthCheckNodePort })).spec?.healthCheckNodePort,
      healthCheckNodePort,
    )
  })
})

describe('the store', () => {
  test('a new server on a store knows the allocations of others', async (t) => {
    const store = memoryStore()
    const [one, two] = [
      new Writer(t, { store, clusterIpRange: '10.0.0.0/28' }),
      new Writer(t, { store, clusterIpRange: '10.0.0.0/28' }),
    ]
    const made = await Promise.all(
      Array.from({ length: 7 }, (_, i) => [one.create(`a-${i}`), two.create(`b-${i}`)])
        .flat()
        .map((write) => write.catch(() => undefined)),
    )
    const addresses = made.flatMap((service) => (service ? [ip(service)] : []))
    assert.equal(new Set(addresses).size, addresses.length)
    assert.deepEqual(await two.addresses(), await one.addresses())
  })

  test('of two servers that choose the same address, the slower one asks the client to retry', async (t) => {
    const store = memoryStore()
    const random = (): number => 0
    const one = new Writer(t, { store, random })
    const meanwhile: AdmissionPlugin = { name: 'meanwhile', validate: async () => void (await one.create('a')) }
    const two = new Writer(t, { store, random, plugins: [meanwhile] })
    await assert.rejects(
      two.create('b'),
      ({ reason, status }: StatusError) => reason === 'ServerTimeout' && status.details?.retryAfterSeconds === 1,
    )
    assert.deepEqual(await two.addresses(), ['10.0.0.17'])
  })

  test('the start creates missing IPAddresses and deletes leftover ones, but not those of others', async (t) => {
    const store = memoryStore()
    const before = new Writer(t, { store })
    await before.create('s', { clusterIP: '10.0.0.9' })
    const prefix = '/registry/ipaddresses/'
    const theirs = {
      kind: 'IPAddress',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name: '10.0.0.30' },
      spec: { parentRef: { resource: 'services', name: 'x' } },
    }
    const left = {
      ...theirs,
      metadata: { name: '10.0.0.31', labels: { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' } },
    }
    await store.commit({
      conditions: [],
      operations: [
        { key: `${prefix}10.0.0.9`, delete: true },
        ...[theirs, left].map((object) => ({
          key: prefix + object.metadata.name,
          value: Buffer.from(JSON.stringify(object)),
        })),
      ],
    })
    const writer = new Writer(t, { store })
    await writer.allocation.begin({ bindAddress: '192.0.2.1', port: 6443, context: writer.context('') })
    assert.deepEqual(await writer.addresses(), ['10.0.0.1', '10.0.0.30', '10.0.0.9'])
    assert.match(await refused(writer.create('t', { clusterIP: '10.0.0.30' })), /already allocated$/)
  })

  test('the Service kubernetes has the current address of the server after a restart', async (t) => {
    const store = memoryStore()
    const seen = async (bindAddress: string, port: number, clusterIpRange: string) => {
      const writer = new Writer(t, { store, clusterIpRange })
      await writer.allocation.begin({ bindAddress, port, context: writer.context('') })
      assert.deepEqual(writer.logged, [])
      const get = async (key: string, namespace: string): Promise<Unstructured> => {
        const resource = writer.find(key)
        return (await writer.registry.get(resource, resource.key(namespace, 'kubernetes')))!.parse<Unstructured>()
      }
      const service = (await get('v1/services', 'default')) as Service
      const [subset] = (await get('v1/endpoints', 'default')).subsets as [
        { addresses: [{ ip: string }]; ports: [{ port: number }] },
      ]
      const slice = (await get('discovery.k8s.io/v1/endpointslices', 'default')) as unknown as {
        endpoints: [{ addresses: string[] }]
        ports: [{ port: number }]
      }
      const { cidrs } = (await get('networking.k8s.io/v1/servicecidrs', '')).spec as { cidrs: string[] }
      return [
        ip(service),
        service.spec?.ports?.[0]?.targetPort,
        `${subset.addresses[0].ip}:${subset.ports[0].port}`,
        `${slice.endpoints[0].addresses}:${slice.ports[0].port}`,
        ...cidrs,
      ]
    }
    assert.deepEqual(await seen('192.0.2.1', 6443, '10.0.0.0/24'), [
      '10.0.0.1',
      6443,
      '192.0.2.1:6443',
      '192.0.2.1:6443',
      '10.0.0.0/24',
    ])
    assert.deepEqual(await seen('192.0.2.2', 7443, '10.0.0.0/24'), [
      '10.0.0.1',
      7443,
      '192.0.2.2:7443',
      '192.0.2.2:7443',
      '10.0.0.0/24',
    ])
    const { revision } = store
    assert.deepEqual(await seen('192.0.2.2', 7443, '10.0.0.0/24'), [
      '10.0.0.1',
      7443,
      '192.0.2.2:7443',
      '192.0.2.2:7443',
      '10.0.0.0/24',
    ])
    assert.equal(store.revision, revision)
    // Another range is used immediately, even if the old one is still held.
    const holder = new Writer(t, { store })
    const place = {
      ...holder.context('kubernetes'),
      resource: holder.find('networking.k8s.io/v1/servicecidrs'),
      namespace: '',
    }
    const held = (object: KubeObject): KubeObject => ({
      ...object,
      metadata: { ...object.metadata, finalizers: ['example.com/held'] },
    })
    await updateObject(place, { startsFromLive: true, change: (object) => ({ object: held(object!) }) })
    assert.deepEqual(await seen('192.0.2.2', 7443, '10.9.0.0/16'), [
      '10.9.0.1',
      7443,
      '192.0.2.2:7443',
      '192.0.2.2:7443',
      '10.9.0.0/16',
    ])
  })
})
