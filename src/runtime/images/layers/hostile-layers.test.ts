/** Layers made to write outside of their folder, to fill the disk, or to fool overlayfs. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { TarEntry } from '../tar/tar-entry.ts'
import { archiveEnd, encodeHeader, paddingAfter, plainEntry } from '../tar/tar-writer.ts'
import type { LayerFormat } from './layer-writer.ts'
import { unpackLayer } from './unpack-layer.ts'

const skip = process.geteuid?.() === 0 ? false : 'needs root'
const limits = { maxBytes: 1e6, maxEntries: 100 }

type Item = readonly [name: string, fields?: Partial<TarEntry>, content?: string]

const archiveOf = (items: readonly Item[]): Buffer =>
  Buffer.concat([
    ...items.flatMap(([name, fields, content = '']) => [
      encodeHeader(plainEntry(name, { ...fields, size: fields?.size ?? content.length })),
      Buffer.from(content),
      paddingAfter(content.length),
    ]),
    archiveEnd,
  ])

function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-hostile-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'secret'), 'secret')
  let count = 0
  /** Unpacks the next layer on top of the earlier ones, and returns its folder. */
  const lower: { path: string }[] = []
  const unpack = async (items: readonly Item[] | Buffer, format: LayerFormat = 'overlay', isRoot = true) => {
    const archive = Buffer.isBuffer(items) ? items : archiveOf(items)
    const root = join(folder, `layer${count++}`)
    mkdirSync(root)
    const blob = join(folder, 'blob')
    writeFileSync(blob, gzipSync(archive))
    const diffId = `sha256:${createHash('sha256').update(archive).digest('hex')}`
    await unpackLayer({ blob, diffId, root, lower: [...lower], format, limits, isRoot })
    lower.unshift({ path: root })
    return root
  }
  return { folder, unpack }
}

const symlink = (name: string, linkName: string): Item => [name, { type: 'symlink', linkName }]
const hardLink = (name: string, linkName: string): Item => [name, { type: 'hard-link', linkName }]
const folderEntry = (name: string): Item => [name, { type: 'directory' }]

for (const name of ['../secret', 'a/../../secret', '/../secret', './..'])
  test(`a file with the name ${name} is rejected`, { skip }, async (t) => {
    const { folder, unpack } = setUp(t)
    await assert.rejects(unpack([[name, {}, 'changed']]), {
      code: 'FailedPrecondition',
      message: /is outside of the layer/,
    })
    assert.equal(readFileSync(join(folder, 'secret'), 'utf8'), 'secret')
  })

test('an absolute name is below the root of the layer', { skip }, async (t) => {
  const root = await setUp(t).unpack([['/etc/a/../file', {}, 'text']])
  assert.equal(readFileSync(join(root, 'etc/file'), 'utf8'), 'text')
})

test('symbolic links lead nowhere outside of the layer', { skip }, async (t) => {
  const { folder, unpack } = setUp(t)
  const root = await unpack([
    symlink('up', '../../../../..'),
    symlink('absolute', folder),
    symlink('chain', 'up'),
    ['up/secret', {}, 'one'],
    ['absolute/secret', {}, 'two'],
    ['chain/other', {}, 'three'],
  ])
  assert.equal(readFileSync(join(folder, 'secret'), 'utf8'), 'secret')
  assert.equal(readFileSync(join(root, 'secret'), 'utf8'), 'one')
  assert.equal(readFileSync(join(root, folder, 'secret'), 'utf8'), 'two')
  assert.equal(readFileSync(join(root, 'other'), 'utf8'), 'three')
})

test('a file replaces a symbolic link instead of following it', { skip }, async (t) => {
  const { folder, unpack } = setUp(t)
  const root = await unpack([symlink('file', join(folder, 'secret')), ['file', { mode: 0o777 }, 'text']])
  assert.equal(readFileSync(join(root, 'file'), 'utf8'), 'text')
  assert.equal(readFileSync(join(folder, 'secret'), 'utf8'), 'secret')
})

