/**
 * Runs files of integration tests in the order of the arguments, and prints a report: `integration.ts [--alone] FILE…`.
 * Each file has its own process. With `--alone`, only one runs at a time.
 */
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { run } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { setTimeout as delay } from 'node:timers/promises'
import report from './reporter.ts'
import { inTurns, type Limits, type Machine } from './turns.ts'

/** For one test, and for one file. In ms. */
const timeout = 600_000
const execArgv = ['--import', join(import.meta.dirname, 'mark-processes.ts')]

const machine: Machine = {
  idleMs: () => cpus().reduce((sum, { times }) => sum + times.idle, 0),
  now: () => performance.now(),
  wait: (ms) => delay(ms, undefined, { ref: false }),
}

const args = process.argv.slice(2)
const files = args.filter((arg) => arg !== '--alone')
const events = new PassThrough({ objectMode: true })

async function perform(file: string): Promise<void> {
  for await (const event of run({ files: [file], timeout, execArgv })) pass(event)
}

function pass(event: TestEvent): void {
  if (event.type === 'test:fail') process.exitCode = 1
  events.write(event)
}

/** Shows how much faster the tests could be on this machine if more of them ran at a time. */
function printIdleTime(startMs: number, idleMs: number): void {
  const share = (machine.idleMs() - idleMs) / ((machine.now() - startMs) * cpus().length)
  console.log(`processors were idle for ${Math.round(100 * share)} % of the time`)
}

const limits: Limits = args.length > files.length ? { always: 1, more: 0 } : { always: availableParallelism(), more: 2 }
const [startMs, idleMs] = [machine.now(), machine.idleMs()]
const done = inTurns(files, perform, limits, machine).finally(() => {
  if (files.length > limits.always) printIdleTime(startMs, idleMs)
  events.end()
})
for await (const text of report(events)) process.stdout.write(text)
await done
