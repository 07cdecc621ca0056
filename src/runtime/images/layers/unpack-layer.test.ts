import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { unpackLayer } from './unpack-layer.ts'

const skip = process.geteuid?.() === 0 ? false : 'needs root'
const limits = { maxBytes: 1e9, maxEntries: 1e5 }

/** A folder with `source/`, and an unpacker of its archive into `root/`. */
function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-unpack-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [source, root, blob] = ['source', 'root', 'blob'].map((name) => join(folder, name)) as [string, string, string]
  for (const path of [source, root]) mkdirSync(path)
  const sh = (script: string, cwd = source): string => execFileSync('sh', ['-ec', script], { cwd, encoding: 'utf8' })
  const unpack = (archive: Buffer, compress: (archive: Buffer) => Buffer = (same) => same) => {
    writeFileSync(blob, compress(archive))
    const diffId = `sha256:${createHash('sha256').update(archive).digest('hex')}`
    return unpackLayer({ blob, diffId, root, lower: [], format: 'overlay', limits, isRoot: true })
  }
  const tar = (...args: string[]): Buffer =>
    execFileSync('tar', [...args, '-cf', '-', '.'], { cwd: source, maxBuffer: 1 << 28 })
  return { source, root, sh, tar, unpack }
}

/** All that `find` and `getfattr` know of a tree. */
const listing = `
  find . -mindepth 1 -printf '%P %y %m %U %G %n %l %T@ ' \\( -type d -printf '\\n' -o -printf '%s\\n' \\) | sort
  find . -mindepth 1 -print0 | sort -z | xargs -0 getfattr -h -d -m - 2>/dev/null || true
  find . -type f -print0 | sort -z | xargs -0 sha256sum`

const files = `
  umask 022; mkdir -p a/b sticky; echo text > a/file; ln a/file a/hard; ln -s ../b a/link; ln -s /etc/passwd absolute
  head -c 100000 /dev/urandom > a/large; chmod 4755 a/large; chmod 1777 sticky; chmod 0 a/b
  chown -h 12:34 a/link a/file; mkfifo fifo; touch -d '2001-02-03 04:05:06.789' a/file
  n=$(printf 'x%.0s' $(seq 120)); mkdir -p $n/$n; echo deep > $n/$n/$n; ln -s $n/$n/$n longlink; ln $n/$n/$n hardlong
  printf bytes > "$(printf 'latin\\351')"; printf utf > 'ütf'; : > empty
  truncate -s 5M sparse; printf end >> sparse; printf mid | dd of=sparse bs=1 seek=1000000 conv=notrunc 2>/dev/null
  for i in $(seq 0 30); do printf x | dd of=holes bs=1 seek=$((i * 100000)) conv=notrunc 2>/dev/null; done`

for (const format of [
  ['--format=gnu', '-S'],
  ['--format=pax', '-S'],
  ['--format=pax', '-S', '--sparse-version=0.0'],
  ['--format=pax', '-S', '--sparse-version=0.1'],
])
  test(`an unpacked archive of tar ${format.join(' ')} is equal to what tar extracts`, { skip }, async (t) => {
    const { source, root, sh, tar, unpack } = setUp(t)
    sh(files)
    // Old formats know neither attributes nor parts of seconds.
    const isPax = format.includes('--format=pax')
    if (isPax) sh('setcap cap_net_raw,cap_setuid,cap_sys_chroot=ep a/large; setfattr -n user.x -v "a=b" a/large')
    else sh('find . -exec touch -h -d 2001-02-03 {} +')
    await unpack(tar(...format, ...(isPax ? ['--xattrs', '--xattrs-include=*'] : [])), gzipSync)
    assert.equal(sh(listing, root), sh(listing, source))
  })

for (const [name, compress] of [
  ['gzip', gzipSync],
  ['zstd', (bytes: Buffer) => zstdCompressSync(bytes)],
  ['no', (bytes: Buffer) => bytes],
  [
    'gzip in two members',
    (bytes: Buffer) => Buffer.concat([gzipSync(bytes.subarray(0, 700)), gzipSync(bytes.subarray(700))]),
  ],
] as const)
  test(`a layer with ${name} compression is unpacked`, { skip }, async (t) => {
    const { root, sh, tar, unpack } = setUp(t)
    sh('echo text > file')
    await unpack(tar(), compress)
    assert.equal(readFileSync(join(root, 'file'), 'utf8'), 'text\n')
  })

test('devices have their numbers', { skip }, async (t) => {
  const { root, sh, tar, unpack } = setUp(t)
  sh('mknod tty c 4 64; mknod disk b 259 70000; chmod 640 tty')
  await unpack(tar())
  const list = "stat -c '%n %F %t:%T %a' disk tty"
  assert.equal(sh(list, root), sh(list))
})

test('an archive with another digest, a cut one and a damaged one are errors', { skip }, async (t) => {
  const { root, sh, tar, unpack } = setUp(t)
  sh('head -c 100000 /dev/urandom > file')
  const archive = tar()
  const wrong = { code: 'FailedPrecondition' }
  await assert.rejects(
    unpack(archive, () => gzipSync(Buffer.concat([archive, Buffer.alloc(512)]))),
    /wrong diff id/,
  )
  await assert.rejects(unpack(archive.subarray(0, 50_000)), { ...wrong, message: 'the archive ends too early' })
  await assert.rejects(
    unpack(archive, (bytes) => gzipSync(bytes).subarray(0, 5000)),
    { ...wrong, message: /damaged/ },
  )
  archive[3] = 1
  await assert.rejects(unpack(archive), { ...wrong, message: /wrong checksum/ })
  assert.ok(root)
})
