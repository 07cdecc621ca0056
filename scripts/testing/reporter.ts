/**
 * A reporter for node:test without output for passed tests: failures with location and cause, skips with their reason,
 * progress and the slowest files of a long run, and a count.
 */
import { relative, resolve } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import { endLeftovers } from './leftovers.ts'

/** Each of them prints a line of progress. */
const progressFiles = 100
/** A file that takes longer is named. */
const longMs = 240_000

/** Ends with `N passed, N failed`, and the number of skipped tests if there are any. */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const files: FileDuration[] = []
  const running = new RunningFiles()
  for await (const event of source) {
    if (event.type === 'test:stderr' || event.type === 'test:stdout') yield event.data.message
    if (event.type === 'test:dequeue') running.begin(event.data.name)
    if (event.type === 'test:complete') running.end(event.data.name)
    if (event.type === 'test:summary' && event.data.file !== undefined) {
      files.push({ file: relative(process.cwd(), event.data.file), seconds: event.data.duration_ms / 1000 })
      if (files.length % progressFiles === 0) yield `${files.length} files: ${counts.passed} passed so far\n`
    }
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
  if (files.length > progressFiles) yield slowest(files)
  yield `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}\n`
}

/** The files that run at present. Names those that take long on standard error: one that hangs shows nothing else. */
class RunningFiles {
  readonly #since = new Map<string, number>()

  constructor() {
    setInterval(() => this.#report(), longMs / 4).unref()
  }

  /** Tests have other names than files. */
  begin(name: string): void {
    if (name.endsWith('.test.ts')) this.#since.set(name, Date.now())
  }

  /** A file that was stopped after its time may have left processes, which the runner would wait for. */
  end(name: string): void {
    if (!this.#since.delete(name)) return
    for (const command of endLeftovers(resolve(name)))
      process.stderr.write(`left running by ${name}, and ended: ${command}\n`)
  }

  #report(): void {
    for (const [name, since] of this.#since) {
      if (Date.now() - since < longMs) continue
      this.#since.set(name, Date.now())
      process.stderr.write(`${name} has been running for ${longMs / 60_000} more minutes\n`)
    }
  }
}

interface FileDuration {
  readonly file: string
  readonly seconds: number
}

/** The twenty files that took longest. */
function slowest(files: readonly FileDuration[]): string {
  const first = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, 20)
  return `slowest: ${first.map(({ file, seconds }) => `${file} ${Math.round(seconds)} s`).join(', ')}\n`
}

const indent = (text: string): string => text.replace(/^/gm, '  ')
