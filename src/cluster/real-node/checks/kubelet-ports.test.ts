import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { checkPorts, withFreePorts } from './kubelet-ports.ts'

async function usedPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

test('beside another kubelet, a kubelet takes any port and serves no /healthz', async (t) => {
  const used = await usedPort(t)
  const ports = { address: '127.0.0.1', port: used, healthzBindAddress: '127.0.0.1', healthzPort: used }
  assert.deepEqual(await withFreePorts(ports, new Set()), { ...ports, port: 0, healthzPort: 0 })
  const free = { ...ports, port: 0, healthzPort: 0 }
  assert.deepEqual(await withFreePorts(free, new Set(['port'])), free)
})

test('a port that the user has set must be free, and so must all ports beside another runtime', async (t) => {
  const used = await usedPort(t)
  const ports = { address: '127.0.0.1', port: used, healthzBindAddress: '127.0.0.1', healthzPort: 0 }
  await assert.rejects(withFreePorts(ports, new Set(['port'])), new RegExp(`port ${used} is in use`))
  await assert.rejects(checkPorts(ports), /a container runtime can have one kubelet only: stop it/)
  await checkPorts({ ...ports, port: 0 })
})
