/** Connections to cluster IPs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podNumbers } from './lab.ts'
import { bothPods, type ServedNode } from './served-node.ts'

const { client: clientPod, first, second } = podNumbers
const gateway = 1

/** Balancing, several ports, hairpin, and UDP. */
export function clusterIPBehaviours(node: ServedNode): void {
  test('a cluster IP chooses among the endpoints [should serve a basic endpoint from pods]', async () => {
    const address = node.clusterIP(10)
    await node.sync({ name: 'web', spec: { clusterIP: address }, endpoints: bothPods })
    for (const peer of [node.pod(clientPod), node.host, node.client])
      assert.deepEqual(await node.names(peer, address, 80), ['pod-3', 'pod-4'])
    assert.match(await node.pod(clientPod).tcp(address, 80), new RegExp(` ${node.seenAs(clientPod)}$`))
    // The answers to a client outside of the cluster must come back through this node.
    assert.match(await node.client.tcp(address, 80), new RegExp(` ${node.seenAs(gateway)}$`))
  })

  test('a Service has several ports [should serve multiport endpoints from pods]', async () => {
    const address = node.clusterIP(11)
    const ports = [
      { name: 'a', port: 80, protocol: 'TCP' as const },
      { name: 'b', port: 81, protocol: 'TCP' as const },
    ]
    await node.sync({ name: 'multi', spec: { clusterIP: address, ports }, endpoints: [{ pod: first }] })
    for (const port of [80, 81]) assert.deepEqual(await node.names(node.pod(clientPod), address, port, 1), ['pod-3'])
  })

  test('a pod reaches itself through its Service', async () => {
    const address = node.clusterIP(12)
    await node.sync({ name: 'hairpin', spec: { clusterIP: address }, endpoints: [{ pod: first }] })
    assert.equal(await node.pod(first).tcp(address, 80), `pod-3 ${node.seenAs(gateway)}`)
    assert.equal(await node.pod(second).tcp(address, 80), `pod-3 ${node.seenAs(second)}`)
  })

  test('UDP is balanced', async () => {
    const address = node.clusterIP(13)
    const ports = [{ name: 'dns', port: 53, protocol: 'UDP' as const }]
    await node.sync({ name: 'udp', spec: { clusterIP: address, ports }, endpoints: bothPods })
    const answers = await node.pod(clientPod).all({ protocol: 'udp', address, port: 53, count: 16 })
    assert.deepEqual([...new Set(answers)].sort(), [
      `pod-3 ${node.seenAs(clientPod)}`,
      `pod-4 ${node.seenAs(clientPod)}`,
    ])
    assert.match(await node.host.udp(address, 53), /^pod-/)
  })
}

/** `internalTrafficPolicy: Local`. */
export function internalPolicyBehaviours(node: ServedNode): void {
  test('internalTrafficPolicy Local drops connections without endpoints on the node', async () => {
    const address = node.clusterIP(17)
    const spec = { clusterIP: address, internalTrafficPolicy: 'Local' }
    await node.sync({ name: 'internal', spec, endpoints: [{ pod: first }, { pod: second, isElsewhere: true }] })
    assert.deepEqual(await node.names(node.pod(clientPod), address, 80), ['pod-3'])
    await node.sync({ name: 'internal', spec, endpoints: [{ pod: second, isElsewhere: true }] })
    assert.equal(await node.pod(clientPod).tcp(address, 80), 'timeout')
  })
}
