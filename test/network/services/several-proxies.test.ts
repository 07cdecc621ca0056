/** Several kube-proxies in one network namespace, one after another or together. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runRulesProgram } from '../../../src/network/cni/host-ports/run-rules-program.ts'
import { createIptablesMode } from '../../../src/network/proxy/modes/iptables/iptables-mode.ts'
import { createNftablesMode } from '../../../src/network/proxy/modes/nftables/nftables-mode.ts'
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { waitFor } from '../../support/wait-for.ts'
import { createLab, type Lab, podNumbers } from './lab.ts'
import { TestPicture } from './picture.ts'
import { bothPods, type CreateMode, modeOptions, ServedNode } from './served-node.ts'

const iptables: CreateMode = (options) => createIptablesMode({ ...options, runProgram: runRulesProgram })
const count = 100

await inNamespaces(import.meta.filename, async () => {
  const lab = await createLab()
  after(() => lab.stop())

  test('a change of the mode, and back, loses no connection', async () => {
    const node = new ServedNode(lab, 4, createNftablesMode)
    const address = node.clusterIP(10)
    await node.syncAll()
    await node.sync({ name: 'web', spec: { clusterIP: address }, endpoints: bothPods })
    const pod = node.pod(podNumbers.client)
    const opened = await pod.tcp(address, 80, 'kept')
    assert.match(opened, /^pod-/)
    for (const create of [iptables, createNftablesMode]) {
      const asked = [pod, node.client].map((peer) => peer.all({ protocol: 'tcp', address, port: 80, count }))
      // The rules of the earlier mode remain until those of the next one are in effect.
      const earlier = node.mode
      await node.restart(create)
      await earlier.cleanUp()
      for (const answers of await Promise.all(asked)) assert.ok(answers.every((answer) => answer.startsWith('pod-')))
      assert.equal(await pod.tcp(address, 80, 'kept'), opened)
      for (const peer of [pod, node.client, node.host])
        assert.deepEqual(await node.names(peer, address, 80), ['pod-3', 'pod-4'])
    }
    await node.cleanUp()
    assert.doesNotMatch(execFileSync('nft', ['list', 'ruleset'], { encoding: 'utf8' }), /kube-proxy|KUBE-S/)
  })

  test("a table of upstream's kube-proxy is taken over with its connections and affinity", async () => {
    const nft = (...args: readonly string[]): string => execFileSync('nft', args, { encoding: 'utf8' })
    nft('-f', join(import.meta.dirname, 'upstream.nft'))
    const node = new ServedNode(lab, 4, createNftablesMode)
    const address = node.clusterIP(10)
    const pod = node.pod(podNumbers.client)
    assert.match(await pod.tcp(address, 80, 'upstream'), /^pod-3/)
    const asked = pod.all({ protocol: 'tcp', address, port: 80, count })
    const spec = { clusterIP: address, sessionAffinity: 'ClientIP' }
    node.set({ name: 'web', spec, endpoints: bothPods })
    await node.syncAll()
    assert.deepEqual(new Set((await asked).map((answer) => answer.split(' ')[0])), new Set(['pod-3']))
    assert.match(await pod.tcp(address, 80, 'upstream'), /^pod-3/)
    assert.deepEqual(await node.names(pod, address, 80), ['pod-3'])
    await waitFor('the chains of upstream are deleted', async () => {
      await node.sync()
      return !/mark-for-masquerade|filter-prerouting /.test(nft('list', 'table', 'ip', 'kube-proxy'))
    })
    assert.deepEqual(await node.names(node.client, address, 80, 1).then(([name]) => name?.slice(0, 4)), 'pod-')
    await node.cleanUp()
  })
  testTwoClusters(lab)
})

function testTwoClusters(lab: Lab): void {
  test('two clusters on one machine serve their own pods', async () => {
    const address = '10.96.0.10'
    const bridgePrefix = 'cni'
    const modes = (
      [
        ['other', 'cni-other', podNumbers.first],
        ['own', 'cni0', podNumbers.second],
      ] as const
    ).map(([instance, ownBridge, pod]) => {
      const mode = createNftablesMode({ ...modeOptions(4), instance, servedInterfaces: { ownBridge, bridgePrefix } })
      const services = new TestPicture(4)
      services.set({ name: 'web', spec: { clusterIP: address }, endpoints: [{ pod }] })
      return { mode, picture: services.picture }
    })
    for (const { mode, picture } of modes) await mode.sync(picture, 'all')
    assert.match(await lab.pods.get(podNumbers.client)!.tcp(address, 80), /^pod-4/)
    for (const peer of [lab.node, lab.client]) assert.match(await peer.tcp(address, 80), /^pod-/)
    await modes[1]!.mode.cleanUp()
    // The bridge of this cluster is not of the other one.
    assert.doesNotMatch(await lab.pods.get(podNumbers.client)!.tcp(address, 80), /^pod-/)
    assert.match(await lab.client.tcp(address, 80), /^pod-3/)
    await modes[0]!.mode.cleanUp()
  })
}
