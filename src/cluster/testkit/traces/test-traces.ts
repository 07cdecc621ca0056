/** Writes a trace for each test: begins it before the test, and writes or forgets it when the result is known. */
import { mkdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { Control } from '../control/control.ts'
import { ConsoleLines } from './console-lines.ts'
import type { TraceSettings } from './trace-option.ts'
import { describeTest, type TraceableTest, traceableTest, type VitestContext } from './traceable-test.ts'

/** Maximum length of the parts of file names. */
const maxNameLength = 80

export class TestTraces {
  readonly #control: Control
  readonly #settings: Required<TraceSettings>
  readonly #names = new Set<string>()
  /** Ends the trace of a test without a hook for its end. */
  #pending: (() => Promise<void>) | undefined

  constructor(control: Control, settings: Required<TraceSettings>) {
    this.#control = control
    this.#settings = settings
  }

  /** Begins the trace of a test. Does nothing if traces are off. */
  async begin(context: TraceableTest | VitestContext): Promise<void> {
    if (this.#settings.mode === 'off') return
    await this.endPending()
    const test = traceableTest(context)
    const trace = await this.#control.beginTrace()
    const lines = new ConsoleLines()
    let ended: Promise<void> | undefined
    const end = (): Promise<void> => (ended ??= this.#end(test, trace, lines.end()))
    if (test.after) test.after(end)
    else this.#pending = end
  }

  /** Ends the trace of a test that has no hook for its end. */
  async endPending(): Promise<void> {
    const end = this.#pending
    this.#pending = undefined
    await end?.()
  }

  /** A test does not fail because its trace cannot be written. */
  async #end(test: TraceableTest, trace: string, output: string): Promise<void> {
    try {
      if (this.#settings.mode === 'on' || test.passed !== true) await this.#write(test, trace, output)
      await this.#control.removeTrace(trace)
    } catch (error) {
      process.emitWarning(`the trace of the test "${test.name}" cannot be written: ${messageOf(error)}`)
    }
  }

  async #write(test: TraceableTest, trace: string, output: string): Promise<void> {
    const page = await this.#control.tracePage(trace, describeTest(test, output))
    const directory = resolve(this.#settings.directory)
    mkdirSync(directory, { recursive: true })
    const file = join(directory, this.#fileNameOf(test))
    writeFileAtomically(file, page, 0o600)
    process.stderr.write(`typernetes: trace of "${test.name}": ${file}\n`)
  }

  /** Later runs replace the file; tests of the same name have a number. */
  #fileNameOf({ name, fullName = name, filePath = '' }: TraceableTest): string {
    const parts = [basename(filePath).replace(/\.[cm]?[jt]sx?$/, ''), fullName]
    const stem = parts
      .map((part) => part.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, ''))
      .filter(Boolean)
      .map((part) => part.slice(0, maxNameLength))
      .join('-')
    for (let number = 1; ; number++) {
      const name = `${stem || 'test'}${number === 1 ? '' : `-${number}`}.html`
      if (this.#names.has(name)) continue
      this.#names.add(name)
      return name
    }
  }
}
