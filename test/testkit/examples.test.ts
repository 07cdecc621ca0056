/** Runs the examples of `examples/testing/`, and compares docs/testing.md with them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify, stripVTControlCharacters } from 'node:util'
import { assets } from '../envtest/control-plane.ts'
import { withoutGo } from '../panics/go-program.ts'
import { temporaryFolder } from '../up/t8s-process.ts'

const root = join(import.meta.dirname, '../..')
const examples = join(root, 'examples/testing')
const run = promisify(execFile)

/** The environment without that of this test, in which `node --test` would run nothing. */
const environment = (): NodeJS.ProcessEnv => ({ ...process.env, NODE_TEST_CONTEXT: undefined, T8S: join(root, 't8s') })

test('the example for node:test passes with the built package', async () => {
  const { stdout } = await run(process.execPath, ['--test', join(examples, 'node-test/cluster.test.ts')], {
    env: environment(),
  })
  assert.match(stdout, /pass 7\n.*fail 0\n/)
})

test('the example for pytest passes', async () => {
  const folder = join(examples, 'pytest')
  const { stdout } = await run('/usr/bin/python3', ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', folder], {
    cwd: folder,
    env: { ...environment(), PYTHONDONTWRITEBYTECODE: '1' },
  })
  assert.match(stdout, /4 passed/)
})

test('the example for Go passes with the programs of t8s envtest-assets', { skip: withoutGo }, async (t) => {
  const { directory, env } = assets(t, { T8S_ENVTEST_CONTROLLERS: 'namespace' })
  const { stdout } = await run('go', ['test', '-count=1', './...'], {
    cwd: join(examples, 'go'),
    env: {
      ...environment(),
      ...env,
      KUBEBUILDER_ASSETS: directory,
      GOCACHE: join(root, '.build/go-cache'),
      GOFLAGS: '-mod=mod',
      GOPROXY: 'off',
      GOTOOLCHAIN: 'local',
    },
  })
  assert.match(stdout, /^ok\s+example\.com\/cluster-tests/m)
})

/** Runners that are installed for this test: Vitest has 42 MB in 35 packages, Jest 54 MB in 278. */
const runners = [
  { name: 'Vitest', version: 'vitest@4', files: ['vitest/cluster.test.mjs'], passed: /Test Files {2}2 passed/ },
  { name: 'Jest', version: 'jest@30', files: ['jest/cluster.test.mjs'], passed: /Test Suites: 2 passed, 2 total/ },
]
for (const { name, version, files, passed } of runners)
  test(`the example for ${name}, and the project that npm init typernetes writes for it, pass`, async (t) => {
    const folder = temporaryFolder(t)
    const npm = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', version]
    // The Node of this test runs npm and the tests.
    const env = { ...environment(), PATH: `${dirname(process.execPath)}:${process.env.PATH}`, CI: 'true' }
    writeFileSync(join(folder, 'package.json'), '{ "name": "project", "private": true, "type": "module" }\n')
    await run('npm', npm, { cwd: folder, env })
    symlinkSync(root, join(folder, 'node_modules/typernetes'))
    for (const file of [...files, 'node-test/web.yaml']) cpSync(join(examples, file), join(folder, 'examples', file))
    await run(process.execPath, [join(root, 'create/create-typernetes.js'), '.'], { cwd: folder, env })
    const { stdout, stderr } = await run('npm', ['test'], { cwd: folder, env })
    assert.match(stripVTControlCharacters(stdout + stderr), passed)
  })

/** Lines without their indentation, since excerpts have less of it. */
const flat = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')

test('every block of code in docs/testing.md is an excerpt of an example that runs', () => {
  const documentation = readFileSync(join(root, 'docs/testing.md'), 'utf8')
  const sources = ['node-test/cluster.test.ts', 'pytest/conftest.py', 'pytest/test_cluster.py'].map((file) =>
    flat(readFileSync(join(examples, file), 'utf8')),
  )
  const blocks = [...documentation.matchAll(/^```(?:ts|python)\n(.*?)^```/gms)].map(([, block = '']) => block)
  assert.ok(blocks.length >= 8)
  for (const block of blocks)
    assert.ok(
      sources.some((source) => source.includes(flat(block))),
      block,
    )
})