test('a folder that becomes a symbolic link is not written through', { skip }, async (t) => {
  const { folder, unpack } = setUp(t)
  const root = await unpack([folderEntry('a'), ['a/x', {}, '1'], symlink('a', folder), ['a/secret', {}, 'changed']])
  assert.equal(readFileSync(join(folder, 'secret'), 'utf8'), 'secret')
  assert.equal(readlinkSync(join(root, 'a')), folder)
})

test('a loop of symbolic links is an error', { skip }, async (t) => {
  const loop = [symlink('a', 'b'), symlink('b', 'a'), ['a/file', {}, 'x']] as const
  await assert.rejects(setUp(t).unpack(loop), /is a loop of symbolic links/)
})

test('hard links out of the layer are rejected', { skip }, async (t) => {
  const { folder, unpack } = setUp(t)
  await assert.rejects(unpack([hardLink('file', '../secret')]), /is outside of the layer/)
  await assert.rejects(unpack([hardLink('file', join(folder, 'secret'))]), /which is missing/)
  await assert.rejects(unpack([symlink('up', folder), hardLink('file', 'up/secret')]), /which is missing/)
  await assert.rejects(unpack([hardLink('file', 'folder'), folderEntry('folder')]), /which is missing/)
})

test('a hard link to a symbolic link does not lead to its target', { skip }, async (t) => {
  const { folder, unpack } = setUp(t)
  const root = await unpack([
    symlink('link', join(folder, 'secret')),
    hardLink('hard', 'link'),
    ['hard', {}, 'changed'],
  ])
  assert.equal(readFileSync(join(folder, 'secret'), 'utf8'), 'secret')
  assert.equal(readFileSync(join(root, 'hard'), 'utf8'), 'changed')
})

test('a hard link to a file of a layer below copies it', { skip }, async (t) => {
  const { unpack } = setUp(t)
  const lower = await unpack([['bin/one', { mode: 0o4755, uid: 7 }, 'text']])
  const upper = await unpack([hardLink('bin/two', 'bin/one')])
  const [one, two, original] = [join(upper, 'bin/one'), join(upper, 'bin/two'), join(lower, 'bin/one')].map((path) =>
    lstatSync(path),
  )
  assert.equal(one!.ino, two!.ino)
  assert.notEqual(one!.ino, original!.ino)
  assert.deepEqual([two!.mode & 0o7777, two!.uid], [0o4755, 7])
})

test('folders that an archive leaves out have the attributes of the layer below', { skip }, async (t) => {
  const { unpack } = setUp(t)
  await unpack([
    ['tmp', { type: 'directory', mode: 0o1777, uid: 5 }],
    symlink('lib', 'usr/lib'),
    folderEntry('usr/lib'),
  ])
  const upper = await unpack([
    ['tmp/file', {}, 'x'],
    ['lib/file', {}, 'y'],
  ])
  const { mode, uid } = lstatSync(join(upper, 'tmp'))
  assert.deepEqual([mode & 0o7777, uid], [0o1777, 5])
  // A container sees the file through the link.
  assert.equal(readFileSync(join(upper, 'usr/lib/file'), 'utf8'), 'y')
  assert.ok(!existsSync(join(upper, 'lib')))
})

test('a bomb ends at the limit of bytes', { skip }, async (t) => {
  const { folder, unpack } = setUp(t)
  await assert.rejects(unpack([['file', {}, 'x'.repeat(2_000_000)]]), /the layer has more than 1000000 bytes/)
  // The header alone states that it is too large.
  await assert.rejects(unpack([['file', { size: 1e12 }]]), /the layer has more than 1000000 bytes/)
  // Bytes after the end of the archive are no files.
  await assert.rejects(unpack(Buffer.concat([archiveEnd, Buffer.alloc(20_000_000)])), /more than 1000000 bytes/)
  assert.ok(readdirSync(join(folder, 'layer0')).every((name) => lstatSync(join(folder, 'layer0', name)).size === 0))
})

