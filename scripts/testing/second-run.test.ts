import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failedFiles, secondRun } from './second-run.ts'
import { integrationTests, unitTests } from './steps.ts'

const report = `failed: pods start (test/up/pods.test.ts:12)
  AssertionError: 1 !== 2
      at test/up/other.test.ts:1
failed: tests of test/kubelet/exec.test.ts in namespaces of their own (test/kubelet/support/in-namespaces.ts:39)
failed: test/runtime/streams.test.ts passes with shell (test/runtime/support/tests-on-executor.ts:11)
failed: pods end (test/up/pods.test.ts:40)
10 passed, 4 failed`

test('each file with a failure runs once more, one after the other', () => {
  assert.deepEqual(failedFiles(report), [
    'test/up/pods.test.ts',
    'test/kubelet/exec.test.ts',
    'test/runtime/streams.test.ts',
  ])
  const step = secondRun(integrationTests([]), report)
  assert.equal(
    step?.name,
    'once more, alone: test/up/pods.test.ts, test/kubelet/exec.test.ts, test/runtime/streams.test.ts',
  )
  assert.ok(step?.command.includes('--alone'))
})

test('unit tests, many files and unknown files do not run once more', () => {
  assert.equal(secondRun(unitTests([])[0]!, report), undefined)
  assert.equal(secondRun(integrationTests([]), 'failed: a file (scripts/x.ts)\n'), undefined)
  const many = Array.from({ length: 9 }, (_, i) => `failed: a (test/${i}.test.ts:1)`).join('\n')
  assert.equal(secondRun(integrationTests([]), many), undefined)
})
