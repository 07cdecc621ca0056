/** Finds crashes of Go programs in a log, line by line. Lines that are not part of a crash are skipped. */
import type { LoggedStack, LogReader } from '../log/log-lines.ts'
import { type Crash, type CrashKind, newCrash, type SignalFacts } from './crash.ts'
import { type Frame, FrameMaker } from './frame.ts'
import { type Goroutine, goroutineHeading, type Heading } from './goroutine.ts'
import { RaceReader } from './race-reader.ts'

/** Maximum lines of a panic message; more are the output of another program. */
const maxReasonLines = 200
/** Maximum lines of other programs between two goroutines of one dump. */
const maxGapLines = 50
/** Maximum frames of all crashes that are stored; further goroutines are only counted. */
const maxFrames = 2_000_000

const starts = new RegExp(
  '^(?:panic: |fatal error: |fatal: morestack|unexpected fault address |runtime: |SIG[A-Z0-9]+: |' +
    String.raw`WARNING: DATA RACE$|http: panic serving |Observed a panic|.{0,80}\b[Pp]anic recovered\b|` +
    String.raw`.{0,40}\b[Rr]ecovered from (?:a )?panic\b)`,
)
const panicLine = /^\t?panic: (.*)$/
const signalLine = new RegExp(
  String.raw`^\[signal (?:(SIG[A-Z0-9]+)(?:: ([^\]]*?))?|(\S+)) code=(0x[0-9a-f]+|-?\d+) addr=(0x[0-9a-f]+)` +
    String.raw`(?: pc=(0x[0-9a-f]+))?\]`,
)
const registerLine = /^([a-z][a-z0-9]{1,7})\s+(0x[0-9a-f]+)\s*$/

type State = 'outside' | 'reason' | 'stacks' | 'race'

export class CrashReader implements LogReader {
  readonly crashes: Crash[] = []
  readonly #make = new FrameMaker()
  readonly #race = new RaceReader(this.#make)
  #state: State = 'outside'
  #crash = newCrash('goroutines', 0)
  #goroutine: Goroutine | undefined
  /** Target of parsed frames: a goroutine's, an ancestor's or the thread's stack. */
  #frames: Frame[] | undefined
  #call = ''
  #reasonLines: string[] = []
  #gap = 0
  #seen = new Set<number>()
  #notes: string[] = []
  #lastLine = ''
  #frameCount = 0

