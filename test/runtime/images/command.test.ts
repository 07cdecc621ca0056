/** `t8s image` as a user runs it. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { layerOf, writeFiles, writeImage } from '../../kubelet/support/oci-image.ts'

const run = promisify(execFile)
const launcher = join(import.meta.dirname, '../../../t8s')

function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-image-command-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const archive = join(folder, 'image.tar')
  writeImage(archive, ['registry.test/web:1'], [layerOf((root) => writeFiles(root, { file: 'text' }))], { User: '7' })
  const environment = (store: string) => ({ PATH: process.env.PATH, HOME: folder, T8S_IMAGE_ROOT: join(folder, store) })
  const image = async (store: string, ...args: readonly string[]): Promise<string> =>
    (await run(launcher, ['image', ...args], { env: environment(store) })).stdout
  return { folder, archive, image, environment }
}

test('images are imported, listed, exported and removed', async (t) => {
  const { folder, archive, image } = setUp(t)
  assert.match(await image('one', 'list'), /^There are no images in .*one: pull one with t8s image pull\.$/m)
  assert.equal(await image('one', 'import', archive), 'imported registry.test/web:1\n')
  assert.match(
    await image('one', 'list'),
    /^NAME +ID +PLATFORM +SIZE\nregistry\.test\/web:1 +[0-9a-f]{12} +linux\/\w+ +\d+ B/,
  )
  const copy = join(folder, 'copy.tar')
  await image('one', 'export', 'registry.test/web:1', '-o', copy)
  assert.ok(!existsSync(`${copy}.unfinished`))
  assert.equal(await image('two', 'import', copy), 'imported registry.test/web:1\n')
  assert.equal(await image('two', 'list', '-o', 'name'), 'registry.test/web:1\n')
  assert.match(
    await image('two', 'remove', 'registry.test/web:1'),
    /^removed registry\.test\/web:1, [\d.]+ k?B are free$/m,
  )
  assert.equal(await image('two', 'list', '-o', 'json'), '[]\n')
})

test('a served image is pulled by another store', async (t) => {
  const { archive, image, environment } = setUp(t)
  await image('one', 'import', archive)
  const server = spawn(launcher, ['image', 'serve', '--port', '0'], {
    env: environment('one'),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => server.kill())
  const [line] = (await once(server.stdout, 'data')) as [Buffer]
  const host = /http:\/\/(127\.0\.0\.1:\d+)/.exec(line.toString())?.[1]
  assert.match(await image('two', 'pull', `${host}/web:1`), new RegExp(`^${host}/web@sha256:[0-9a-f]{64}\n$`))
  assert.match(
    await image('two', 'pull', '--quiet', '--mirror', `registry.test=http://${host}`, 'registry.test/web:1'),
    /^sha256:[0-9a-f]{64}\n$/,
  )
  const exited = once(server, 'exit')
  server.kill('SIGTERM')
  assert.deepEqual(await exited, [0, null])
})

test('errors say what is wrong', async (t) => {
  const { folder, archive, image } = setUp(t)
  await assert.rejects(image('one', 'pull', '127.0.0.1:1/web'), /failed to do request: Get .*: connect ECONNREFUSED/)
  await assert.rejects(image('one', 'remove', 'web'), /web: not found/)
  await assert.rejects(image('one', 'import', join(folder, 'missing')), /missing does not exist/)
  await assert.rejects(image('one', 'import', '--platform', 'a b', archive), /is not a platform such as linux\/arm64/)
  await assert.rejects(image('one', 'import', join(launcher)), /the archive is damaged|no archive of images/)
})
