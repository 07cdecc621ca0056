import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from '../../lib/clock/clock.ts'
import { MovableClock } from '../../lib/clock/movable-clock.ts'
import { Alarms } from './alarms.ts'

test('alarms ring once in the order of their times; a reset alarm rings at its new time', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 })
  const rung: string[] = []
  const alarms = new Alarms<string>((key) => rung.push(`${key}@${Date.now()}`))
  for (const [key, at] of [
    ['c', 300],
    ['a', 100],
    ['b', 200],
    ['d', 150],
  ] as const)
    alarms.set(key, at)
  alarms.set('a', 250)
  alarms.clear('d')
  for (let i = 0; i < 40; i++) t.mock.timers.tick(10)
  assert.deepEqual(rung, ['b@200', 'a@250', 'c@300'])
  alarms.set('past', 5)
  t.mock.timers.tick(1)
  assert.equal(rung.at(-1), 'past@401')
  alarms.set('never', 500)
  alarms.stop()
  t.mock.timers.tick(1000)
  assert.equal(rung.length, 4)
})

test('alarms follow a paused clock; one that is set again for its time does not ring forever', async (t) => {
  const clock = new MovableClock()
  clock.move(0, 0)
  t.after(() => clock.stop())
  const rung: string[] = []
  const due = clock.now() + 10
  const alarms = new Alarms<string>((key) => {
    rung.push(key)
    if (clock.now() < due) alarms.set(key, due)
  }, clock)
  t.after(() => alarms.stop())
  alarms.set('nine', due - 1)
  alarms.setAfter('now', 0)
  await sleep(clock, 0)
  await sleep(clock, 0)
  assert.deepEqual(rung, ['now'])
  const moved = sleep(clock, 8)
  clock.move(8, 0)
  await moved
  assert.deepEqual(rung, ['now'])
  const rest = sleep(clock, 3)
  clock.move(3, 0)
  await rest
  assert.deepEqual(rung, ['now', 'nine', 'now'])
})
