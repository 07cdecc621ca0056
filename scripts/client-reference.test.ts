import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { documentedOf, reference } from './client-reference.ts'

const index = join(dirname(import.meta.dirname), 'src/client/index.ts')

test('functions and classes of the client say what they are for', () => {
  const silent = documentedOf(index).filter(
    ({ comment, declaration }) => /^export (async )?(function|class)/.test(declaration) && comment === '',
  )
  assert.deepEqual(
    silent.map(({ name }) => name),
    [],
  )
})

test('the reference shows signatures without bodies, members with their comments, and the kinds', () => {
  const all = new Map(documentedOf(index).map((one) => [one.name, one]))
  assert.match(all.get('connectTo')?.declaration ?? '', /^export async function connectTo\([^)]*\): Promise<Client>$/)
  assert.match(
    all.get('WorkQueue')?.declaration ?? '',
    /\/\*\* Adds it `ms` from now.*\n {2}addAfter\(key: string, ms: number, [^\n]*\): void\n/,
  )
  assert.doesNotMatch(all.get('WorkQueue')?.declaration ?? '', /#/)
  assert.match(all.get('ManagerOptions')?.declaration ?? '', /^export interface ManagerOptions \{[\s\S]*\}$/)
  assert.match(reference(), /### controller\n\nA controller for `manager`/)
  assert.match(reference(), /`pods`/)
})
