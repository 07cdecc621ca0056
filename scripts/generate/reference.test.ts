import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Documented, documentedOf } from './reference/documented.ts'
import { entryPoints, referencePages } from './reference.ts'

const entries = entryPoints().map(({ module, index, listed }) => ({
  module,
  names: documentedOf(index).filter(({ file }) => file !== listed),
}))
const pages = referencePages()
const namesOf = (module: string): ReadonlyMap<string, Documented> =>
  new Map(entries.find((one) => one.module === module)!.names.map((one) => [one.name, one]))

test('each export of each entry point has a doc comment and a declaration', () => {
  assert.deepEqual(
    entries.map(({ module }) => module),
    ['typernetes', 'typernetes/client', 'typernetes/scheduler', 'typernetes/testing', 'typernetes/test'],
  )
  const undocumented = entries.flatMap(({ module, names }) =>
    names
      .filter(({ comment, declaration }) => !/^\S/.test(comment) || declaration === '')
      .map(({ name }) => `${module}: ${name}`),
  )
  assert.deepEqual(undocumented, [])
})

/** Small pure functions of plug-ins, and an error, say all with their comment. */
const needNoExample = ({ file }: Documented): boolean =>
  /\/(?:scheduler\/(?:framework|configuration)|lib)\//.test(file.slice(file.indexOf('/src/')))

test('functions and classes have an example', () => {
  const without = entries
    .flatMap(({ names }) => names)
    .filter((one) => /^export (async )?(function|class|const)/.test(one.declaration) && !needNoExample(one))
    .filter(({ comment }) => !comment.includes('@example'))
  assert.deepEqual(
    without.map(({ name }) => name),
    ['pluginRegistry'],
  )
})

test('the reference shows signatures without bodies, members with their comments, and the kinds', () => {
  const all = namesOf('typernetes/client')
  assert.match(all.get('connectTo')?.declaration ?? '', /^export async function connectTo\([^)]*\): Promise<Client>$/)
  assert.match(
    all.get('WorkQueue')?.declaration ?? '',
    /\/\*\* Adds a key after `ms`.*\n {2}addAfter\(key: string, ms: number, [^\n]*\): void\n/,
  )
  assert.doesNotMatch(all.get('WorkQueue')?.declaration ?? '', /#/)
  assert.match(all.get('ManagerOptions')?.declaration ?? '', /^export interface ManagerOptions \{[\s\S]*\}$/)
  assert.match(
    pages.get('typernetes-client.md')!,
    /## controller\n\nDefines a controller, for `manager` or `runController`.\n\n```ts\n\/\/ Example\ncontroller\(/,
  )
  assert.match(pages.get('typernetes-client.md')!, /^## Kinds\n\n[^\n]*`pods`/m)
})

test('names of exports of exports have the declaration of another file', () => {
  assert.match(
    namesOf('typernetes').get('startCluster')?.declaration ?? '',
    /^export (?:async )?function startCluster\(/,
  )
  assert.match(namesOf('typernetes').get('ClusterOptions')?.file ?? '', /src\/cluster\/cluster-options\.ts$/)
})

test('links of the pages lead to sections, pages and files', () => {
  const root = join(import.meta.dirname, '../..')
  let count = 0
  for (const [page, text] of pages)
    for (const [, path = '', anchor] of text.matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)/g)) {
      count += 1
      if (path.startsWith('../../../')) assert.ok(existsSync(join(root, path.slice(9))), `${page}: ${path}`)
      else assert.ok(pages.has(path || page), `${page}: ${path}`)
      if (anchor === undefined) continue
      const [, name = '', number = '0'] = /^(.+?)(?:-(\d+))?$/.exec(anchor)!
      const headings = pages.get(path || page)!.match(new RegExp(`^## ${name}$`, 'gim')) ?? []
      assert.ok(headings.length > Number(number), `${page}: #${anchor}`)
    }
  assert.ok(count > 500, `${count} links`)
})
