/**
 * A reporter for node:test without output for passed tests: failures with location and cause, skips with their reason,
 * and a count.
 */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

/** Ends with `N passed, N failed`, and the number of skipped tests if there are any. */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for await (const event of source) {
    if (event.type === 'test:stderr' || event.type === 'test:stdout') yield event.data.message
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { name, file = '', line, skip, details } = event.data
    const place = `${relative(process.cwd(), file)}${line ? `:${line}` : ''}`
    if (skip !== undefined) {
      counts.skipped++
      yield `skipped: ${name} (${place})${typeof skip === 'string' && skip !== '' ? `: ${skip}` : ''}\n`
      continue
    }
    if (event.type === 'test:pass') {
      // A suite only summarises its tests, which are counted individually.
      if (details.type !== 'suite') counts.passed++
      continue
    }
    const { error } = event.data.details
    if ('failureType' in error && error.failureType === 'subtestsFailed') continue
    counts.failed++
    yield `failed: ${name} (${place})\n${indent(inspect(error.cause ?? error))}\n`
  }
  yield `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}\n`
}

const indent = (text: string): string => text.replace(/^/gm, '  ')
