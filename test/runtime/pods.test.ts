/** Pods, logs, limits and lists through CRI, by the specs of the CRI validation suite. */
import assert from 'node:assert/strict'
import { existsSync, renameSync } from 'node:fs'
import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { TestRuntime } from './support/test-runtime.ts'

const unknown = 'f'.repeat(64)

await inNamespaces(import.meta.filename, async () => {
  const runtime = await TestRuntime.start()
  podTests(runtime)
  containerTests(runtime)
})

function podTests(runtime: TestRuntime): void {
  const { client } = runtime
  test('stops and removals of what is missing or has ended are no errors', async () => {
    for (const call of [client.stopSandbox(unknown), client.removeSandbox(unknown), client.removeContainer(unknown)])
      await call
    await client.stopContainer(unknown, 0)
    const sandbox = await runtime.sandbox()
    const id = await runtime.run(sandbox, 'sleep 1000')
    for (let round = 0; round < 2; round++) await client.stopContainer(id, 0)
    for (let round = 0; round < 2; round++) await client.stopSandbox(sandbox.id)
    assert.equal((await client.sandboxStatus(sandbox.id)).status?.state, 1)
    for (let round = 0; round < 2; round++) await client.removeSandbox(sandbox.id)
    assert.equal((await client.sandboxes({ id: sandbox.id })).length, 0)
  })
  test('a pod has its host name, DNS configuration and sysctls', async () => {
    const sandbox = await runtime.sandbox({
      hostname: 'a-name',
      dnsConfig: { servers: ['10.10.10.10'], searches: ['example.test'], options: ['ndots:8'] },
      linux: { sysctls: { 'kernel.shm_rmid_forced': '1', 'fs.mqueue.msg_max': '100' } },
    })
    const id = await runtime.run(sandbox, 'sleep 1000')
    const dns = 'search example.test\nnameserver 10.10.10.10\noptions ndots:8\n'
    const values = '/proc/sys/kernel/shm_rmid_forced /proc/sys/fs/mqueue/msg_max'
    const script = `hostname; cat /etc/resolv.conf ${values}`
    assert.equal(await runtime.outputOf(id, 'sh', '-c', script), `a-name\n${dns}1\n100\n`)
  })
  test('a port of the host leads to a container', async () => {
    const sandbox = await runtime.sandbox({ portMappings: [{ containerPort: 80, hostPort: 12_000 }] })
    await runtime.run(sandbox, 'mkdir /www; echo page >/www/index.html; exec httpd -f -p 80 -h /www')
    const page = () =>
      new Promise<string>((resolve) => {
        const request = get('http://127.0.0.1:12000/', (response) => resolve(text(response)))
        request.on('error', () => resolve(''))
      })
    await waitFor('the page of the container', async () => (await page()) === 'page\n')
  })
}

function containerTests(runtime: TestRuntime): void {
  const { client } = runtime
  test('a log exists from the start, and is created again after it was renamed', async () => {
    const sandbox = await runtime.sandbox()
    const id = await runtime.run(sandbox, 'while :; do echo line; sleep 0.1; done')
    const { logPath = '' } = (await client.containerStatus(id)) ?? {}
    assert.ok(existsSync(logPath))
    renameSync(logPath, `${logPath}.old`)
    await client.reopenLog(id)
    assert.ok(existsSync(logPath))
    await waitFor('lines in the new log', async () => (await runtime.logOf(id)).includes('stdout F line'))
    await client.stopContainer(id, 0)
    await assert.rejects(client.reopenLog(id), /not running/)
  })
  test('a container that the kernel kills for lack of memory ends with OOMKilled', async () => {
    const sandbox = await runtime.sandbox()
    const limit = 15n << 20n
    const linux = { resources: { memoryLimitInBytes: limit, memorySwapLimitInBytes: limit } }
    // containerd, behind Docker, hears of such kills only from soon after the start.
    const id = await runtime.run(sandbox, 'sleep 0.5; exec dd if=/dev/zero of=/dev/null bs=20M', { linux })
    const { exitCode, reason } = await runtime.ended(id)
    assert.deepEqual([exitCode, reason], [137, 'OOMKilled'])
  })
  test('containers are listed with their attributes, by state and by labels', async () => {
    const sandbox = await runtime.sandbox()
    const [labels, annotations] = [{ color: 'red' }, { note: 'text' }]
    const id = await runtime.run(sandbox, 'sleep 1000', { labels, annotations })
    const ended = await runtime.run(sandbox, 'exit 0')
    await runtime.ended(ended)
    const listed = async (filter: Parameters<typeof client.containers>[0]) =>
      (await client.containers({ podSandboxId: sandbox.id, ...filter })).map((container) => container.id)
    assert.deepEqual(await listed({ labelSelector: labels }), [id])
    assert.deepEqual(await listed({ state: { state: 2 } }), [ended])
    assert.equal((await listed({})).length, 2)
    const [container] = await client.containers({ id })
    const status = await client.containerStatus(id)
    for (const one of [container, status]) {
      assert.deepEqual(one?.annotations, annotations)
      assert.equal(one?.imageId, status?.imageId)
    }
  })
}