  line(text: string, number: number): void {
    const call = this.#call
    if (call !== '') {
      this.#call = ''
      if (this.#place(call, text)) return
    }
    if (this.#state === 'race') {
      if (this.#race.line(text)) this.#state = 'outside'
      return
    }
    if (text === '') {
      if (this.#state === 'reason') this.#reasonLines.push('')
      return
    }
    if (text.startsWith('goroutine ')) {
      const heading = goroutineHeading(text)
      if (heading) {
        this.#begin(heading, number)
        return
      }
    }
    if (this.#state === 'stacks' && this.#inStacks(text)) return
    if (this.#state === 'reason' && this.#inReason(text)) return
    if (starts.test(text)) this.#start(text, number)
    else if (this.#state === 'outside' || ++this.#gap > maxGapLines) {
      this.#state = 'outside'
      this.#lastLine = text
    }
  }

  /**
   * Reads a stack in a field of a log entry: goroutines as printed by the runtime, or only frames, as printed by
   * loggers.
   */
  logged({ message, level, stack }: LoggedStack, number: number): void {
    this.#leave()
    const isPanic =
      /panic|fatal/i.test(level) ||
      /\bpanic\b|runtime error: /i.test(message) ||
      /(^|\n)(runtime\.gopanic|panic\()/.test(stack)
    const lines = stack.split('\n')
    const crash = this.#open(isPanic ? 'logged panic' : 'logged error', number)
    crash.message = message
    if (/^(panic|fatal error): /.test(stack)) {
      this.#state = 'reason'
      crash.kind = stack.startsWith('panic') ? 'panic' : 'fatal error'
      this.#reason(lines.shift() ?? '')
    } else if (stack.includes('goroutine ')) this.#state = 'stacks'
    else this.#addGoroutine({ state: '', minutes: 0, lockedToThread: false, notes: [] })
    for (const line of lines) {
      const isCall = !line.startsWith('\t') && !line.includes('goroutine ') && line !== ''
      if (this.#state === 'stacks' && isCall && !line.startsWith('created by ')) this.#call = line
      else this.line(line, number)
    }
    this.#leave()
  }

  /** Must be called after the last line. */
  end(): void {
    this.#leave()
  }

  #start(text: string, number: number): void {
    if (text.startsWith('runtime: ')) {
      // It belongs to the error that may follow.
      this.#leave()
      this.#notes.push(text)
      if (this.#notes.length > 20) this.#notes.shift()
      return
    }
    this.#leave()
    if (text === 'WARNING: DATA RACE') {
      this.#race.begin(this.#open('data race', number))
      this.#state = 'race'
      return
    }
    const kind: CrashKind = /^panic: /.test(text)
      ? 'panic'
      : /^(fatal|unexpected)/.test(text)
        ? 'fatal error'
        : /^SIG/.test(text)
          ? 'signal'
          : 'logged panic'
    this.#open(kind, number)
    this.#state = 'reason'
    this.#reason(text)
  }

  #open(kind: CrashKind, number: number): Crash {
    this.#crash = newCrash(kind, number)
    this.#crash.notes.push(...this.#notes)
    this.#notes = []
    this.#reasonLines = []
    this.#gap = 0
    this.#seen = new Set()
    this.#goroutine = undefined
    this.#frames = undefined
    this.crashes.push(this.#crash)
    return this.#crash
  }

  /** Ends the current crash. Lines collected as its message are dropped if no goroutine followed. */
  #leave(): void {
    if (this.#state === 'race') this.#race.end()
    if (this.#state === 'reason') this.#endReason(false)
    this.#state = 'outside'
    this.#call = ''
    this.#goroutine = undefined
    this.#frames = undefined
  }

  #reason(text: string): void {
    const crash = this.#crash
    const panic = panicLine.exec(text)
    const fatal = /^fatal(?: error)?: (.*)$/.exec(text)
    const signal = /^(SIG[A-Z0-9]+): (.*)$/.exec(text)
    const fault = /^unexpected fault address (0x[0-9a-f]+)/.exec(text)
    if (panic) {
      const [, marked = ''] = panic
      const text = marked.replace(/ \[recovered(, repanicked)?\]$/, '')
      crash.panics.push({ text, recovered: text !== marked, repanicked: marked.endsWith('repanicked]') })
    } else if (fatal) {
      crash.fatalError = fatal[1]
      // A panic whose program could not be ended regularly ends with a fatal error.
      if (crash.kind !== 'panic') crash.kind = 'fatal error'
    } else if (fault) crash.signal = { name: 'SIGSEGV', description: 'segmentation violation', address: fault[1] }
    else if (signal) crash.signal = { name: signal[1] ?? '', description: signal[2] ?? '' }
    else crash.message = text
  }

  #inReason(text: string): boolean {
    const crash = this.#crash
    if (
      text.startsWith('\tpanic: ') ||
      (text.startsWith('panic: ') && crash.panics.length > 0 && this.#reasonLines.length === 0)
    ) {
      this.#endReason(true)
      this.#reason(text)
      return true
    }
    if (text.startsWith('fatal error: ') && crash.signal) {
      this.#reason(text)
      return true
    }
    const signal = signalOf(text)
    if (signal) {
      this.#endReason(true)
      crash.signal = signal
      return true
    }
    const trap = /^PC=(0x[0-9a-f]+) m=\S+ sigcode=(-?\d+)(?: addr=(0x[0-9a-f]+))?/.exec(text)
    if (trap && crash.signal) {
      crash.signal = {
        ...crash.signal,
        pc: trap[1],
        code: signedCode(trap[2] ?? '0'),
        ...(trap[3] && { address: trap[3] }),
      }
      return true
    }
    if (crash.signal && /^signal arrived during (cgo|external code) execution/.test(text)) {
      crash.signal = { ...crash.signal, duringCgo: true }
      return true
    }
    if (text === 'runtime stack:') {
      this.#endReason(true)
      crash.runtimeStack = []
      this.#frames = crash.runtimeStack
      this.#state = 'stacks'
      return true
    }
    if (/^(runtime: |\[?goroutine running on|instruction bytes:)/.test(text)) return crash.notes.push(text) > 0
    if (starts.test(text) && !text.startsWith('panic: ')) return false
    this.#reasonLines.push(text)
    if (this.#reasonLines.length > maxReasonLines) this.#leave()
    return true
  }

  /** `isMessage`: the collected lines belong to the message of the last panic. */
  #endReason(isMessage: boolean): void {
    const more = this.#reasonLines.join('\n').trimEnd()
    this.#reasonLines = []
    const last = this.#crash.panics.at(-1)
    if (!isMessage || more === '') return
    // Newer Go indents the lines after the first.
    const rest = more.replaceAll('\n\t', '\n').replace(/^\t/, '')
    if (last) last.text = `${last.text}\n${rest}`
    else if (this.#crash.message !== undefined) this.#crash.message = `${this.#crash.message}\n${rest}`
  }

  #begin(heading: Heading, number: number): void {
    const isOneMore =
      this.#state === 'stacks' && !(heading.id !== undefined && heading.id !== 0 && this.#seen.has(heading.id))
    if (this.#state === 'reason') this.#endReason(true)
    else if (
      !isOneMore ||
      (this.#crash.kind === 'logged panic' && this.#crash.goroutines.length > 0 && heading.state === 'running')
    ) {
      this.#leave()
      // The line before a stack, such as `PANIC: …`.
      const lastLine = this.#lastLine
      const crash = this.#open(
        /\bpanic\b|runtime error: /i.test(lastLine) && heading.state === 'running' ? 'logged panic' : 'goroutines',
        number,
      )
      if (crash.kind === 'logged panic') crash.message = lastLine
    }
    this.#gap = 0
    this.#addGoroutine(heading)
  }

  #addGoroutine(heading: Heading): void {
    this.#state = 'stacks'
    this.#lastLine = ''
    this.#goroutine = { ...heading, frames: [] }
    if (heading.id !== undefined) this.#seen.add(heading.id)
    if (this.#frameCount > maxFrames) {
      this.#crash.dropped++
      this.#frames = undefined
    } else {
      this.#crash.goroutines.push(this.#goroutine)
      this.#frames = this.#goroutine.frames
    }
  }

  #inStacks(text: string): boolean {
    const goroutine = this.#goroutine
    const last = text.charCodeAt(text.length - 1)
    // `f(0x1)`, or `created by f in goroutine 1`, whose location is on the next line; a location begins with a tab.
    if (
      text.charCodeAt(0) !== 9 &&
      (last === 41 || text.startsWith('created by ') || text.startsWith('non-Go function'))
    ) {
      this.#call = text
      return true
    }
    const elided = /^\.\.\.(?:(\d+)|additional) frames elided\.\.\.$/.exec(text)
    if (elided) {
      if (goroutine) goroutine.elided = elided[1] ? Number(elided[1]) : true
      return true
    }
    const ancestor = /^\[originating from goroutine (\d+)\]:$/.exec(text)
    if (ancestor && goroutine) {
      const frames: Frame[] = []
      goroutine.ancestors = [...(goroutine.ancestors ?? []), { goroutine: Number(ancestor[1]), frames }]
      this.#frames = frames
      return true
    }
    if (/^\tgoroutine running on other thread/.test(text)) {
      if (goroutine) goroutine.unavailable = true
      return true
    }
    const register = registerLine.exec(text)
    if (register) {
      this.#crash.registers.set(register[1] ?? '', register[2] ?? '')
      return true
    }
    const status = /^exit status (\d+)$/.exec(text)
    if (status) {
      this.#crash.exitStatus = Number(status[1])
      return true
    }
    const signal = signalOf(text)
    if (signal) this.#crash.signal ??= signal
    return signal !== undefined
  }

  /** Returns true if the line is the location of the call before it. */
  #place(call: string, text: string): boolean {
    const first = text.charCodeAt(0)
    if (first !== 9 && first !== 32) return false
    const created = call.startsWith('created by ')
    const [, creator = '', by] = created ? (/^created by (.*?)(?: in goroutine (\d+))?$/.exec(call) ?? []) : []
    const frame = this.#make.frame(created ? creator : call, text)
    if (!frame) return false
    this.#frameCount++
    if (!created) this.#frames?.push(frame)
    else if (this.#goroutine && this.#frames === this.#goroutine.frames)
      this.#goroutine.createdBy = {
        function: frame.function,
        file: frame.file,
        line: frame.line,
        ...(by && { goroutine: Number(by) }),
      }
    return true
  }
}

function signalOf(text: string): SignalFacts | undefined {
  if (!text.startsWith('[signal ')) return undefined
  const [, name, description = '', other, code = '0', address, pc] = signalLine.exec(text) ?? []
  if (!name && !other) return undefined
  return {
    name: name ?? other ?? '',
    description,
    code: signedCode(code),
    ...(address && { address }),
    ...(pc && { pc }),
  }
}

/** Negative codes are printed as unsigned numbers of 32 or 64 bits. */
const signedCode = (code: string): number => Number(BigInt.asIntN(32, BigInt(code)))
