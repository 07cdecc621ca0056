import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type UnreadAnswer, UnreadAnswers } from './unread-answers.ts'

test('a response is cut off when none of it is read for the whole time', () => {
  const unread = new UnreadAnswers(100)
  const cut: string[] = []
  const answer = (name: string): UnreadAnswer & { unsent: number } => ({ unsent: 50, cut: () => cut.push(name) })
  const [stuck, slow, done] = [answer('stuck'), answer('slow'), answer('done')]
  for (const one of [stuck, slow, done]) unread.follow(one)
  unread.sweep(0)
  slow.unsent--
  unread.sweep(60)
  unread.forget(done)
  unread.sweep(120)
  assert.deepEqual(cut, ['stuck'])
  unread.forget(stuck)
  slow.unsent--
  unread.sweep(180)
  unread.sweep(240)
  assert.deepEqual(cut, ['stuck'])
})
