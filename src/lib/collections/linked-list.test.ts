import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Linked, LinkedList } from './linked-list.ts'

interface Named extends Linked<Named> {
  readonly name: string
}

test('the list keeps its order after removals, and clears the links of removed items', () => {
  const chain = new LinkedList<Named>()
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name): Named => ({ name })) as [Named, Named, Named, Named]
  const names = (): string => [...chain].map(({ name }) => name).join('')
  for (const one of [a, b, c, d]) chain.add(one)
  assert.equal(names(), 'abcd')
  chain.remove(b)
  chain.remove(b)
  assert.deepEqual([names(), chain.has(b), b.older, b.newer], ['acd', false, undefined, undefined])
  chain.remove(d)
  chain.add(b)
  assert.equal(names(), 'acb')
  for (const one of chain) chain.remove(one)
  assert.deepEqual([names(), chain.oldest], ['', undefined])
  chain.add(a)
  assert.equal(names(), 'a')
})
