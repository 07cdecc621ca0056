import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

const skip = process.platform !== 'linux' && 'it reads /proc'

/** Runs files of tests, which are given by the body of their only test. */
function run(t: TestContext, ...bodies: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-left-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const files = bodies.map((body, i) => {
    const name = `${i}.test.ts`
    const imports = "import { spawn } from 'node:child_process'\nimport { test } from 'node:test'\n"
    writeFileSync(join(folder, name), `${imports}test('number ${i}', () => { ${body} })\n`)
    return name
  })
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return spawnSync(
    process.execPath,
    ['--import', join(import.meta.dirname, 'mark-processes.ts'), '--test', '--test-reporter=tap', ...files],
    { cwd: folder, env: { ...env, T8S_TEST_END_MS: '200' }, encoding: 'utf8', timeout: 50_000 },
  )
}

test('a process that a file of tests leaves is ended and named, and does not hold up the runner', { skip }, (t) => {
  const { status, stdout } = run(t, '', "spawn('sleep', ['61'], { stdio: 'inherit', detached: true }).unref()")
  assert.equal(status, 0, stdout)
  assert.match(stdout, /left running by 1\.test\.ts, and ended: sleep 61/)
})

test('a file that does not end after its tests is ended, and its results are reported', (t) => {
  const { status, stdout } = run(t, '', "setInterval(() => {}, 1000); throw new Error('the reason')")
  assert.equal(status, 1)
  assert.match(stdout, /the tests of 1\.test\.ts are done, but not its process: .*Timeout/)
  assert.match(stdout, /not ok 2 - number 1\n[\s\S]*error: 'the reason'/)
})
