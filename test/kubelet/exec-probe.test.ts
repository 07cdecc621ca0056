/** Exec probes on a container runtime. Needs root. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { PodEvents } from '../../src/kubelet/containers/container-events.ts'
import { CriImages } from '../../src/kubelet/cri/images.ts'
import { CriRuntime } from '../../src/kubelet/cri/runtime.ts'
import type { Pod } from '../../src/kubelet/pod-types.ts'
import { type Probe, Prober } from '../../src/kubelet/probes/prober.ts'
import { startNodeRuntime } from './support/runtimes/node-runtime.ts'
import { images as offline } from './support/runtimes/test-images.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root'

const pod = { metadata: { name: 'p', namespace: 'default', uid: 'u' }, spec: { containers: [{ name: 'c' }] } } as Pod

test('a command that takes too long has failed, and leaves no process', { skip }, async (t) => {
  const nodeRuntime = await startNodeRuntime()
  t.after(() => nodeRuntime.stop())
  const folder = mkdtempSync(join(tmpdir(), 't8s-exec-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const runtime = new CriRuntime(nodeRuntime.endpoint)
  const images = new CriImages(nodeRuntime.endpoint)
  t.after(() => {
    runtime.close()
    images.close()
  })
  const sandbox = {
    metadata: { name: 'p', namespace: 'default', uid: 'u', attempt: 0 },
    logDirectory: folder,
    linux: {},
  }
  const sandboxId = await runtime.runSandbox(sandbox)
  const image = await images.find(offline.busybox)
  const config = {
    metadata: { name: 'c', attempt: 0 },
    image: { image: image!.id },
    command: ['sleep', '1000'],
    linux: {},
  }
  const containerId = await runtime.createContainer(sandboxId, { ...config, logPath: 'c.log' }, sandbox)
  await runtime.startContainer(containerId)
  const events: string[] = []
  const prober = new Prober({
    runtime,
    events: new PodEvents(
      { record: (_, type, reason, message) => void events.push(`${type} ${reason} ${message}`) },
      'n',
    ),
  })
  const run = (probe: Probe) =>
    prober.probe('Liveness', probe, { pod, container: { name: 'c' }, containerId, podIp: '' })
  assert.equal(await run({ exec: { command: ['true'] }, timeoutSeconds: 30 }), 'success')
  assert.equal(await run({ exec: { command: ['sh', '-c', 'echo no; exit 3'] }, timeoutSeconds: 30 }), 'failure')
  assert.equal(await run({ exec: { command: ['sleep', '54321'] }, timeoutSeconds: 1 }), 'failure')
  assert.deepEqual(events, [
    'Warning Unhealthy Liveness probe failed: no\n',
    'Warning Unhealthy Liveness probe failed: command "sleep 54321" timed out',
  ])
  const processes = async (): Promise<string> => {
    const { stdout } = await runtime.exec(containerId, ['ps', '-o', 'args'], 30_000)
    return Buffer.from(stdout).toString()
  }
  while ((await processes()).includes('54321')) await delay(100)
  await runtime.stopSandbox(sandboxId)
  await runtime.removeSandbox(sandboxId)
})
