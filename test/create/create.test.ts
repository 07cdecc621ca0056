/** `npm init typernetes`: the project that it writes runs its test, and existing files stay as they are. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { repository, temporaryFolder } from '../up/t8s-process.ts'

const program = join(repository, 'create/create-typernetes.js')
const versionOf = (path: string): string =>
  (JSON.parse(readFileSync(join(repository, path), 'utf8')) as { readonly version: string }).version

function create(folder: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' })
  return { status, stdout, stderr }
}

const read = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8')

test('an empty folder becomes a project whose test passes', (t) => {
  const folder = temporaryFolder(t)
  const { status, stdout } = create(folder)
  assert.equal(status, 0)
  assert.match(
    stdout,
    /^wrote {3}package\.json\nwrote {3}test\/cluster\.test\.mjs\nwrote {3}\.github\/workflows\/test\.yml\n/,
  )
  assert.match(stdout, /npm install\n {2}npm test\n$/)
  // The version is one: that of the package.
  assert.equal(versionOf('create/package.json'), versionOf('package.json'))
  const { devDependencies } = JSON.parse(read(folder, 'package.json'))
  assert.deepEqual(devDependencies, { typernetes: `^${versionOf('package.json')}` })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(repository, join(folder, 'node_modules/typernetes'))
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  // npm of the machine, on the Node of this test.
  const env = { ...inherited, PATH: `${dirname(process.execPath)}:${inherited.PATH}` }
  const run = spawnSync('npm', ['test'], { cwd: folder, env, encoding: 'utf8', timeout: 60_000 })
  assert.equal(run.status, 0, run.stdout + run.stderr)
  assert.match(run.stdout, /pass 1\b/)

  writeFileSync(join(folder, 'test/cluster.test.mjs'), '// mine')
  assert.match(create(folder).stdout, /^kept {4}test\/cluster\.test\.mjs: it exists already$/m)
  assert.equal(read(folder, 'test/cluster.test.mjs'), '// mine')
})

test('the test is for the runner of the project', (t) => {
  const folder = temporaryFolder(t)
  const manifest = { name: 'mine', scripts: { test: 'jest --ci' }, devDependencies: { jest: '^30.0.0' } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  assert.match(create(folder).stdout, /^Jest runs this test if its testMatch includes \.mjs, with NODE_OPTIONS=/m)
  assert.match(read(folder, 'test/cluster.test.mjs'), /from '@jest\/globals'\n/)
  const { scripts, devDependencies } = JSON.parse(read(folder, 'package.json'))
  assert.deepEqual(scripts, manifest.scripts)
  assert.deepEqual(Object.keys(devDependencies), ['jest', 'typernetes'])
  assert.ok(!existsSync(join(folder, 'jest.config.json')))

  create(folder, 'vitest', '--runner', 'vitest')
  assert.match(read(folder, 'vitest/test/cluster.test.mjs'), /from 'vitest'\n/)
  assert.match(read(folder, 'vitest/package.json'), /"test": "vitest run"/)
  create(folder, 'jest', '--runner', 'jest')
  assert.match(read(folder, 'jest/package.json'), /"test": "node --experimental-vm-modules /)
  assert.ok(existsSync(join(folder, 'jest/jest.config.json')))
})

test('bad input gets a sentence and changes nothing', (t) => {
  const folder = temporaryFolder(t)
  assert.equal(
    create(folder, '--runner', 'mocha').stderr,
    'create-typernetes: --runner mocha is unknown: use node, vitest, jest\n',
  )
  writeFileSync(join(folder, 'package.json'), '{')
  assert.match(create(folder).stderr, /^create-typernetes: .*package\.json is not valid JSON: /)
  assert.ok(!existsSync(join(folder, 'test')))
  assert.match(create(folder, '--help').stdout, /^npm init typernetes /)
  assert.match(create(folder, '--runer', 'jest').stderr, /Unknown option '--runer'/)
})
