/** A change of kube-proxy's mode while clients use Services. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, test } from 'node:test'
import { runRulesProgram } from '../../../src/network/cni/host-ports/run-rules-program.ts'
import { createIptablesMode } from '../../../src/network/proxy/modes/iptables/iptables-mode.ts'
import { createNftablesMode } from '../../../src/network/proxy/modes/nftables/nftables-mode.ts'
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { createLab, podNumbers } from './lab.ts'
import { bothPods, type CreateMode, ServedNode } from './served-node.ts'

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
})
