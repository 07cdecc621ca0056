import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Listener, listenerKey } from '../../../forwarder/listener.ts'
import type { Endpoint } from '../../picture/endpoint.ts'
import type { ProxiedPort } from '../../picture/service-picture.ts'
import { type ListenerPlace, portListeners } from './port-listeners.ts'

const place: ListenerPlace = {
  nodeAddress: '192.0.2.1',
  nodePortAddresses: ['192.0.2.1', '127.0.0.1'],
  insideRanges: ['10.244.0.0/24'],
  isOwn: (address) => address === '192.0.2.1' || address.startsWith('127.'),
}

const endpoint = (address: string, isLocal: boolean): Endpoint => ({
  ...{ address, port: 8080, isLocal, isReady: true, isServing: true, isTerminating: false, zones: [], nodes: [] },
})
const [here, there] = [endpoint('10.244.0.3', true), endpoint('10.244.1.3', false)]
const target = ({ address, port }: Endpoint) => ({ address, port })

function portWith(changes: Partial<ProxiedPort>, cluster: Endpoint[], local: Endpoint[]): ProxiedPort {
  const all = [...new Set([...cluster, ...local])]
  return {
    ...{ namespace: 'default', service: 'web', name: 'http', protocol: 'TCP', clusterIP: '10.96.0.10', port: 80 },
    ...{ nodePort: 0, externalIPs: [], loadBalancerIPs: [], loadBalancerSourceRanges: [], affinitySeconds: undefined },
    ...{ healthCheckNodePort: 0, isExternalLocal: false, isInternalLocal: false },
    ...changes,
    endpoints: { cluster, local, reachable: all, hasAny: all.length > 0, all },
  }
}

const byKey = (port: ProxiedPort): Record<string, Listener> =>
  Object.fromEntries(portListeners(port, place).map((each) => [listenerKey(each), each]))

test('each address of a Service has a listener, and those of no interface need a route', () => {
  const port = portWith({ nodePort: 30080, externalIPs: ['198.51.100.1'], affinitySeconds: 10 }, [here, there], [])
  const found = byKey(port)
  const keys = ['10.96.0.10 80', '127.0.0.1 30080', '192.0.2.1 30080', '198.51.100.1 80'].map((each) => `TCP ${each}`)
  assert.deepEqual(Object.keys(found).sort(), keys)
  assert.deepEqual(found[keys[0]!], {
    ...{ protocol: 'TCP', address: '10.96.0.10', port: 80, group: 'default/web:http TCP', affinityMs: 10_000 },
    ...{ hasRoute: true, targets: [target(here), target(there)] },
  })
  assert.equal(found[keys[1]!]?.hasRoute, undefined)
})

test('a Service without endpoints has no listener, so that the kernel refuses', () => {
  assert.deepEqual(portListeners(portWith({ nodePort: 30080 }, [], []), place), [])
})

test('SCTP has no listener', () => {
  assert.deepEqual(portListeners(portWith({ protocol: 'SCTP' }, [here], []), place), [])
})

test('without endpoints of this node, the policy Local drops the packets of all, or of clients from outside', () => {
  const internal = byKey(portWith({ isInternalLocal: true }, [there], []))
  assert.deepEqual(internal['TCP 10.96.0.10 80']?.allowed, [[]])
  const external = byKey(portWith({ isExternalLocal: true, nodePort: 30080 }, [there], []))
  assert.deepEqual(external['TCP 10.96.0.10 80']?.targets, [target(there)])
  const { allowed, targets } = external['TCP 192.0.2.1 30080']!
  assert.deepEqual([allowed, targets], [[['10.244.0.0/24', '192.0.2.1/32']], [target(there)]])
})

test('with the external policy Local, clients from inside use all endpoints', () => {
  const found = byKey(portWith({ isExternalLocal: true, nodePort: 30080 }, [here, there], [here]))
  const { inside, targets, allowed } = found['TCP 192.0.2.1 30080']!
  assert.deepEqual([targets, allowed], [[target(here)], undefined])
  assert.deepEqual(inside, { ranges: ['10.244.0.0/24', '192.0.2.1/32'], targets: [target(here), target(there)] })
})

test('source ranges hold for addresses of the load balancer, and the node in them has all its addresses', () => {
  const ofLoadBalancer = (loadBalancerSourceRanges: string[]) =>
    byKey(portWith({ loadBalancerIPs: ['127.9.9.9'], nodePort: 30080, loadBalancerSourceRanges }, [here], []))
  assert.deepEqual(ofLoadBalancer(['203.0.113.0/24'])['TCP 127.9.9.9 80']?.allowed, [['203.0.113.0/24']])
  assert.equal(ofLoadBalancer(['203.0.113.0/24'])['TCP 192.0.2.1 30080']?.allowed, undefined)
  const own = [['192.0.2.0/24', '127.9.9.9/32', '127.0.0.0/8']]
  assert.deepEqual(ofLoadBalancer(['192.0.2.0/24'])['TCP 127.9.9.9 80']?.allowed, own)
})
