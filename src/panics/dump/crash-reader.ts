/** Finds crashes of Go programs in lines, one line after the other: what is no part of a crash is passed over. */
import type { LoggedStack, LogReader } from '../log/log-lines.ts'
import { type Crash, type CrashKind, newCrash, type SignalFacts } from './crash.ts'
import { type Frame, FrameMaker } from './frame.ts'
import { type Goroutine, goroutineHeading, type Heading } from './goroutine.ts'
import { RaceReader } from './race-reader.ts'

/** What a panic may say before its goroutines come, in lines; more is another program's output. */
const longestReason = 200
/** Lines of other programs between two goroutines of one dump. */
const longestGap = 50
/** Frames that are kept of all crashes; goroutines after that are counted. */
const mostFrames = 2_000_000

const starts =
  /^(?:panic: |fatal error: |fatal: morestack|unexpected fault address |runtime: |SIG[A-Z0-9]+: |WARNING: DATA RACE$|http: panic serving |Observed a panic|.{0,80}\b[Pp]anic recovered\b|.{0,40}\b[Rr]ecovered from (?:a )?panic\b)/
const panicLine = /^\t?panic: (.*)$/
const signalLine =
  /^\[signal (?:(SIG[A-Z0-9]+)(?:: ([^\]]*?))?|(\S+)) code=(0x[0-9a-f]+|-?\d+) addr=(0x[0-9a-f]+)(?: pc=(0x[0-9a-f]+))?\]/
const registerLine = /^([a-z][a-z0-9]{1,7})\s+(0x[0-9a-f]+)\s*$/

type Where = 'outside' | 'reason' | 'stacks' | 'race'

export class CrashReader implements LogReader {
  readonly crashes: Crash[] = []
  readonly #make = new FrameMaker()
  readonly #race = new RaceReader(this.#make)
  #where: Where = 'outside'
  #crash = newCrash('goroutines', 0)
  #goroutine: Goroutine | undefined
  /** Where frames go: a goroutine's, an ancestor's or the thread's stack. */
  #frames: Frame[] | undefined
  #call = ''
  #reasonLines: string[] = []
  #gap = 0
  #seen = new Set<number>()
  #notes: string[] = []
  #said = ''
  #kept = 0

  line(text: string, number: number): void {
    const call = this.#call
    if (call !== '') {
      this.#call = ''
      if (this.#place(call, text)) return
    }
    if (this.#where === 'race') {
      if (this.#race.line(text)) this.#where = 'outside'
      return
    }
    if (text === '') {
      if (this.#where === 'reason') this.#reasonLines.push('')
      return
    }
    if (text.startsWith('goroutine ')) {
      const heading = goroutineHeading(text)
      if (heading) {
        this.#begin(heading, number)
        return
      }
    }
    if (this.#where === 'stacks' && this.#inStacks(text)) return
    if (this.#where === 'reason' && this.#inReason(text)) return
    if (starts.test(text)) this.#start(text, number)
    else if (this.#where === 'outside' || ++this.#gap > longestGap) {
      this.#where = 'outside'
      this.#said = text
    }
  }

  /** A stack in a field of a log's entry: with goroutines as the runtime prints them, or frames alone as loggers do. */
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
      this.#where = 'reason'
      crash.kind = stack.startsWith('panic') ? 'panic' : 'fatal error'
      this.#reason(lines.shift() ?? '')
    } else if (stack.includes('goroutine ')) this.#where = 'stacks'
    else this.#addGoroutine({ state: '', minutes: 0, lockedToThread: false, notes: [] })
    for (const line of lines) {
      const isCall = !line.startsWith('\t') && !line.includes('goroutine ') && line !== ''
      if (this.#where === 'stacks' && isCall && !line.startsWith('created by ')) this.#call = line
      else this.line(line, number)
    }
    this.#leave()
  }

  /** To be called after the last line. */
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
      this.#where = 'race'
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
    this.#where = 'reason'
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

  /** The crash is over: what was taken for the rest of its message was not, if no goroutine came. */
  #leave(): void {
    if (this.#where === 'race') this.#race.end()
    if (this.#where === 'reason') this.#endReason(false)
    this.#where = 'outside'
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
      // A panic that cannot end its program in order ends it so.
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
      this.#where = 'stacks'
      return true
    }
    if (/^(runtime: |\[?goroutine running on|instruction bytes:)/.test(text)) return crash.notes.push(text) > 0
    if (starts.test(text) && !text.startsWith('panic: ')) return false
    this.#reasonLines.push(text)
    if (this.#reasonLines.length > longestReason) this.#leave()
    return true
  }

  /** `isMessage`: the lines in between belong to the message of the last panic. */
  #endReason(isMessage: boolean): void {
    const more = this.#reasonLines.join('\n').trimEnd()
    this.#reasonLines = []
    const last = this.#crash.panics.at(-1)
    if (!isMessage || more === '') return
    // Newer Go indents what follows the first line.
    const rest = more.replaceAll('\n\t', '\n').replace(/^\t/, '')
    if (last) last.text = `${last.text}\n${rest}`
    else if (this.#crash.message !== undefined) this.#crash.message = `${this.#crash.message}\n${rest}`
  }

  #begin(heading: Heading, number: number): void {
    const isOneMore =
      this.#where === 'stacks' && !(heading.id !== undefined && heading.id !== 0 && this.#seen.has(heading.id))
    if (this.#where === 'reason') this.#endReason(true)
    else if (
      !isOneMore ||
      (this.#crash.kind === 'logged panic' && this.#crash.goroutines.length > 0 && heading.state === 'running')
    ) {
      this.#leave()
      // `PANIC: …`, or whatever else somebody writes before a stack.
      const said = this.#said
      const crash = this.#open(
        /\bpanic\b|runtime error: /i.test(said) && heading.state === 'running' ? 'logged panic' : 'goroutines',
        number,
      )
      if (crash.kind === 'logged panic') crash.message = said
    }
    this.#gap = 0
    this.#addGoroutine(heading)
  }

  #addGoroutine(heading: Heading): void {
    this.#where = 'stacks'
    this.#said = ''
    this.#goroutine = { ...heading, frames: [] }
    if (heading.id !== undefined) this.#seen.add(heading.id)
    if (this.#kept > mostFrames) {
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
    // `f(0x1)`, and `created by f in goroutine 1`, whose place is in the next line; a tab begins a place.
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

  /** Whether a line is the place of the call before it. */
  #place(call: string, text: string): boolean {
    const first = text.charCodeAt(0)
    if (first !== 9 && first !== 32) return false
    const created = call.startsWith('created by ')
    const [, creator = '', by] = created ? (/^created by (.*?)(?: in goroutine (\d+))?$/.exec(call) ?? []) : []
    const frame = this.#make.frame(created ? creator : call, text)
    if (!frame) return false
    this.#kept++
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

/** Negative codes are printed as what they are without a sign, in 32 bits or in 64. */
const signedCode = (code: string): number => Number(BigInt.asIntN(32, BigInt(code)))
