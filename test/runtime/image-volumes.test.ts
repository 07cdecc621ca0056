/** Image volumes: the files of an image in a container (KEP-4639). */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { TestRuntime } from './support/test-runtime.ts'

await inNamespaces(import.meta.filename, async () => {
  const runtime = await TestRuntime.start()
  const { client } = runtime
  const volume = (imageSubPath = '', readonly = true) => ({
    mounts: [{ containerPath: '/volume', readonly, image: { image: 'busybox' }, imageSubPath }],
  })

  test('an image is mounted read-only, its programs can be run, and its ID is reported', async () => {
    const sandbox = await runtime.sandbox()
    const id = await runtime.run(sandbox, 'sleep 1000', volume())
    assert.equal(await runtime.outputOf(id, '/volume/bin/cat', '/volume/usr/share/message'), 'from the image\n')
    await assert.rejects(runtime.outputOf(id, 'touch', '/volume/file'), /Read-only file system/)
    const status = await client.containerStatus(id)
    assert.match(status?.imageId ?? '', /^sha256:/)
    assert.equal(status?.mounts[0]?.image?.imageRef, status?.imageId)
    assert.equal(status?.mounts[0]?.hostPath, '')
  })
  test('a path of an image is mounted', async () => {
    const sandbox = await runtime.sandbox()
    const id = await runtime.run(sandbox, 'sleep 1000', volume('usr/share'))
    assert.equal(await runtime.outputOf(id, 'ls', '/volume'), 'message\n')
  })
  test('volumes that cannot be mounted are errors and leave nothing', async () => {
    const sandbox = await runtime.sandbox()
    const snapshots = join(runtime.folder, 'images/snapshots')
    const before = readdirSync(snapshots).length
    await assert.rejects(runtime.run(sandbox, '', volume('', false)), { code: 'InvalidArgument' })
    await assert.rejects(runtime.run(sandbox, '', volume('missing')), /"missing" is not in "busybox"/)
    const missing = { mounts: [{ containerPath: '/volume', readonly: true, image: { image: 'missing' } }] }
    await assert.rejects(runtime.run(sandbox, '', missing), { code: 'NotFound' })
    assert.equal(readdirSync(snapshots).length, before)
  })
})
