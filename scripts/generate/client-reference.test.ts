import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { documentedOf, reference } from './client-reference.ts'

const index = join(import.meta.dirname, '../../src/client/index.ts')

test('functions and classes of the client have a doc comment with an example', () => {
  const undocumented = documentedOf(index).filter(
    ({ comment, declaration }) =>
      /^export (async )?(function|class|const)/.test(declaration) && !/^[A-Z][\s\S]*@example/.test(comment),
  )
  assert.deepEqual(
    undocumented.map(({ name }) => name),
    [],
  )
})

test('the reference shows signatures without bodies, members with their comments, and the kinds', () => {
  const all = new Map(documentedOf(index).map((one) => [one.name, one]))
  assert.match(all.get('connectTo')?.declaration ?? '', /^export async function connectTo\([^)]*\): Promise<Client>$/)
  assert.match(
    all.get('WorkQueue')?.declaration ?? '',
    /\/\*\* Adds a key after `ms`.*\n {2}addAfter\(key: string, ms: number, [^\n]*\): void\n/,
  )
  assert.doesNotMatch(all.get('WorkQueue')?.declaration ?? '', /#/)
  assert.match(all.get('ManagerOptions')?.declaration ?? '', /^export interface ManagerOptions \{[\s\S]*\}$/)
  assert.match(
    reference(),
    /### controller\n\nDefines a controller, for `manager` or `runController`.\n\n```ts\n\/\/ Example\ncontroller\(/,
  )
  assert.match(reference(), /`pods`/)
})
