import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Choice, lines, newChoice, press } from './choice.ts'
import { table } from './table.ts'

const items = ['dev', 'prod-eu', 'prod-us'].map((name) => ({ name, note: `https://${name}` }))

/** The choice after keys were pressed; single letters are typed. */
function after(choice: Choice, ...keys: readonly string[]): Choice | string {
  let current = choice
  for (const key of keys) {
    const decision = press(current, { name: key, text: key.length === 1 ? key : '', ctrl: false })
    if (decision.is !== 'open') return decision.is === 'chosen' ? decision.name : 'cancelled'
    current = decision.choice
  }
  return current
}

test('arrows wrap around, Return chooses', () => {
  const choice = newChoice(items, 'prod-eu')
  assert.equal(after(choice, 'return'), 'prod-eu')
  assert.equal(after(choice, 'down', 'return'), 'prod-us')
  assert.equal(after(choice, 'down', 'down', 'return'), 'dev')
  assert.equal(after(choice, 'up', 'up', 'return'), 'prod-us')
  assert.equal(after(choice, 'end', 'home', 'return'), 'dev')
})

test('typing filters, Backspace deletes, and Return chooses nothing if no item matches', () => {
  const choice = newChoice(items)
  assert.equal(after(choice, 'p', 'r', 'return'), 'prod-eu')
  assert.equal(after(choice, 'u', 's', ' ', 'p', 'return'), 'prod-us')
  assert.equal(typeof after(choice, 'x', 'return'), 'object')
  assert.equal(after(choice, 'x', 'backspace', 'return'), 'dev')
})

test('Escape and Ctrl-C cancel', () => {
  assert.equal(after(newChoice(items), 'down', 'escape'), 'cancelled')
  assert.equal(press(newChoice(items), { name: 'c', text: '', ctrl: true }).is, 'cancelled')
})

test('the list fits the terminal and contains the selected line', () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ name: `c${index}`, note: 'x'.repeat(200) }))
  const shown = lines('Which?', newChoice(many, 'c50'), 12, 40)
  assert.equal(shown.length, 12)
  assert.ok(shown.some((line) => line.startsWith('> c50')))
  assert.ok(shown.every((line) => line.length < 40))
  assert.equal(lines('Which?', newChoice([]), 12, 40)[1], '  no match: Backspace deletes letters'.slice(0, 39))
})

test('columns of a table are as wide as their cells', () => {
  assert.deepEqual(
    table(
      ['A', 'LONG', 'C'],
      [
        ['abc', '', 'x'],
        ['', 'y', ''],
      ],
    ),
    ['A     LONG   C', 'abc          x', '      y'],
  )
})
