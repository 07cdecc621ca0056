/** Containers and sandboxes through CRI, by the specs of the CRI validation suite. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { TestRuntime } from './support/test-runtime.ts'

await inNamespaces(import.meta.filename, async () => {
  const runtime = await TestRuntime.start()
  const { client } = runtime

  test('a container runs, its output is logged and its exit code is kept', async () => {
    const sandbox = await runtime.sandbox()
    const status = await client.sandboxStatus(sandbox.id)
    assert.equal(status.status?.state, 0)
    assert.match(status.status?.network?.ip ?? '', /^(10\.88|172\.17)\./)
    const id = await runtime.run(sandbox, 'hostname; echo error >&2; printf unfinished; exit 3')
    const end = await runtime.ended(id)
    assert.equal(end.exitCode, 3)
    assert.equal(end.reason, 'Error')
    const lines = await runtime.logOf(id)
    assert.deepEqual(lines.sort(), ['stderr F error', `stdout F ${sandbox.config.hostname}`, 'stdout P unfinished'])
  })
  test('a command that is not found is an error of the start', async () => {
    const sandbox = await runtime.sandbox()
    await assert.rejects(
      runtime.run(sandbox, '', { command: ['/nope'] }),
      /executable file `\/nope` not found|exec: "\/nope": .*no such file/,
    )
  })
  test('commands run in a container, and are killed with all their children after the time limit', async () => {
    const sandbox = await runtime.sandbox()
    const id = await runtime.run(sandbox, 'sleep 1000')
    const result = await client.exec(id, ['sh', '-c', 'echo out; echo err >&2; exit 5'])
    assert.equal(`${Buffer.from(result.stdout)} ${Buffer.from(result.stderr)} ${result.exitCode}`, 'out\n err\n 5')
    await assert.rejects(client.exec(id, ['sh', '-c', 'sleep 777 & sleep 777'], 1000), { code: 'DeadlineExceeded' })
    const { stdout } = await client.exec(id, ['ps'])
    assert.doesNotMatch(Buffer.from(stdout).toString(), /777/)
    await assert.rejects(client.exec(id, ['nope']), /failed to exec in container: failed to start exec: .*nope/)
    await client.stopContainer(id, 0)
    assert.equal((await runtime.ended(id)).exitCode, 137)
  })
  test('containers go on without the runtime', async () => {
    const sandbox = await runtime.sandbox()
    const id = await runtime.run(sandbox, 'i=0; while [ $i -lt 300 ]; do echo $i; i=$((i+1)); sleep 0.01; done; exit 9')
    await runtime.stopServer()
    await new Promise((resolve) => setTimeout(resolve, 500))
    await runtime.startServer()
    const end = await runtime.ended(id)
    assert.equal(end.exitCode, 9)
    assert.deepEqual(
      await runtime.logOf(id),
      Array.from({ length: 300 }, (_, i) => `stdout F ${i}`),
    )
  })
})
