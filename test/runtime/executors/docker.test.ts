/**
 * The runtime in front of Debian's Docker engine: the tests of pods and streams, and what is
 * particular to Docker. Needs root and dockerd.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { SupplementalGroupsPolicy } from '#protobuf/cri-values_pb.js'
import { CriImages } from '../../../src/kubelet/cri/images.ts'
import { CriRuntime } from '../../../src/kubelet/cri/runtime.ts'
import { startDockerRuntime } from '../../../src/runtime/docker/docker-runtime.ts'
import { ImageStore, serveImages } from '../../../src/runtime/images/index.ts'
import { inNamespaces, isInNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { waitFor } from '../../support/wait-for.ts'
import { executorVariable } from '../support/test-executor.ts'
import { TestRuntime } from '../support/test-runtime.ts'
import { testOnExecutor } from '../support/tests-on-executor.ts'

const names = ['pods', 'streams']

if (!isInNamespaces())
  testOnExecutor(
    'docker',
    names.map((name) => `${name}.test.ts`),
  )

process.env[executorVariable] = 'docker'

await inNamespaces(import.meta.filename, async () => {
  const runtime = await TestRuntime.start()
  logTests(runtime)
  userTests(runtime)
  imageTests(runtime)
  usageTests(runtime)
  engineTests(runtime)
})

function logTests(runtime: TestRuntime): void {
  test('restarts of the runtime lose and double no line of either stream, and no piece of a long one', async () => {
    const long = 'y'.repeat(40_000)
    const script =
      'i=0; while [ $i -lt 1500 ]; do echo $i; echo $i >&2; i=$((i+1)); [ $((i % 100)) -gt 0 ] || echo $LONG; done'
    const sandbox = await runtime.sandbox()
    const id = await runtime.run(sandbox, script, { envs: [{ key: 'LONG', value: Buffer.from(long) }] })
    for (let round = 0; round < 5; round++) {
      await delay(40)
      await runtime.stopServer()
      await runtime.startServer()
    }
    await runtime.ended(id)
    const texts = { stdout: '', stderr: '' }
    for (const line of await runtime.logOf(id)) {
      const [, stream, tag, text] = /^(stdout|stderr) ([FP]) (.*)$/.exec(line) ?? []
      texts[stream as 'stdout' | 'stderr'] += text + (tag === 'F' ? '\n' : '')
    }
    const numbers = Array.from({ length: 1500 }, (_, i) => `${i}\n`)
    assert.equal(texts.stderr, numbers.join(''))
    assert.equal(texts.stdout, numbers.map((line, i) => ((i + 1) % 100 > 0 ? line : `${line}${long}\n`)).join(''))
  })
}

function userTests(runtime: TestRuntime): void {
  test('groups of the image are merged with a stated group, unless the policy is strict', async () => {
    const sandbox = await runtime.sandbox()
    const user = { runAsUser: { value: 33n }, runAsGroup: { value: 7n }, supplementalGroups: [1234n] }
    for (const [supplementalGroupsPolicy, groups] of [
      [SupplementalGroupsPolicy.Merge, '7 50 1234'],
      [SupplementalGroupsPolicy.Strict, '7 1234'],
    ] as const) {
      const securityContext = { ...user, supplementalGroupsPolicy }
      const id = await runtime.run(sandbox, 'sleep 1000', { linux: { securityContext } })
      assert.equal(await runtime.outputOf(id, 'id', '-G'), `${groups}\n`)
      const linux = (await runtime.client.containerStatus(id))?.user?.linux
      assert.deepEqual([linux?.uid, linux?.supplementalGroups.join(' ')], [33n, groups])
    }
  })
}

/** A registry whose clients have to log in. Resolves with its host. */
async function startPrivateRegistry(t: TestContext, store: ImageStore, login: string): Promise<string> {
  const images = await serveImages({ store })
  const expected = `Basic ${Buffer.from(login).toString('base64')}`
  const server = createServer(({ url, method, headers }, response) => {
    if (headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
      return
    }
    const forwarded = request(`http://${images.host}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(response)
    })
    forwarded.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await images.stop()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

function imageTests(runtime: TestRuntime): void {
  test('images are pulled with a login, and listed by complete names', async (t) => {
    const images = new CriImages(`unix://${runtime.folder}/runtime.sock`)
    t.after(() => images.close())
    const host = await startPrivateRegistry(t, new ImageStore(join(runtime.folder, 'images')), 'somebody:~~pass??word')
    const name = `${host}/library/busybox:latest`
    const login = { username: 'somebody', password: '~~pass??word' }
    await assert.rejects(images.pull(name, undefined, {}), /no basic auth credentials/)
    const pulled = await images.pull(name, login, {})
    const present = await images.find(name)
    assert.equal(present?.id, pulled)
    assert.equal(present?.uid?.value, 0n)
    assert.ok(present?.repoTags.includes(name))
    assert.ok((await images.all()).some(({ repoTags }) => repoTags.includes('docker.io/library/busybox:latest')))
    await assert.rejects(images.pull(`${host}/missing:1`, login, {}), { code: 'NotFound' })
    const [usage] = (await images.fileSystems()).imageFilesystems
    assert.ok((usage?.usedBytes?.value ?? 0n) > 0n)
  })
}

function usageTests(runtime: TestRuntime): void {
  const { client } = runtime
  test('events of containers have the statuses of their pods', async () => {
    const events: string[] = []
    const stopped = new AbortController()
    const read = (async () => {
      for await (const event of client.events(stopped.signal))
        events.push(`${event.containerEventType} ${event.containersStatuses.map(({ state }) => state)}`)
    })().catch(() => {})
    const sandbox = await runtime.sandbox()
    await delay(200)
    const id = await runtime.run(sandbox, 'sleep 0.3; exit 2')
    await runtime.ended(id)
    await client.removeContainer(id)
    await waitFor('the last event', () => events.length === 4)
    assert.deepEqual(
      events.map((event) => event.split(' ')[0]),
      ['0', '1', '2', '3'],
    )
    assert.equal(events[2], '2 2')
    stopped.abort()
    await read
  })
  test('usage of containers has memory, CPU time and a layer', async () => {
    const sandbox = await runtime.sandbox()
    const id = await runtime.run(sandbox, 'while true; do :; done')
    const stats = await waitFor('usage', async () => {
      const found = (await client.containerStats()).find(({ attributes }) => attributes?.id === id)
      return (found?.cpu?.usageNanoCores?.value ?? 0n) > 100_000_000n && found
    })
    assert.ok((stats.memory?.workingSetBytes?.value ?? 0n) > 0n)
    assert.match(stats.writableLayer?.fsId?.mountpoint ?? '', /docker\/data$/)
    await client.removeSandbox(sandbox.id)
  })
}

function engineTests(runtime: TestRuntime): void {
  const { client } = runtime
  test('containers of other runtimes on the engine are neither seen nor touched', async () => {
    const { folder } = runtime
    const [endpoint, address] = [`unix://${folder}/other.sock`, `unix://${folder}/docker/docker.sock`]
    const other = await startDockerRuntime({ endpoint, address, name: 'other', streamPort: 0, log: () => {} })
    const sandbox = await runtime.sandbox()
    const otherClient = new CriRuntime(endpoint)
    assert.deepEqual([await otherClient.sandboxes(), await otherClient.containers()], [[], []])
    await otherClient.removeSandbox(sandbox.id)
    assert.equal((await client.sandboxStatus(sandbox.id)).status?.state, 0)
    otherClient.close()
    await other.stop()
    await client.removeSandbox(sandbox.id)
  })
  test('an engine that stops is reported, and its containers are found again', async () => {
    assert.equal((await client.status()).status?.conditions[0]?.status, true)
    const sandbox = await runtime.sandbox()
    const id = await runtime.run(sandbox, 'echo before; sleep 1000')
    await waitFor('the log', async () => (await runtime.logOf(id)).length === 1)
    await runtime.restartEngine(async () => {
      const [condition] = (await client.status()).status?.conditions ?? []
      assert.equal(condition?.status, false)
      assert.match(condition.message, /docker.sock does not answer/)
    })
    const status = await runtime.ended(id)
    assert.notEqual(status.exitCode, 0)
    assert.equal((await client.sandboxStatus(sandbox.id)).status?.state, 1)
    assert.deepEqual(await runtime.logOf(id), ['stdout F before'])
  })
  test('removed pods leave no container behind, and an image is removed with all names', async (t) => {
    for (const { id } of await client.sandboxes()) await client.removeSandbox(id)
    const args = ['-H', `unix://${runtime.folder}/docker/docker.sock`, 'ps', '-aq']
    assert.equal(execFileSync('docker', args, { encoding: 'utf8' }), '')
    const images = new CriImages(`unix://${runtime.folder}/runtime.sock`)
    t.after(() => images.close())
    const all = await images.all()
    assert.deepEqual(all.map(({ pinned, repoTags }) => (pinned ? repoTags[0] : repoTags.length)).sort(), [
      2,
      'localhost/typernetes/pause:1',
    ])
    for (const { id } of all) await images.remove(id)
    assert.deepEqual(await images.all(), [])
    // The next pod imports the image of its first process again.
    await client.removeSandbox((await runtime.sandbox()).id)
  })
}
