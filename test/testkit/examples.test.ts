/** Runs the examples of `examples/testing/`, and compares docs/testing.md with them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

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
