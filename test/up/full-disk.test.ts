/** Tests of a full disk: the server reports it, still serves reads, and resumes writes once there is space. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, stop, up } from './t8s-process.ts'

/** Mounts a file system of this size, or returns why it cannot. */
function smallDisk(t: TestContext, megabytes: number): { readonly path: string } | { readonly missing: string } {
  const path = mkdtempSync(join(tmpdir(), 't8s-disk-'))
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], {
    encoding: 'utf8',
  })
  t.after(() => {
    if (status === 0) spawnSync('umount', ['--lazy', path])
    rmSync(path, { recursive: true, force: true })
  })
  return status === 0
    ? { path }
    : { missing: `cannot mount a small file system: ${stderr?.trim() || 'root and mount are needed'}` }
}

const getRaw = (kubeconfig: string, path: string): string => {
  const { stdout, stderr } = kubectl(kubeconfig, 'get', '--raw', path)
  return stdout + stderr
}

test('a full disk is a 503 with the remedy; reads continue, and writes resume with free space', async (t) => {
  const disk = smallDisk(t, 24)
  if ('missing' in disk) return t.skip(disk.missing)
  const args = ['--secure-port', '0', '--data-dir', join(disk.path, 'data')]
  const server = await up(t, args)
  const { kubeconfig } = server
  const create = (name: string) => kubectl(kubeconfig, 'create', 'configmap', name, '--from-literal=key=value')
  assert.equal(create('before').code, 0)
  const filler = join(disk.path, 'filler')
  const { bavail, bsize } = statfsSync(disk.path)
  writeFileSync(filler, Buffer.alloc(Number(bavail) * Number(bsize)))

  const large = `${disk.path}.yaml`
  t.after(() => rmSync(large, { force: true }))
  writeFileSync(
    large,
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large}\ndata: {key: "${'x'.repeat(200_000)}"}\n`,
  )
  const refused = kubectl(kubeconfig, 'create', '-f', large)
  assert.notEqual(refused.code, 0)
  const isFull = /the disk of \S+ is full \(ENOSPC\): free some space; writes resume automatically once there is space/
  assert.match(refused.stderr, isFull)
  for (const write of [
    ['patch', 'configmap', 'before', '-p', '{"data":{"key":"other"}}'],
    ['annotate', 'configmap', 'before', 'a=b'],
    ['delete', 'configmap', 'before'],
    ['create', 'namespace', 'later'],
  ]) {
    const { code, stderr } = kubectl(kubeconfig, ...write, '-v=8')
    assert.deepEqual([code, isFull.test(stderr)], [1, true], `${write.join(' ')}: ${stderr}`)
    // With it, kubectl would retry for a minute before it shows the cause.
    assert.doesNotMatch(stderr, /retry-after/i)
  }
  assert.match(getRaw(kubeconfig, '/readyz?verbose'), /\[-\]etcd failed/)
  assert.match(getRaw(kubeconfig, '/livez?verbose'), /\[-\]etcd failed/)
  await waitFor('the log entry', () => /the disk of \S+ is full \(ENOSPC\)/.test(server.output()))
  assert.equal(kubectl(kubeconfig, 'get', 'configmap', 'before', '-o', 'jsonpath={.data.key}').stdout, 'value')

  rmSync(filler)
  await waitFor('a write', () => create('after').code === 0, { deadlineMs: 20_000 })
  await waitFor('readiness', () => getRaw(kubeconfig, '/readyz') === 'ok', { deadlineMs: 20_000 })
  await waitFor('the log entry about the end', () => server.output().includes('the store can write again'), {
    deadlineMs: 20_000,
  })
  assert.equal((await stop(server)).code, 0)

  const again = await up(t, args)
  for (const name of ['before', 'after'])
    assert.equal(kubectl(again.kubeconfig, 'get', 'configmap', name, '-o', 'name').stdout, `configmap/${name}\n`)
  assert.match(kubectl(again.kubeconfig, 'get', 'configmap', 'large').stderr, /NotFound/)
  await stop(again)
})
