import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testsAffectedBy, testsOf } from './selection.ts'

const sources = {
  'src/a/store.ts': '',
  'src/a/store.test.ts': "import './store.ts'\n",
  'src/b/server.ts': "import './loop.ts'\nimport { type Store } from '../a/store.ts'\n",
  'src/b/loop.ts': "import './server.ts'\n",
  'src/b/cycle.test.ts': "import './loop.ts'\n",
  'src/b/server.test.ts': "import './server.ts'\n",
  'src/c/words.test.ts': '',
}
const tests = Object.keys(sources).filter((file) => file.endsWith('.test.ts'))

function project(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 't8s-selection-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [file, text] of Object.entries(sources)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  return root
}

test('a path is a test, a source file with a test, or a folder', (t) => {
  const root = project(t)
  assert.deepEqual(testsOf(['src/a/store.test.ts'], tests, root), ['src/a/store.test.ts'])
  assert.deepEqual(testsOf(['src/b/server.ts', './src/c/'], tests, root), [
    'src/b/server.test.ts',
    'src/c/words.test.ts',
  ])
  assert.throws(() => testsOf(['src/b/loop.ts'], tests, root), /^Error: src\/b\/loop\.ts has no tests: name its folder/)
  assert.throws(() => testsOf(['unti'], tests, root), /^Error: there is no step and no file unti$/)
})

test('a change chooses the tests that import it, through other files too', (t) => {
  const root = project(t)
  const ofServer = ['src/b/cycle.test.ts', 'src/b/server.test.ts']
  assert.deepEqual(testsAffectedBy(['src/a/store.ts'], tests, root), ['src/a/store.test.ts', ...ofServer])
  assert.deepEqual(testsAffectedBy(['src/b/loop.ts'], tests, root), ofServer)
  assert.deepEqual(testsAffectedBy(['src/c/words.test.ts', 'README.md'], tests, root), ['src/c/words.test.ts'])
})
