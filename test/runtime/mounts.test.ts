/** Mounts of containers, by the specs of the CRI validation suite. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MountPropagation } from '#protobuf/cri-values_pb.js'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { TestRuntime } from './support/test-runtime.ts'

const mount = (...args: readonly string[]): void => void execFileSync('mount', args)

/** A folder of the host that is a mount of its own. */
function hostFolder({ folder: parent }: TestRuntime, name: string, propagation = '--make-rshared'): string {
  const folder = join(parent, name)
  for (const path of ['inner', 'from-host', 'from-container']) mkdirSync(join(folder, path), { recursive: true })
  mount('--bind', folder, folder)
  mount(propagation, folder)
  return folder
}

await inNamespaces(import.meta.filename, async () => {
  const runtime = await TestRuntime.start()
  const privileged = { linux: { securityContext: { privileged: true } } }
  const sandbox = await runtime.sandbox(privileged)

  test('mounts reach the container and the host as their propagation states', async () => {
    const expected = [
      [MountPropagation.PROPAGATION_PRIVATE, false, false],
      [MountPropagation.PROPAGATION_HOST_TO_CONTAINER, true, false],
      [MountPropagation.PROPAGATION_BIDIRECTIONAL, true, true],
    ] as const
    for (const [propagation, reachesContainer, reachesHost] of expected) {
      const hostPath = hostFolder(runtime, `propagation-${propagation}`)
      const mounts = [{ hostPath, containerPath: '/volume', propagation }]
      const id = await runtime.run(sandbox, 'sleep 1000', { ...privileged, mounts })
      mount('--bind', '/etc', join(hostPath, 'from-host'))
      const inContainer = await runtime.outputOf(id, 'ls', '/volume/from-host')
      assert.equal(inContainer !== '', reachesContainer)
      await runtime.outputOf(id, 'mount', '--bind', '/etc', '/volume/from-container')
      assert.equal(readdirSync(join(hostPath, 'from-container')).length > 0, reachesHost)
    }
  })
  test('a propagation that the mount of the host does not have is an error', async () => {
    const hostPath = hostFolder(runtime, 'private', '--make-rprivate')
    const mounts = [{ hostPath, containerPath: '/volume', propagation: MountPropagation.PROPAGATION_BIDIRECTIONAL }]
    await assert.rejects(runtime.run(sandbox, '', { ...privileged, mounts }), /not a shared mount/)
  })
  test('mounts are read-only alone, or with all mounts inside them', async () => {
    const hostPath = hostFolder(runtime, 'read-only')
    mount('-t', 'tmpfs', 'none', join(hostPath, 'inner'))
    const volume = { hostPath, containerPath: '/volume', readonly: true }
    const id = await runtime.run(sandbox, 'sleep 1000', { mounts: [volume] })
    await assert.rejects(runtime.outputOf(id, 'touch', '/volume/file'), /Read-only file system/)
    await runtime.outputOf(id, 'touch', '/volume/inner/file')
    const recursive = { ...volume, recursiveReadOnly: true }
    const other = await runtime.run(sandbox, 'sleep 1000', { mounts: [recursive] })
    await assert.rejects(runtime.outputOf(other, 'touch', '/volume/inner/file'), /Read-only file system/)
    const wrong = [
      { ...recursive, readonly: false },
      { ...recursive, propagation: MountPropagation.PROPAGATION_HOST_TO_CONTAINER },
      { ...recursive, propagation: MountPropagation.PROPAGATION_BIDIRECTIONAL },
    ]
    for (const one of wrong)
      await assert.rejects(runtime.run(sandbox, '', { mounts: [one] }), /recursive_read_only conflicts/)
  })
  linkTest(runtime, sandbox)
})

function linkTest(runtime: TestRuntime, sandbox: Awaited<ReturnType<TestRuntime['sandbox']>>): void {
  test('a path of the host may be a symbolic link', async () => {
    const target = join(runtime.folder, 'target')
    mkdirSync(target)
    writeFileSync(join(target, 'file'), 'text')
    const hostPath = join(runtime.folder, 'link')
    symlinkSync(target, hostPath)
    const id = await runtime.run(sandbox, 'sleep 1000', { mounts: [{ hostPath, containerPath: '/volume' }] })
    assert.equal(await runtime.outputOf(id, 'cat', '/volume/file'), 'text')
  })
}
