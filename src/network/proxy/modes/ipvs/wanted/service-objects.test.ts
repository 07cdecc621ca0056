import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anEndpoint, aPort } from '../../iptables/rules/proxied-port.fixture.ts'
import { type NodeFacts, serviceObjects } from './service-objects.ts'

const facts: NodeFacts = {
  family: 4,
  scheduler: 'rr',
  nodeAddress: '192.168.0.2',
  nodePortAddresses: ['192.168.0.2', '172.17.0.1'],
  machineAddresses: new Set(['192.168.0.2', '172.17.0.1']),
}
const local = anEndpoint('172.17.0.4')
const remote = anEndpoint('172.18.0.5', 80, { isLocal: false })

const textsOf = ({ entries }: ReturnType<typeof serviceObjects>): string[] =>
  entries.map(({ set, entry }) => `${set} ${entry}`)
const serversOf = ({ services }: ReturnType<typeof serviceObjects>): string[] =>
  services.map(({ address, port, endpoints }) => `${address}:${port} ${endpoints.map((each) => each.address)}`)

test('a cluster IP has a virtual server, an address, and entries for its own and for local endpoints', () => {
  const objects = serviceObjects([aPort({}, [local, remote])], facts)
  assert.deepEqual(textsOf(objects), [
    'loopBack 172.17.0.4,tcp:80,172.17.0.4',
    'clusterIp 10.96.0.7,tcp:80',
    'ipvsIps 10.96.0.7',
  ])
  assert.deepEqual(serversOf(objects), ['10.96.0.7:80 172.17.0.4,172.18.0.5'])
})

test('affinity is the persistence of all virtual servers', () => {
  const { services } = serviceObjects([aPort({ affinitySeconds: 600, nodePort: 30_080 })], facts)
  assert.deepEqual(
    services.map(({ persistenceSeconds }) => persistenceSeconds),
    [600, 600, 600],
  )
  assert.equal(serviceObjects([aPort()], { ...facts, scheduler: 'mh' }).services[0]?.hashesPorts, true)
})

test('node ports are served on the addresses of the node, and SCTP names them in its set', () => {
  const objects = serviceObjects([aPort({ nodePort: 30_080, isExternalLocal: true }, [remote], [local])], facts)
  assert.deepEqual(textsOf(objects).slice(-2), ['nodePortTcp 30080', 'nodePortLocalTcp 30080'])
  assert.deepEqual(serversOf(objects).slice(1), ['192.168.0.2:30080 172.17.0.4', '172.17.0.1:30080 172.17.0.4'])
  const sctp = serviceObjects([aPort({ nodePort: 30_080, protocol: 'SCTP' })], facts)
  assert.deepEqual(textsOf(sctp).slice(-2), [
    'nodePortSctp 192.168.0.2,sctp:30080',
    'nodePortSctp 172.17.0.1,sctp:30080',
  ])
})

test('with the policy Local and without endpoints on the node, others are used', () => {
  const objects = serviceObjects([aPort({ externalIPs: ['192.0.2.7'], isExternalLocal: true }, [remote], [])], facts)
  assert.deepEqual(textsOf(objects).slice(-2), ['externalIpLocal 192.0.2.7,tcp:80', 'ipvsIps 192.0.2.7'])
  assert.deepEqual(serversOf(objects).at(-1), '192.0.2.7:80 172.18.0.5')
})

test('addresses that the machine has on other interfaces are not bound once more', () => {
  const objects = serviceObjects([aPort({ externalIPs: ['192.168.0.2'] })], facts)
  assert.equal(textsOf(objects).includes('ipvsIps 192.168.0.2'), false)
  assert.equal(serversOf(objects).length, 2)
})

test('source ranges of a load balancer admit the node if they have its address, and block it otherwise', () => {
  const port = aPort({ loadBalancerIPs: ['192.0.2.9'], loadBalancerSourceRanges: ['192.168.0.0/24', '0.0.0.0/0'] })
  const open = serviceObjects([port], facts)
  assert.deepEqual(textsOf(open).slice(3), [
    'loadBalancer 192.0.2.9,tcp:80',
    'loadBalancerFirewall 192.0.2.9,tcp:80',
    'loadBalancerSourceCidr 192.0.2.9,tcp:80,192.168.0.0/24',
    'loadBalancerSourceCidr 192.0.2.9,tcp:80,0.0.0.0/1',
    'loadBalancerSourceCidr 192.0.2.9,tcp:80,128.0.0.0/1',
    'loadBalancerSourceIp 192.0.2.9,tcp:80,192.0.2.9',
    'ipvsIps 192.0.2.9',
  ])
  assert.deepEqual(open.blocked, [])
  const closed = serviceObjects([{ ...port, loadBalancerSourceRanges: ['198.51.100.0/24'] }], facts)
  assert.deepEqual(closed.blocked, [{ address: '192.0.2.9', port: 80, protocol: 'TCP' }])
})

test('load balancers with addresses of loopback are left out', () => {
  assert.equal(serversOf(serviceObjects([aPort({ loadBalancerIPs: ['127.130.2.1'] })], facts)).length, 1)
})
