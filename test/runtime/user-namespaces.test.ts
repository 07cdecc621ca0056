/** Users of pods that are other users on the machine (KEP-127). */
import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { NamespaceMode } from '#protobuf/cri-values_pb.js'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { TestRuntime } from './support/test-runtime.ts'

const mapping = { hostId: 100_000, containerId: 0, length: 65_536 }

const podOf = (mode: NamespaceMode, mappings: readonly (typeof mapping)[], pid: NamespaceMode = NamespaceMode.POD) => {
  const usernsOptions = { mode, uids: [...mappings], gids: [...mappings] }
  return { linux: { securityContext: { namespaceOptions: { pid, usernsOptions } } } }
}

await inNamespaces(import.meta.filename, async () => {
  const runtime = await TestRuntime.start()
  const { client } = runtime
  chmodSync(runtime.folder, 0o711)

  test('root of a pod is an ordinary user of the machine, and owns the files of the image', async () => {
    for (const pid of [NamespaceMode.POD, NamespaceMode.CONTAINER]) {
      const pod = podOf(NamespaceMode.POD, [mapping], pid)
      const sandbox = await runtime.sandbox(pod)
      const id = await runtime.run(sandbox, 'cat /proc/self/uid_map; exec sleep 1000', pod)
      const { info } = await client.containerInfo(id)
      const { pid: process } = JSON.parse(info.info ?? '{}')
      assert.match(readFileSync(`/proc/${process}/status`, 'utf8'), /^Uid:\t100000\t100000/m)
      assert.equal(await runtime.outputOf(id, 'sh', '-c', 'id -u; echo >/file; stat -c %u /bin/sh /file'), '0\n0\n0\n')
      assert.equal(await runtime.outputOf(id, 'cat', '/proc/sys/kernel/hostname'), `${sandbox.config.hostname}\n`)
      await assert.rejects(
        runtime.outputOf(id, 'mount', '-o', 'remount,rw', '/sys'),
        /permission denied|not permitted/i,
      )
    }
  })
  test('files of volumes belong to the users that the pod knows', async () => {
    const volume = join(runtime.folder, 'volume')
    mkdirSync(volume, { mode: 0o700 })
    writeFileSync(join(volume, 'secret'), 'text', { mode: 0o600 })
    chownSync(join(volume, 'secret'), 7, 8)
    const pod = podOf(NamespaceMode.POD, [mapping])
    const sandbox = await runtime.sandbox(pod)
    const mounts = [{ containerPath: '/volume', hostPath: volume, uidMappings: [mapping], gidMappings: [mapping] }]
    const id = await runtime.run(sandbox, 'sleep 1000', { ...pod, mounts })
    assert.equal(await runtime.outputOf(id, 'stat', '-c', '%u %g', '/volume/secret'), '7 8\n')
    await runtime.outputOf(id, 'touch', '/volume/mine')
    assert.equal(statSync(join(volume, 'mine')).uid, 0)
  })
  test('other user namespaces than one range from 0 are rejected', async () => {
    const rejected = [
      podOf(NamespaceMode.POD, [mapping, mapping]),
      podOf(NamespaceMode.POD, []),
      podOf(NamespaceMode.POD, [{ ...mapping, containerId: 1 }]),
      podOf(NamespaceMode.CONTAINER, []),
      podOf(NamespaceMode.TARGET, []),
    ]
    for (const pod of rejected) await assert.rejects(runtime.sandbox(pod), { code: 'InvalidArgument' })
    const sandbox = await runtime.sandbox(podOf(NamespaceMode.NODE, []))
    const id = await runtime.run(sandbox, 'sleep 1000')
    assert.match(await runtime.outputOf(id, 'cat', '/proc/self/uid_map'), /^\s+0\s+0\s/)
  })
})
