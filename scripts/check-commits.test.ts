import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subjectFault } from './check-commits.ts'

test('a subject is an area and an imperative sentence', () => {
  for (const subject of [
    'storage: sync the log before a commit is answered',
    'cel, machinery: embed the schema',
    'test/up: wait for the port',
  ])
    assert.equal(subjectFault(subject), undefined, subject)
})

test('a subject with another form is a fault', () => {
  assert.match(subjectFault('Mend the log') ?? '', /is not of the form/)
  assert.match(subjectFault('Storage: mend the log') ?? '', /is not of the form/)
  assert.match(subjectFault('storage: added a test') ?? '', /begins with "added"/)
  assert.match(subjectFault('storage: adding a test') ?? '', /use the imperative/)
  assert.match(subjectFault('storage: add a test.') ?? '', /full stop/)
  assert.match(subjectFault(`storage: ${'x'.repeat(70)}`) ?? '', /79 characters, 7 too many/)
})
