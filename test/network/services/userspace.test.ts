/** The mode userspace of kube-proxy with pods as network namespaces. Needs root for the namespaces. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { createUserspaceMode } from '../../../src/network/proxy/modes/userspace/userspace-mode.ts'
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { serviceBehaviours } from './behaviours.ts'
import { createLab, nodeAddresses, podNumbers } from './lab.ts'
import { bothPods, ServedNode } from './served-node.ts'

await inNamespaces(import.meta.filename, async () => {
  const lab = await createLab()
  after(() => lab.stop())
  const traits = { retainsClients: false, survivesRestarts: false }
  serviceBehaviours(lab, 4, createUserspaceMode, [], traits)
  serviceBehaviours(lab, 6, createUserspaceMode, [], traits)

  test('without CAP_NET_ADMIN, node ports and load balancers on loopback work, and a sentence says so', async () => {
    const script = join(import.meta.dirname, 'without-rights.ts')
    const [nodePort, loadBalancer] = [30099, '127.77.1.1']
    const args = [script, String(nodePort), loadBalancer, String(podNumbers.first)]
    const program = [process.execPath, ...process.execArgv, ...args]
    const child = spawn('setpriv', ['--bounding-set=-net_admin', '--inh-caps=-net_admin', ...program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const exit = once(child, 'exit')
    try {
      const lines = createInterface({ input: child.stdout })
      const [sentence] = (await once(lines, 'line')) as [string]
      assert.match(sentence, /only node ports and addresses of this machine work, .* run it with CAP_NET_ADMIN$/)
      assert.deepEqual(await once(lines, 'line'), ['synced'])
      for (const [address, port] of [
        ['127.0.0.1', nodePort],
        [nodeAddresses[4], nodePort],
        [loadBalancer, 80],
      ] as const)
        assert.match(await lab.node.tcp(address, port), /^pod-3 /)
    } finally {
      child.stdin.end()
    }
    assert.deepEqual(await exit, [0, null])
  })

  test('the clean-up removes all routes', async () => {
    const routes = (): string => execFileSync('ip', ['route', 'show', 'table', 'local'], { encoding: 'utf8' })
    const node = new ServedNode(lab, 4, createUserspaceMode, traits)
    const spec = { clusterIP: node.clusterIP(30), externalIPs: [node.externalIP(30)] }
    await node.sync({ name: 'routes', spec, endpoints: bothPods })
    assert.match(routes(), /local 10\.96\.0\.0\/16 dev lo proto 116 scope host src 192\.0\.2\.1/)
    assert.match(routes(), /local 198\.51\.100\.30 dev lo/)
    assert.equal(await node.wasFlushed(), false)
    execFileSync('ip', ['route', 'del', 'local', '198.51.100.30', 'dev', 'lo', 'table', 'local'])
    assert.equal(await node.wasFlushed(), true)
    await node.syncAll()
    assert.match(await node.client.tcp(node.externalIP(30), 80), /^pod-/)
    await node.delete('routes')
    assert.doesNotMatch(routes(), /198\.51\.100\.30/)
    await node.cleanUp()
    assert.doesNotMatch(routes(), /proto 116/)
  })
})
