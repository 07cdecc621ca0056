import assert from 'node:assert/strict'
import { chmodSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { digestOf } from '../formats/digest.ts'
import { ImageStore } from '../store/image-store.ts'
import type { TarEntry } from '../tar/tar-entry.ts'
import { TarReader } from '../tar/tar-reader.ts'
import { LayerArchive } from './layer-archive.ts'
import { linuxCalls } from './linux-calls.ts'
import { type PackOptions, packFolder } from './pack-folder.ts'

const skip = process.geteuid?.() === 0 ? false : 'needs root'

function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-pack-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const store = new ImageStore(join(folder, 'store'))
  const root = join(folder, 'root')
  mkdirSync(root)
  const pack = async (options: PackOptions) => {
    const archive = new LayerArchive(store)
    await packFolder(root, archive, options)
    const lease = store.lease()
    const { digest, diffId } = await archive.finish(lease)
    lease.release()
    const bytes = gunzipSync(readFileSync(store.blobs.path(digest)))
    assert.equal(digestOf(bytes), diffId)
    const entries: TarEntry[] = []
    const reader = new TarReader({ entry: (entry) => void entries.push(entry), data: () => {}, end: () => {} })
    reader.push(bytes)
    return entries
  }
  return { path: (name: string): string => join(root, name), pack }
}

const lines = (entries: readonly TarEntry[]): string[] =>
  entries.map(({ name, type, mode, linkName }) => `${name} ${type} ${mode.toString(8)} ${linkName}`.trim())

test('changes of an overlay become whiteouts and opaque folders of OCI', { skip }, async (t) => {
  const { path, pack } = setUp(t)
  const { makeNode, setAttribute } = linuxCalls()
  for (const name of ['opaque', 'plain']) mkdirSync(path(name))
  setAttribute(path('opaque'), 'trusted.overlay.opaque', Buffer.from('y'))
  setAttribute(path('plain'), 'trusted.overlay.origin', Buffer.from('x'))
  setAttribute(path('plain'), 'user.own', Buffer.from([0xff, 0]))
  makeNode(path('plain/gone'), 0o020000, 0, 0)
  makeNode(path('null'), 0o020666, 1, 3)
  writeFileSync(path('opaque/new'), 'new')
  const entries = await pack({ isOverlay: true })
  assert.deepEqual(lines(entries), [
    'null character 644',
    'opaque/ directory 755',
    'opaque/.wh..wh..opq file 644',
    'opaque/new file 644',
    'plain/ directory 755',
    'plain/.wh.gone file 644',
  ])
  assert.deepEqual([...entries.find(({ name }) => name === 'plain/')!.xattrs], [['user.own', Buffer.from([0xff, 0])]])
  assert.deepEqual([entries[0]!.major, entries[0]!.minor], [1, 3])
})

test('names, links, modes and times of a folder', async (t) => {
  const { path, pack } = setUp(t)
  mkdirSync(path('d'))
  writeFileSync(path('d/b'), 'x')
  chmodSync(path('d/b'), 0o4755)
  linkSync(path('d/b'), path('d/a'))
  symlinkSync('b', path('d/link'))
  writeFileSync(path(`d/${'long'.repeat(40)}`), '')
  writeFileSync(Buffer.concat([Buffer.from(path('d/z')), Buffer.from([0xff])]), '')
  const socket = createServer().listen(path('d/socket'))
  await new Promise((resolve) => socket.once('listening', resolve))
  const entries = await pack({ isOverlay: false, latest: 5, change: (entry) => ({ ...entry, uid: 7 }) })
  await new Promise((resolve) => socket.close(resolve))
  assert.deepEqual(lines(entries), [
    'd/ directory 755',
    'd/a file 4755',
    'd/b hard-link 4755 d/a',
    'd/link symlink 777 b',
    `d/${'long'.repeat(40)} file 644`,
    'd/z\xff file 644',
  ])
  for (const { mtime, uid } of entries) assert.deepEqual([mtime, uid], [5, 7])
})

test('a file whose name would delete another one is rejected', async (t) => {
  const { path, pack } = setUp(t)
  writeFileSync(path('.wh.x'), '')
  await assert.rejects(pack({ isOverlay: false }), /names that begin with \.wh\. delete files there/)
})
