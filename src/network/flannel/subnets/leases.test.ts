import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../../client/kinds.ts'
import { parseNetworkConfig } from '../config/network-config.ts'
import { annotationChanges, annotationNames, annotationsOf, defaultPrefix } from './kube/annotations.ts'
import { checkSubnets, nodeSubnets } from './kube/node-lease.ts'
import { NodeLeases } from './kube/node-leases.ts'
import { LeaseTable } from './lease-table.ts'
import type { Lease } from './subnet-manager.ts'

const names = annotationNames(defaultPrefix)
const config = parseNetworkConfig('{ "Network": "10.244.0.0/16", "Backend": { "Type": "vxlan" } }')

const lease = (number: number, publicIP = `192.0.2.${number}`): Lease => ({
  node: `node-${number}`,
  subnet: `10.244.${number}.0/24`,
  ipv6Subnet: undefined,
  attributes: { backendType: 'host-gw', publicIP },
})

const node = (name: string, podCIDR: string, more: Record<string, string> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    annotations: {
      [names.kubeManaged]: 'true',
      [names.backendType]: 'vxlan',
      [names.backendData]: '{"VNI":1,"VtepMAC":"0a:00:00:00:00:01"}',
      [names.publicIP]: '192.0.2.1',
      ...more,
    },
  },
  spec: { podCIDR, podCIDRs: [podCIDR] },
})

test('a table of leases gives changes since they were taken, without the own lease', () => {
  const table = new LeaseTable(lease(1))
  assert.deepEqual(new LeaseTable(lease(1)).take()?.leases, [])
  table.apply({ type: 'snapshot', leases: [lease(1), lease(2), lease(3)] })
  assert.deepEqual(table.take()?.added, [lease(2), lease(3)])
  assert.equal(table.take(), undefined)
  table.apply({ type: 'added', lease: lease(2, '192.0.2.22') })
  table.apply({ type: 'removed', lease: lease(3) })
  table.apply({ type: 'added', lease: lease(4) })
  assert.deepEqual(table.take(), {
    leases: [lease(2, '192.0.2.22'), lease(4)],
    added: [lease(4)],
    changed: [{ lease: lease(2, '192.0.2.22'), old: lease(2) }],
    removed: [lease(3)],
  })
  // A lease that ended and began again between two calls did not change.
  table.apply({ type: 'removed', lease: lease(4) })
  table.apply({ type: 'snapshot', leases: [lease(2, '192.0.2.22'), lease(4)] })
  assert.equal(table.take(), undefined)
})

test('annotations are those of upstream', () => {
  const attributes = {
    backendType: 'vxlan',
    publicIP: '192.0.2.1',
    backendData: { VNI: 1, VtepMAC: '0a:00:00:00:00:01' },
  }
  assert.deepEqual(annotationsOf(names, attributes, {}), {
    'flannel.alpha.coreos.com/kube-subnet-manager': 'true',
    'flannel.alpha.coreos.com/backend-type': 'vxlan',
    'flannel.alpha.coreos.com/backend-data': '{"VNI":1,"VtepMAC":"0a:00:00:00:00:01"}',
    'flannel.alpha.coreos.com/public-ip': '192.0.2.1',
  })
  const overwritten = annotationsOf(names, attributes, { [names.publicIPOverwrite]: '203.0.113.1' })
  assert.equal(overwritten[names.publicIP], '203.0.113.1')
  const dual = annotationsOf(names, { backendType: 'host-gw', publicIP: '192.0.2.1', publicIPv6: 'fd00::1' }, {})
  assert.deepEqual([dual[names.backendData], dual[names.backendV6Data]], ['null', 'null'])
  assert.equal(annotationChanges(overwritten, { ...overwritten, other: 'x' }), undefined)
  assert.deepEqual(annotationChanges({ a: '1', b: '2' }, { a: '1' }), { b: '2' })
})

test('the prefix of annotations may have a slash and a word', () => {
  assert.equal(annotationNames('example.com').backendType, 'example.com/backend-type')
  assert.equal(annotationNames('example.com/net').backendType, 'example.com/net-backend-type')
  assert.equal(annotationNames('example.com/net-').backendType, 'example.com/net-backend-type')
  assert.throws(() => annotationNames('a.b/c/d'), { message: 'subnet/kube: prefix can contain at most single slash' })
  assert.throws(() => annotationNames('Example'), { message: /prefix must be in a format: fqdn/ })
})

test('changes of Nodes are events of leases', () => {
  const lines: string[] = []
  const leases = new NodeLeases({ names, config, log: (line) => lines.push(line) })
  const plain: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, spec: { podCIDR: '10.244.1.0/24' } }
  assert.deepEqual(leases.set('a', plain), [])
  const [added] = leases.set('a', node('a', '10.244.1.0/24'))
  assert.equal(added?.type, 'added')
  assert.deepEqual(leases.set('a', node('a', '10.244.1.0/24')), [])
  // Its subnet is another one.
  const types = leases.set('a', node('a', '10.244.9.0/24')).map(({ type }) => type)
  assert.deepEqual(types, ['removed', 'added'])
  // Two nodes with one subnet: the one that remains keeps it.
  leases.set('b', node('b', '10.244.9.0/24', { [names.publicIP]: '192.0.2.2' }))
  assert.match(lines[0]!, /the nodes a and b have the same subnet 10\.244\.9\.0\/24: delete the Node that is wrong/)
  const [heir] = leases.set('b', undefined)
  assert.equal(heir?.type === 'added' && heir.lease.node, 'a')
  assert.deepEqual(
    leases.set('a', undefined).map(({ type }) => type),
    ['removed'],
  )
  leases.set('c', node('c', '10.244.1.0/24', { [names.publicIP]: 'here' }))
  leases.set('c', node('c', '10.244.1.0/24', { [names.publicIP]: 'here' }))
  assert.deepEqual(lines.slice(1), [
    'Error turning node "c" to lease: the annotation flannel.alpha.coreos.com/public-ip is "here", which is no address',
  ])
})

test('subnets of a node are part of the network', () => {
  assert.deepEqual(nodeSubnets(node('a', '10.244.1.0/24'), config), { subnet: '10.244.1.0/24', ipv6Subnet: undefined })
  checkSubnets('a', { subnet: '10.244.1.0/24', ipv6Subnet: undefined }, config)
  for (const subnet of ['10.245.1.0/24', '10.0.0.0/8'])
    assert.throws(() => checkSubnets('a', { subnet, ipv6Subnet: undefined }, config), {
      message: /subnet "10\.244\.0\.0\/16" specified in the flannel net config doesn't contain "10\./,
    })
})