test('a bomb ends at the limit of files', { skip }, async (t) => {
  const items = Array.from({ length: 101 }, (_, i): Item => [`file${i}`])
  await assert.rejects(setUp(t).unpack(items), /the layer has more than 100 files/)
})

test('whiteouts hide files and folders of layers below', { skip }, async (t) => {
  const { unpack } = setUp(t)
  const items: Item[] = [
    ['a/.wh.gone'],
    ['b/.wh..wh..opq'],
    ['b/new', {}, 'x'],
    ['c/.wh..wh.plnk'],
    ['d', {}, 'y'],
    ['.wh.d'],
  ]
  const root = await unpack(items)
  const { mode, rdev } = lstatSync(join(root, 'a/gone'))
  assert.deepEqual([mode & 0o170000, rdev], [0o020000, 0])
  const opaque = execFileSync('getfattr', ['-m', '-', '-d', 'b'], { cwd: root, encoding: 'utf8' })
  assert.match(opaque, /trusted\.overlay\.opaque="y"/)
  assert.deepEqual(readdirSync(join(root, 'b')), ['new'])
  assert.deepEqual(readdirSync(join(root, 'c')), [])
  assert.equal(readFileSync(join(root, 'd'), 'utf8'), 'y')
})

test('whiteouts in a copy delete what layers below have written', { skip }, async (t) => {
  const { unpack } = setUp(t)
  const root = await unpack([['a/one', {}, '1'], ['.wh.a'], ['a/.wh..wh..opq'], ['a/two', {}, '2']], 'copy')
  assert.deepEqual(readdirSync(join(root, 'a')).sort(), ['one', 'two'])
})

for (const name of ['.wh.', '.wh..', '.wh...'])
  test(`a whiteout with the name ${name} is rejected`, { skip }, async (t) => {
    await assert.rejects(setUp(t).unpack([[`a/${name}`]]), /hides no file/)
  })

test('attributes of overlayfs and security modules are ignored', { skip }, async (t) => {
  const names = ['trusted.overlay.redirect', 'user.overlay.opaque', 'security.selinux', 'security.ima', 'user.kept']
  const xattrs = new Map(names.map((name) => [name, Buffer.from('y')]))
  const root = await setUp(t).unpack([['file', { xattrs }, 'x']])
  const output = execFileSync('getfattr', ['-m', '-', '-d', 'file'], { cwd: root, encoding: 'utf8' })
  assert.equal(output.trim(), '# file: file\nuser.kept="y"')
})

test('without root there are no devices', { skip }, async (t) => {
  const root = await setUp(t).unpack(
    [
      ['disk', { type: 'block', major: 8 }],
      ['pipe', { type: 'fifo' }],
    ],
    'overlay',
    false,
  )
  assert.deepEqual(readdirSync(root), ['pipe'])
})

test('entries of unknown types and maps of sparse files that lie are rejected', { skip }, async (t) => {
  const { unpack } = setUp(t)
  const unknown = withFlag(encodeHeader(plainEntry('file')), 'Z')
  await assert.rejects(unpack(Buffer.concat([unknown, archiveEnd])), /unknown type "Z"/)
  const pax = 'GNU.sparse.map=0,512,100,512'
  const record = `${pax.length + 4} ${pax}\n`
  const meta = encodeHeader(plainEntry('x', { size: record.length }))
  const archive = Buffer.concat([
    withFlag(meta, 'x'),
    Buffer.from(record),
    paddingAfter(record.length),
    encodeHeader(plainEntry('f', { size: 1024 })),
    Buffer.alloc(1024),
    archiveEnd,
  ])
  await assert.rejects(unpack(archive), /the map of a sparse file is not valid/)
})

function withFlag(header: Buffer, flag: string): Buffer {
  const changed = Buffer.from(header)
  changed.write(flag, 156)
  changed.write('        ', 148)
  changed.write(
    `${changed
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  )
  return changed
}
