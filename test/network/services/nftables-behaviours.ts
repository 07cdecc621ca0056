/** Behaviours that only the mode nftables has. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { podNumbers } from './lab.ts'
import { bothPods, type ServedNode } from './served-node.ts'

const { client: clientPod, first } = podNumbers
const nft = (...args: readonly string[]): string => execFileSync('nft', args, { encoding: 'utf8' })

/** Packets that no Service is responsible for. */
export function unservedBehaviours(node: ServedNode): void {
  test('other ports of a cluster IP are rejected, and packets to addresses without a Service are dropped', async () => {
    const address = node.clusterIP(30)
    await node.sync({ name: 'one-port', spec: { clusterIP: address }, endpoints: [{ pod: first }] })
    for (const peer of [node.pod(clientPod), node.host, node.client]) {
      assert.equal(await peer.tcp(address, 81), 'ECONNREFUSED')
      assert.equal(await peer.udp(address, 81), 'ECONNREFUSED')
    }
    assert.equal(await node.pod(clientPod).tcp(node.clusterIP(99), 80), 'timeout')
  })

  test('node ports are not served on localhost', async () => {
    const ports = [{ name: 'http', port: 80, nodePort: 30099, protocol: 'TCP' as const }]
    const spec = { type: 'NodePort', clusterIP: node.clusterIP(31), ports }
    await node.sync({ name: 'localhost', spec, endpoints: bothPods })
    assert.match(await node.host.tcp(node.address, 30099), /^pod-/)
    assert.equal(await node.host.tcp(node.family === 4 ? '127.0.0.1' : '::1', 30099), 'ECONNREFUSED')
  })
}

/** Changes that others make. */
export function foreignBehaviours(node: ServedNode): void {
  const protocol = node.family === 4 ? 'ip' : 'ip6'

  test('tables of others stay as they are', async () => {
    nft('-f', join(import.meta.dirname, 'foreign.nft'))
    const list = (): string => nft('-s', 'list', 'table', 'inet', 'foreign')
    const before = list()
    const address = node.clusterIP(32)
    await node.sync({ name: 'beside', spec: { clusterIP: address }, endpoints: bothPods })
    await node.syncAll()
    await node.delete('beside')
    assert.equal(list(), before)
    nft('delete', 'table', 'inet', 'foreign')
  })

  test('rules that a firewall flushes are found missing, and restored by a sync of all', async () => {
    const address = node.clusterIP(33)
    const service = { name: 'flushed', spec: { clusterIP: address } }
    await node.sync({ ...service, endpoints: [{ pod: first }] })
    const list = (): string => nft('-s', 'list', 'table', protocol, 'kube-proxy')
    const rules = (): string[] => list().split('\n').sort()
    const before = rules()
    for (const command of [`flush table ${protocol} kube-proxy`, `delete table ${protocol} kube-proxy`]) {
      assert.equal(await node.wasFlushed(), false)
      nft(command)
      assert.equal(await node.wasFlushed(), true)
      assert.doesNotMatch(await node.pod(clientPod).tcp(address, 80), /^pod-/)
      await node.syncAll()
      assert.match(await node.pod(clientPod).tcp(address, 80), /^pod-/)
      // Clients and empty chains are forgotten with the table.
      if (command.startsWith('flush')) assert.deepEqual(rules(), before)
    }
    nft(`delete table ${protocol} kube-proxy`)
    const changed = { ...service, endpoints: bothPods }
    await assert.rejects(node.sync(changed), /nftables table ip6? kube-proxy: .*\(ENOENT\)/)
    await node.sync(changed)
    assert.match(await node.pod(clientPod).tcp(address, 80), /^pod-/)
  })
}
