import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { mergeChunks } from './merge-chunks.ts'

const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

/** A server that loads its parts on demand, and a command that shares a module with it. */
const sources = {
  'server.js':
    "export const parts = async () => [(await import('./one.js')).name, (await import('./two.js')).name, (await " +
    "import('./rare.js')).name]",
  'one.js':
    "import { word } from './word.js'; import { both } from './both.js'; export const name = ['one', word, " +
    "both.count++].join(' ')",
  'two.js':
    "import { word } from './word.js'; import { both } from './both.js'; export const name = ['two', word, " +
    "both.count++].join(' ')",
  'rare.js':
    "import { both } from './both.js'; export const name = ['rare', both.count++, require('node:path').sep].join(' ')",
  'both.js': 'export const both = { count: 1 }',
  'word.js': "export const word = 'part'",
  'command.js': "import { word } from './word.js'; export const value = word",
}

async function merged(
  t: TestContext,
  changed: Partial<typeof sources> = {},
): Promise<{ readonly directory: string; readonly files: Map<string, string> }> {
  const directory = mkdtempSync(join(tmpdir(), 't8s-chunks-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  for (const [name, text] of Object.entries({ ...sources, ...changed })) writeFileSync(join(directory, name), text)
  const { outputFiles, metafile } = await build({
    absWorkingDir: directory,
    entryPoints: ['server.js', 'command.js'],
    outdir: 'out',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    banner: { js: banner },
    write: false,
    metafile: true,
  })
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]))
  const files = await mergeChunks(
    { texts, metafile, banner },
    [{ sources: ['server.js', 'one.js', /^two/] }],
    [{ sources: ['command.js'] }],
  )
  mkdirSync(join(directory, 'merged'))
  for (const [name, text] of files) writeFileSync(join(directory, 'merged', name), text)
  return { directory: join(directory, 'merged'), files }
}

test('merged chunks behave as before, and every module is included once', async (t) => {
  const { directory } = await merged(t)
  const { parts } = await import(pathToFileURL(join(directory, 'server.js')).href)
  assert.deepEqual(await parts(), ['one part 1', 'two part 2', 'rare 3 /'])
  assert.equal((await import(pathToFileURL(join(directory, 'command.js')).href)).value, 'part')
})

test('the modules that a program always loads are one file, which others do not load', async (t) => {
  const { files } = await merged(t)
  const groups = [...files].filter(([name]) => name.startsWith('group'))
  const [own, shared] = groups
  assert.equal(groups.length, 2)
  for (const part of ['"one"', '"two"', 'count: 1']) assert.ok(own![1].includes(part), part)
  assert.ok(shared![1].includes('"part"'))
  assert.ok(files.get('command.js')!.includes(shared![0]))
  assert.ok(!files.get('command.js')!.includes(own![0]))
  // Members that are imported on demand have no files of their own.
  assert.deepEqual(
    [...files.keys()].filter((name) => /^(one|two)/.test(name)),
    [],
  )
  // Only files that use `require` define it.
  assert.ok(!own![1].includes('createRequire'))
})

test('file names change with their content or imports, and only then', async (t) => {
  const names = async (changed?: Partial<typeof sources>) => [...(await merged(t, changed)).files.keys()]
  const before = await names()
  assert.deepEqual(await names(), before)
  const after = await names({ 'rare.js': `${sources['rare.js']} + 1` })
  assert.deepEqual(
    after.filter((name) => !before.includes(name)).map((name) => name.split('-')[0]),
    ['rare'],
  )
  const word = await names({ 'word.js': "export const word = 'whole'" })
  assert.deepEqual(
    word.filter((name) => !before.includes(name)).map((name) => name.replace(/-[A-Z0-9]{8}\.js$/, '')),
    ['group-0', 'group-1', 'rare'],
  )
})

test('a program with an unknown entry is an error', async (t) => {
  const { files } = await merged(t)
  assert.ok(files.size > 0)
  const nothing = { texts: new Map(), metafile: { inputs: {}, outputs: {} }, banner }
  await assert.rejects(mergeChunks(nothing, [{ sources: ['absent.ts'] }], []), /absent\.ts is no entry/)
})
