/** Allocation of cluster IPs by writes of Services. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Unstructured } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { AdmissionPlugin } from '../admission/plugin.ts'
import { encode } from '../registry/stored-object.ts'
import { createObject } from '../registry/write/create-object.ts'
import { updateObject } from '../registry/write/update-object.ts'
import { timestamp } from '../registry/write/write-context.ts'
import { faultsOf, ip, ServiceWriter } from './service-writer.fixture.ts'

describe('cluster IPs', () => {
  test('each Service gets its own address, also when many are created concurrently', async (t) => {
    const writer = new ServiceWriter(t)
    const made = await Promise.all(Array.from({ length: 100 }, (_, i) => writer.create(`s-${i}`)))
    assert.equal(new Set(made.map(ip)).size, 100)
    assert.deepEqual(new Set(await writer.addresses()), new Set(made.map(ip)))
  })

  test('a full range is an internal error, until a Service is deleted', async (t) => {
    const writer = new ServiceWriter(t, { clusterIpRange: '10.0.0.0/30' })
    await Promise.all([writer.create('a'), writer.create('b')])
    assert.equal(await faultsOf(writer.create('c')), 'failed to allocate a serviceIP: range is full')
    await writer.remove('a')
    assert.ok(ip(await writer.create('c')))
  })

  test('a requested address is allocated once, and must be in the range', async (t) => {
    const writer = new ServiceWriter(t)
    assert.equal(ip(await writer.create('a', { clusterIP: '10.0.0.9' })), '10.0.0.9')
    assert.equal(
      await faultsOf(writer.create('b', { clusterIP: '10.0.0.9' })),
      'spec.clusterIPs: failed to allocate IP 10.0.0.9: provided IP is already allocated',
    )
    const network = 'the provided network does not match the current range'
    for (const address of ['10.0.1.1', '10.0.0.0', '10.0.0.255'])
      assert.equal(
        await faultsOf(writer.create('b', { clusterIP: address })),
        `spec.clusterIPs: failed to allocate IP ${address}: ${network}`,
      )
    assert.equal(
      await faultsOf(writer.create('b', { clusterIP: '10.0.1.1' }, true)),
      'spec.clusterIPs: failed to allocate IP 10.0.1.1: the provided IP (10.0.1.1) is not in the valid range. ' +
        'The range of valid IPs is 10.0.0.0/24',
    )
  })

  test('neither a dry run nor a rejected write allocates anything', async (t) => {
    const rejecting: AdmissionPlugin = {
      name: 'rejecting',
      validate: ({ name }) => {
        if (name === 'rejected') throw new StatusError(403, 'Forbidden', 'no')
      },
    }
    const writer = new ServiceWriter(t, {
      clusterIpRange: '10.0.0.0/30',
      nodePortRange: '30000-30000',
      plugins: [rejecting],
    })
    await writer.create('first', { type: 'NodePort' })
    for (let i = 0; i < 5; i++) {
      await assert.rejects(writer.create('rejected'))
      await assert.rejects(writer.create('invalid', { ports: [] }))
      assert.equal(
        await faultsOf(writer.create('other', { type: 'NodePort' })),
        'failed to allocate a nodePort: range is full',
      )
      await writer.create('dry', {}, true)
    }
    await writer.remove('first', true)
    assert.equal((await writer.addresses()).length, 1)
    await writer.create('last')
    await writer.remove('first')
    await writer.create('again', { type: 'NodePort' })
  })

  test('a headless Service has no address, an ExternalName releases it', async (t) => {
    const writer = new ServiceWriter(t)
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
    const writer = new ServiceWriter(t, { clusterIpRange: '10.0.0.0/30' })
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
      await writer.registry.cacher(ranges).waitFor(await store.currentRevision())
    }
    const full = 'failed to allocate a serviceIP: range is full'
    await write('False')
    assert.equal(await faultsOf(writer.create('c')), full)
    await write('True')
    const dynamic = ip(await writer.create('c'))
    assert.match(dynamic, /^10\.1\.0\./)
    const requested = dynamic === '10.1.0.77' ? '10.1.0.78' : '10.1.0.77'
    assert.equal(ip(await writer.create('d', { clusterIP: requested })), requested)
    await write('True', { deletionTimestamp: timestamp(Date.now()) })
    assert.equal(await faultsOf(writer.create('e')), full)
  })

  test('an update without the address retains it, one that changes it is rejected', async (t) => {
    const writer = new ServiceWriter(t)
    const made = await writer.create('s')
    const none = { clusterIP: undefined, clusterIPs: undefined, ipFamilies: undefined, ipFamilyPolicy: undefined }
    assert.deepEqual((await writer.change('s', { ...none, ports: [{ port: 81 }] })).spec, {
      ...made.spec,
      ports: [{ port: 81, protocol: 'TCP', targetPort: 81 }],
    })
    assert.equal(
      await faultsOf(writer.change('s', { clusterIP: '10.0.0.9' })),
      'spec.clusterIPs[0]: may not change once set',
    )
  })

  test('a Service held by a finalizer retains its address', async (t) => {
    const writer = new ServiceWriter(t)
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
    const writer = new ServiceWriter(t, { clusterIpRange })
    assert.deepEqual((await writer.create('one')).spec?.ipFamilies, ['IPv4'])
    const two = await writer.create('two', { ipFamilyPolicy: 'PreferDualStack' })
    assert.deepEqual(two.spec?.ipFamilies, ['IPv4', 'IPv6'])
    assert.match(two.spec!.clusterIPs!.join(), /^10\.0\.0\.\d+,fd00::/)
    const more = await writer.change('one', { ipFamilyPolicy: 'RequireDualStack' })
    assert.equal(more.spec?.clusterIPs?.length, 2)
    assert.equal((await writer.addresses()).length, 4)
    assert.equal(
      await faultsOf(writer.change('one', { clusterIPs: [ip(more)], ipFamilies: ['IPv4'] })),
      "spec.ipFamilyPolicy: must be 'SingleStack' to release the secondary cluster IP; spec.ipFamilyPolicy: must " +
        "be 'SingleStack' to release the secondary IP family",
    )
    const less = await writer.change('one', { ipFamilyPolicy: 'SingleStack' })
    assert.deepEqual([less.spec?.clusterIPs, less.spec?.ipFamilies], [[ip(more)], ['IPv4']])
    assert.equal((await writer.addresses()).length, 3)
  })

  test('families are inferred from given addresses; a single-stack cluster rejects two', async (t) => {
    const writer = new ServiceWriter(t, { clusterIpRange })
    assert.deepEqual((await writer.create('six', { clusterIP: 'fd00::0a' })).spec?.ipFamilies, ['IPv6'])
    assert.match(await faultsOf(writer.create('again', { clusterIP: 'fd00::a' })), /already allocated$/)
    const single = new ServiceWriter(t)
    assert.equal(
      await faultsOf(single.create('two', { ipFamilyPolicy: 'RequireDualStack' })),
      'spec.ipFamilyPolicy: this cluster is not configured for dual-stack services',
    )
    assert.match(
      await faultsOf(single.create('six', { clusterIP: 'fd00::a' })),
      /IPv6 is not configured on this cluster$/,
    )
    assert.deepEqual((await single.create('open', { clusterIP: 'None' })).spec?.ipFamilies, ['IPv4', 'IPv6'])
  })
})
