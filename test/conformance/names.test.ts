/** Every conformance test of upstream about scheduling has one of ours, named after it. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fromYaml } from '../../src/machinery/yaml.ts'

const root = join(import.meta.dirname, '../..')
const list = join(root, '../shared/data/conformance-1.36.yaml')

interface Described {
  readonly codename: string
  readonly file: string
}

const words = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** A title, which may be a sum of strings if it is long. */
const titles = /^test\(\s*'\[Conformance\] ((?:[^']|' \+\s+')+)'/gm

test('conformance tests of scheduling each have a test of their name', {
  skip: !existsSync(list) && `${list} is not there`,
}, () => {
  const described = (fromYaml(readFileSync(list, 'utf8')) as Described[]).filter(({ file }) =>
    file.startsWith('test/e2e/scheduling/'),
  )
  const ours = globSync('test/**/*.test.ts', { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(titles)].map(([, name = '']) =>
      words(name.replace(/' \+\s+'/g, '')),
    ),
  )
  assert.ok(described.length > 0)
  const missing = described
    .map(({ codename }) => words(codename.replace('[Conformance]', '')))
    .filter((name) => !ours.some((own) => name.endsWith(own)))
  assert.deepEqual(missing, [])
})
