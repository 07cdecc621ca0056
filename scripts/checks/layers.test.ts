import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkFile, importsOf } from './layers.ts'

test('imports down the layers and within one are allowed', () => {
  assert.deepEqual(
    checkFile(
      'apiserver/chain/index.ts',
      "import { a } from './a.ts'\nimport { b } from '../../machinery/b.ts'\nimport fs from 'node:fs'\n",
    ),
    [],
  )
  assert.deepEqual(checkFile('cli/version.ts', "import p from '../../package.json' with { type: 'json' }\n"), [])
})

test('an import of a higher layer is reported with file and line, in any form', () => {
  const forms = [
    "import { x } from '../api/x.ts'",
    "import type { X } from '../api/x.ts'",
    "export * from '../api/x.ts'",
    "import '../api/x.ts'",
    "const x = await import('../api/x.ts')",
    "type X = import('../api/x.ts').X",
    "import {\n  x,\n} from '../api/x.ts'",
  ]
  for (const form of forms) {
    const [violation, ...others] = checkFile('machinery/y.ts', `// first\n${form}\n`)
    assert.match(violation ?? '', /^src\/machinery\/y\.ts:[24]: machinery may not import api/, form)
    assert.deepEqual(others, [], form)
  }
})

test('folders of apiserver/ import only folders below them', () => {
  const check = (file: string, specifier: string): string[] =>
    checkFile(file, `import type { X } from '${specifier}'\n`)
  assert.deepEqual(check('apiserver/chain/x.ts', '../http/exchange.ts'), [])
  assert.deepEqual(check('apiserver/http/x.test.ts', '../chain/x.ts'), [])
  assert.match(
    check('apiserver/http/x.ts', '../chain/x.ts')[0] ?? '',
    /^src\/apiserver\/http\/x\.ts:1: apiserver\/http may not import apiserver\/chain/,
  )
  assert.match(
    check('apiserver/new/x.ts', '../http/x.ts')[0] ?? '',
    /apiserver\/new has no place in the order of folders/,
  )
})

test('only tests and fixtures import tests and fixtures', () => {
  const source = "import { a } from './a.fixture.ts'\n"
  assert.deepEqual(checkFile('lib/x.test.ts', source), [])
  assert.deepEqual(checkFile('lib/x.fixture.ts', source), [])
  assert.deepEqual(checkFile('lib/x.ts', source), [
    'src/lib/x.ts:1: imports ./a.fixture.ts, which only tests may import',
  ])
})

test('imports in comments are ignored', () => {
  assert.deepEqual(importsOf("/**\n * import { x } from '../api/x.ts'\n */\n// import '../api/x.ts'\n"), [])
})

test('files and imports outside of all layers are reported', () => {
  assert.match(checkFile('loose.ts', '')[0] ?? '', /^src\/loose\.ts:1: is in no layer/)
  assert.match(checkFile('utils/x.ts', '')[0] ?? '', /is in no layer/)
  assert.match(
    checkFile('cli/x.ts', "import '../utils/y.ts'")[0] ?? '',
    /^src\/cli\/x\.ts:1: imports \.\.\/utils\/y\.ts, which is in no layer/,
  )
})
