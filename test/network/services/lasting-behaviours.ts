/** Connections while Services and endpoints change. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podNumbers, podPorts } from './lab.ts'
import { bothPods, type ServedNode } from './served-node.ts'

const { client: clientPod, first, second } = podNumbers

/** Services without endpoints. */
export function refusalBehaviours(node: ServedNode): void {
  test('a Service without endpoints rejects connections immediately', async () => {
    const [internal, external, balancer] = [node.clusterIP(19), node.externalIP(19), node.externalIP(20)]
    const spec = {
      type: 'LoadBalancer',
      clusterIP: internal,
      externalIPs: [external],
      ports: [
        { name: 'http', port: 80, nodePort: 30082, protocol: 'TCP' as const },
        { name: 'dns', port: 53, nodePort: 30053, protocol: 'UDP' as const },
      ],
    }
    const service = { name: 'empty', spec, loadBalancerIP: balancer }
    await node.sync({ ...service, endpoints: [{ pod: first, isReady: false }] })
    for (const peer of [node.pod(clientPod), node.host, node.client]) {
      for (const address of [internal, external, balancer]) {
        assert.equal(
          await peer.tcp(address, 80),
          'ECONNREFUSED',
          `${peer === node.host} ${peer === node.client} ${address}`,
        )
        assert.equal(await peer.udp(address, 53), 'ECONNREFUSED')
      }
      assert.equal(await peer.tcp(node.address, 30082), 'ECONNREFUSED')
    }
    await node.sync({ ...service, endpoints: [{ pod: first }] })
    for (const address of [internal, external, balancer]) assert.match(await node.client.tcp(address, 80), /^pod-3/)
  })
}

/** Clients that stay with an endpoint. */
export function affinityBehaviours(node: ServedNode): void {
  test('affinity [should have session affinity work for service with type clusterIP]', async () => {
    const address = node.clusterIP(21)
    const ports = [
      { name: 'a', port: 80, protocol: 'TCP' as const },
      { name: 'b', port: 81, protocol: 'TCP' as const },
    ]
    const service = { name: 'affinity', spec: { clusterIP: address, sessionAffinity: 'ClientIP', ports } }
    await node.sync({ ...service, endpoints: bothPods })
    const [chosen = ''] = await node.names(node.pod(clientPod), address, 80)
    assert.deepEqual(await node.names(node.pod(clientPod), address, 80), [chosen])
    // An unrelated change, and a restart of the proxy, do not end it.
    await node.syncAll()
    assert.deepEqual(await node.names(node.pod(clientPod), address, 80), [chosen])
    const ready = bothPods.map((endpoint) => ({ ...endpoint, isReady: `pod-${endpoint.pod}` !== chosen }))
    await node.sync({ ...service, endpoints: ready })
    const other = chosen === 'pod-3' ? 'pod-4' : 'pod-3'
    assert.deepEqual(await node.names(node.pod(clientPod), address, 80), [other])
    await node.sync({ ...service, endpoints: bothPods })
    assert.deepEqual(await node.names(node.pod(clientPod), address, 80), [other])
    const spec = { ...service.spec, sessionAffinity: 'None' }
    await node.sync({ ...service, spec, endpoints: bothPods })
    // [should be able to switch session affinity for service with type clusterIP]
    assert.deepEqual(await node.names(node.pod(clientPod), address, 80), ['pod-3', 'pod-4'])
  })
}

/** Open connections. */
export function lastingBehaviours(node: ServedNode): void {
  test('open connections survive changes and restarts, and a deleted Service refuses new ones', async () => {
    const address = node.clusterIP(22)
    const service = { name: 'kept', spec: { clusterIP: address } }
    await node.sync({ ...service, endpoints: [{ pod: first }] })
    const keep = `kept-${node.family}`
    assert.match(await node.pod(clientPod).tcp(address, 80, keep), /^pod-3/)
    await node.sync({ ...service, endpoints: [{ pod: second }] })
    assert.match(await node.pod(clientPod).tcp(address, 80, keep), /^pod-3/)
    await node.restart()
    if (node.traits.survivesRestarts) assert.match(await node.pod(clientPod).tcp(address, 80, keep), /^pod-3/)
    assert.match(await node.pod(clientPod).tcp(address, 80), /^pod-4/)
    await node.delete('kept')
    assert.doesNotMatch(await node.pod(clientPod).tcp(address, 80), /^pod-/)
  })
}

/** Connections while endpoints roll, of which `T8S_TEST_REQUESTS` are made. */
export function rollingBehaviours(node: ServedNode): void {
  test('no connection fails while endpoints terminate gracefully and others replace them', async () => {
    const address = node.clusterIP(23)
    const numbers = [first, second, clientPod]
    const sync = (leaving?: number): Promise<void> =>
      node.sync({
        name: 'rolling',
        spec: { clusterIP: address },
        endpoints: numbers.map((pod) => ({ pod, isReady: pod !== leaving, isTerminating: pod === leaving })),
      })
    const ask = (count: number) => node.client.all({ protocol: 'tcp', address, port: 80, count })
    const requests = Number(process.env.T8S_TEST_REQUESTS ?? (node.family === 4 ? 10_000 : 2000))
    const [during, after] = [20, 10]
    await sync()
    for (let done = 0, round = 0; done < requests; done += 2 * during + after, round++) {
      const pod = numbers[round % numbers.length]!
      const isServedBy = (answer: string): boolean => answer.startsWith('pod-')
      const asked = ask(during)
      await sync(pod)
      assert.ok((await asked).every(isServedBy))
      // All connections to it are closed.
      await node.pod(pod).serve(podPorts[0], false)
      const others = await ask(after)
      assert.ok(others.every((answer) => isServedBy(answer) && !answer.startsWith(`pod-${pod} `)))
      await node.pod(pod).serve(podPorts[0], true)
      const more = ask(during)
      await sync()
      assert.ok((await more).every(isServedBy))
    }
  })
}
