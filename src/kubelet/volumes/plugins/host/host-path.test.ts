import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { persistentVolume, podWith, temporaryFolder } from '../../volumes.fixture.ts'
import { hostPathPlugin } from './host-path.ts'

function setUp(t: TestContext) {
  const root = temporaryFolder(t)
  const prepare = (path: string, type?: string) => {
    const volume = { name: 'host', hostPath: { path: path.startsWith('/') ? path : join(root, path), type } }
    const spec = { podName: 'host', name: 'host', volume, isReadOnly: false }
    return hostPathPlugin.setUp({ pod: podWith([volume]), spec, folder: '' })
  }
  return { root, prepare }
}

test('without a type, nothing is checked', async (t) => {
  const { root, prepare } = setUp(t)
  const mounted = { path: join(root, 'missing'), isReadOnly: false, isRelabeled: false }
  assert.deepEqual(await prepare('missing'), mounted)
  assert.deepEqual(await prepare('missing', ''), mounted)
  assert.equal(existsSync(join(root, 'missing')), false)
})

test('folders and files are made if the type says so', async (t) => {
  const { root, prepare } = setUp(t)
  await prepare('a/b', 'DirectoryOrCreate')
  assert.equal(statSync(join(root, 'a/b')).mode & 0o777, 0o755)
  await prepare('a/b', 'DirectoryOrCreate')
  await prepare('a/file', 'FileOrCreate')
  assert.equal(statSync(join(root, 'a/file')).mode & 0o777, 0o644)
  await prepare('a/file', 'FileOrCreate')
  await assert.rejects(prepare('no/file', 'FileOrCreate'), /ENOENT/)
})

test('each type accepts only its kind of file', async (t) => {
  const { root, prepare } = setUp(t)
  mkdirSync(join(root, 'dir'))
  writeFileSync(join(root, 'file'), '')
  symlinkSync('dir', join(root, 'link'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  const server = createServer().listen(join(root, 'socket'))
  t.after(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const paths = {
    dir: 'Directory',
    link: 'Directory',
    file: 'File',
    socket: 'Socket',
    '/dev/null': 'CharDevice',
    pipe: '',
  }
  const words = {
    Directory: 'directory',
    DirectoryOrCreate: 'directory',
    File: 'file',
    FileOrCreate: 'file',
    Socket: 'socket file',
    CharDevice: 'character device',
    BlockDevice: 'block device',
  }
  for (const [path, kind] of Object.entries(paths))
    for (const [type, word] of Object.entries(words)) {
      const shown = path.startsWith('/') ? path : join(root, path)
      if (type.replace('OrCreate', '') === kind) await prepare(path, type)
      else
        await assert.rejects(prepare(path, type), { message: `hostPath type check failed: ${shown} is not a ${word}` })
    }
})

test('missing files, unknown types and backsteps are errors', async (t) => {
  const { root, prepare } = setUp(t)
  const words = { Directory: 'directory', File: 'file', Socket: 'socket file' }
  for (const [type, word] of Object.entries(words))
    await assert.rejects(prepare('missing', type), {
      message: `hostPath type check failed: ${root}/missing is not a ${word}`,
    })
  await assert.rejects(prepare('missing', 'Pipe'), { message: 'Pipe is an invalid volume type' })
  await assert.rejects(prepare('/a/../b'), { message: "invalid HostPath `/a/../b`: must not contain '..'" })
})

test('a persistent volume may be a path of the host', async () => {
  const spec = {
    podName: 'data',
    name: 'pv-data',
    persistentVolume: persistentVolume('data', { hostPath: { path: '/srv/data' } }),
    isReadOnly: true,
  }
  assert.ok(hostPathPlugin.supports(spec))
  const mounted = await hostPathPlugin.setUp({ pod: podWith([]), spec, folder: '' })
  assert.deepEqual(mounted, { path: '/srv/data', isReadOnly: true, isRelabeled: false })
})
