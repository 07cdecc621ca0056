import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { readModule } from './module-graph.ts'
import { prune } from './prune.ts'

const files = {
  'index.d.ts': "export * from './all.js'\nexport { B as Other } from './b.js'\n",
  'all.d.ts':
    "import type { Duplex } from 'node:stream'\nimport { B } from './b.js'\n" +
    '/** A. */\nexport interface A {\n  b: B\n}\n',
  'b.d.ts':
    "import { Unused } from './unused.js'\ninterface Hidden {\n  unused: number\n}\n" +
    "export type B = Hidden | import('./c.js').C\n" +
    'export declare const d: Unused\n',
  'c.d.ts': 'export interface C {\n}\nexport declare function f(c: C): void\n',
  'unused.d.ts': 'export interface Unused {\n}\n',
}

test('declarations that no entry needs are left out, with their imports and files', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-declarations-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const resolve = (from: string, source: string): string | undefined =>
    source.startsWith('.') ? join(dirname(from), source.replace(/\.js$/, '.d.ts')) : undefined
  const texts = prune({ read: (file) => readModule(file), resolve, place: (file) => basename(file) }, [
    join(folder, 'index.d.ts'),
  ])
  assert.deepEqual(Object.fromEntries(texts), {
    'index.d.ts': "export { B as Other } from './b.js'\nexport { A } from './all.js'\nexport {  }\n",
    'all.d.ts': "import { B } from './b.js'\n/** A. */\nexport interface A {\n  b: B\n}\nexport {  }\n",
    'b.d.ts':
      "interface Hidden {\n  unused: number\n}\nexport type B = Hidden | import('./c.js').C\nexport { Hidden }\n",
    'c.d.ts': 'export interface C {\n}\nexport {  }\n',
  })
})
