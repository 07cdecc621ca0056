/** Connections from outside of the cluster: node ports, external IPs and load balancers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podNumbers } from './lab.ts'
import type { TestService } from './picture.ts'
import { bothPods, type ServedNode } from './served-node.ts'

const { client: clientPod, first, second } = podNumbers
const gateway = 1

/** Node ports, external IPs, and source ranges. */
export function externalBehaviours(node: ServedNode): void {
  test('a node port serves all [should be able to create a functioning NodePort service]', async () => {
    const spec = {
      type: 'NodePort',
      clusterIP: node.clusterIP(14),
      ports: [{ name: 'http', port: 80, nodePort: 30080, protocol: 'TCP' as const }],
    }
    await node.sync({ name: 'node-port', spec, endpoints: bothPods })
    for (const peer of [node.client, node.pod(clientPod), node.host])
      assert.deepEqual(await node.names(peer, node.address, 30080), ['pod-3', 'pod-4'])
    assert.match(await node.client.tcp(node.address, 30080), new RegExp(` ${node.seenAs(gateway)}$`))
  })

  test('external IPs are served', async () => {
    const address = node.externalIP(15)
    const spec = { clusterIP: node.clusterIP(15), externalIPs: [address] }
    await node.sync({ name: 'external', spec, endpoints: bothPods })
    for (const peer of [node.client, node.pod(clientPod), node.host])
      assert.deepEqual(await node.names(peer, address, 80), ['pod-3', 'pod-4'])
  })

  test('source ranges of a load balancer exclude other clients', async () => {
    const address = node.externalIP(18)
    const service = (ranges: readonly string[]): TestService => ({
      name: 'ranges',
      loadBalancerIP: address,
      spec: { type: 'LoadBalancer', clusterIP: node.clusterIP(18), loadBalancerSourceRanges: [...ranges] },
      endpoints: [{ pod: first }],
    })
    const [own, other] = node.family === 4 ? ['192.0.2.0/24', '203.0.113.0/24'] : ['2001:db8::/64', '2001:db8:2::/64']
    await node.sync(service([own, other]))
    assert.match(await node.client.tcp(address, 80), /^pod-3/)
    assert.equal(await node.pod(clientPod).tcp(address, 80), 'timeout')
    await node.sync(service([other]))
    assert.equal(await node.client.tcp(address, 80), 'timeout')
    await node.sync(service([]))
    assert.match(await node.client.tcp(address, 80), /^pod-3/)
  })
}

/** `externalTrafficPolicy: Local`. */
export function localPolicyBehaviours(node: ServedNode): void {
  test('externalTrafficPolicy Local retains the address of the client', async () => {
    const address = node.externalIP(16)
    const local = {
      name: 'local',
      loadBalancerIP: address,
      spec: {
        type: 'LoadBalancer',
        clusterIP: node.clusterIP(16),
        externalTrafficPolicy: 'Local',
        ports: [{ name: 'http', port: 80, nodePort: 30081, protocol: 'TCP' as const }],
      },
    }
    await node.sync({ ...local, endpoints: [{ pod: first }, { pod: second, isElsewhere: true }] })
    const clientAddress = node.clientAddress
    for (const [to, port] of [
      [address, 80],
      [node.address, 30081],
    ] as const) {
      const answers = await node.client.all({ protocol: 'tcp', address: to, port, count: 8 })
      assert.deepEqual([...new Set(answers)], [`pod-3 ${clientAddress}`])
      // Pods and the node do not leave the cluster, and use all endpoints.
      for (const peer of [node.pod(clientPod), node.host])
        assert.deepEqual(await node.names(peer, to, port), ['pod-3', 'pod-4'])
    }
    await node.sync({ ...local, endpoints: [{ pod: second, isElsewhere: true }] })
    assert.equal(await node.client.tcp(address, 80), 'timeout')
    assert.equal(await node.client.tcp(node.address, 30081), 'timeout')
    assert.deepEqual(await node.names(node.pod(clientPod), address, 80, 2), ['pod-4'])
    // Endpoints that terminate are used while no other is there.
    const leaving = { pod: first, isReady: false, isTerminating: true }
    await node.sync({ ...local, endpoints: [leaving, { pod: second, isElsewhere: true }] })
    assert.equal(await node.client.tcp(address, 80), `pod-3 ${clientAddress}`)
  })
}
