import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Service } from '../../../client/kinds.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { ChangedServices } from '../modes/proxy-mode.ts'
import { ProxyHealth } from '../server/proxy-health.ts'
import { proxyMetrics } from '../server/proxy-metrics.ts'
import { ServiceHealthServers } from '../server/service-health.ts'
import { FamilyProxy } from './family-proxy.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const at = Date.parse('2026-01-01T00:00:00Z')

const service: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name: 'web' },
  spec: { clusterIP: '10.96.0.7', ports: [{ port: 80, protocol: 'TCP' }] },
}

const slice = (time: string, address = '10.244.0.2'): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    namespace: 'default',
    name: 'web-1',
    labels: { 'kubernetes.io/service-name': 'web' },
    annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': time },
  },
  addressType: 'IPv4',
  ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  endpoints: [{ addresses: [address] }],
})

function setUp(family: 4 | 6 = 4) {
  const registry = new MetricsRegistry()
  const state = { now: at, fails: false, isFlushed: false, surroundings: '' }
  const syncs: (readonly string[] | 'all')[] = []
  const timers = new Set<() => void>()
  const health = new ProxyHealth(60_000, () => state.now)
  const proxy = new FamilyProxy({
    family,
    topology: { node: 'here', zone: '' },
    mode: {
      async sync(_picture, changed: ChangedServices) {
        syncs.push(changed === 'all' ? 'all' : [...changed])
        state.now += 500
        if (state.fails) throw new Error('no nft')
      },
      wasFlushed: async () => state.isFlushed,
      stop: async () => {},
      cleanUp: async () => {},
    },
    staleFlows: undefined,
    serviceHealth: new ServiceHealthServers({ addresses: () => [], isProxyHealthy: () => true, onFailure: () => {} }),
    surroundings: () => state.surroundings,
    health,
    metrics: proxyMetrics(registry, () => state.now).family(family),
    times: { minIntervalMs: 0, periodMs: 30_000 },
    schedule(callback) {
      timers.add(callback)
      return () => void timers.delete(callback)
    },
    now: () => state.now,
    log: () => {},
  })
  function fire(): void {
    for (const callback of [...timers]) {
      timers.delete(callback)
      callback()
    }
  }
  return { proxy, syncs, state, health, fire, metrics: () => registry.render() }
}

test('a sync names the Services that changed since the last one', async () => {
  const { proxy, syncs } = setUp()
  proxy.setService(service, undefined)
  proxy.start()
  await proxy.synced
  await settled()
  proxy.setSlice(slice('2026-01-01T00:00:01Z'), undefined)
  await settled()
  assert.deepEqual(syncs, ['all', ['default/web']])
  await proxy.stop()
})

test('a family without Services is synced once', async () => {
  const { proxy, syncs, fire } = setUp(6)
  proxy.setService(service, undefined)
  proxy.start()
  await proxy.synced
  await settled()
  proxy.setService({ ...service, metadata: { ...service.metadata, name: 'other' } }, undefined)
  proxy.setSlice(slice('2026-01-01T00:00:01Z'), undefined)
  await settled()
  fire()
  await settled()
  assert.deepEqual(syncs, ['all'])
  await proxy.stop()
})

test('the programming time is observed from the trigger of the last change until it is in effect', async () => {
  const { proxy, state, metrics, fire } = setUp()
  proxy.setService(service, undefined)
  proxy.setSlice(slice('2025-12-31T23:59:59Z'), undefined)
  proxy.start()
  await proxy.synced
  await settled()
  assert(!metrics().includes('network_programming_duration_seconds_count{'), 'the change is older than the process')
  state.now = at + 2000
  state.fails = true
  const second = slice('2026-01-01T00:00:01Z', '10.244.0.3')
  proxy.setSlice(second, slice('2025-12-31T23:59:59Z'))
  await settled()
  state.fails = false
  fire()
  await settled()
  assert(metrics().includes('kubeproxy_network_programming_duration_seconds_sum{ip_family="IPv4"} 2\n'), metrics())
  assert(metrics().includes('kubeproxy_sync_proxy_rules_failures_total{ip_family="IPv4"} 1\n'))
  assert(metrics().includes('kubeproxy_sync_proxy_rules_endpoint_changes_total{ip_family="IPv4"} 2\n'))
  await proxy.stop()
})

test('the process is unhealthy while a change waits for too long', async () => {
  const { proxy, state, health } = setUp()
  proxy.start()
  await proxy.synced
  await settled()
  state.fails = true
  proxy.setService(service, undefined)
  await settled()
  state.now += 59_000
  assert(health.state.isHealthy)
  state.now += 1000
  assert.deepEqual(health.state, { isHealthy: false, updatedAt: at + 500 })
  await proxy.stop()
})

test('a check syncs everything if the rules are gone, addresses have changed, or an hour has passed', async () => {
  const { proxy, syncs, state, fire } = setUp()
  proxy.setService(service, undefined)
  proxy.start()
  await proxy.synced
  const check = async (): Promise<void> => {
    await settled()
    fire()
    await settled()
  }
  await check()
  assert.deepEqual(syncs, ['all'])
  state.isFlushed = true
  await check()
  state.isFlushed = false
  state.surroundings = '192.0.2.9'
  await check()
  await check()
  assert.deepEqual(syncs, ['all', 'all', 'all'])
  state.now += 3_600_000
  await check()
  assert.equal(syncs.length, 4)
  await proxy.stop()
})
