/** Removes what logs add to lines (colours, time stamps, pod names, JSON), so that Go's own output remains. */

/** An entry of a structured log with a stack in a field. */
export interface LoggedStack {
  readonly message: string
  readonly level: string
  readonly stack: string
}

export interface LogReader {
  line(text: string, number: number): void
  logged(entry: LoggedStack, number: number): void
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const colours = /\x1b\[[0-9;?]*[A-Za-z]/g
const time = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?`
/** Prefixes of a program's line, outermost first; each is optional. */
const prefixes: readonly RegExp[] = [
  // kubectl logs --prefix
  /^\[pod\/[^\]]+\] /,
  // docker compose
  /^[\w.-]+ +\| /,
  // syslog, journalctl
  /^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s:]+: /,
  // CRI's files of containers; kubectl logs --timestamps
  new RegExp(`^${time} (?:(?:stdout|stderr) [FP] )?`),
  // klog
  /^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^\]\s]+\] /,
  // Go's package log
  /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d(?:\.\d+)? (?:\S+\.go:\d+: )?/,
]
/** Matches lines that may have such a prefix. */
const mayBePrefixed = /^[[\dA-Z]|^[\w.-]+ +\| /

const messageFields = ['msg', 'message', 'log', 'MESSAGE', 'textPayload', 'line', 'text', 'event']
const stackFields = ['stacktrace', 'stack', 'stack_trace', 'stackTrace', 'traceback', 'exception.stacktrace']
const reasonFields = ['panic', 'error', 'err', 'recovered', 'reason', 'exception.message']
const levelFields = ['level', 'severity', 'lvl', 'levelname']

/** A heading of a goroutine with a prefix of the log. */
const indented =
  /^(.{1,200}?)(?:goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[[^\]]*\][^:]*:|panic: .*|fatal error: .*)$/
/** A stack in a quoted string. */
const quoted = /goroutine \d+ \[[^\]"]*\]:\\n/

export class LogLines {
  readonly #reader: LogReader
  /** The prefix of the last heading, which the next lines have too. */
  #learned = ''
  /** The beginning of a line that Docker or CRI split. */
  #partial = ''

  constructor(reader: LogReader) {
    this.#reader = reader
  }

  /** Processes a line of the input, without its line ending. */
  push(raw: string, number: number): void {
    let text = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    if (text.includes('\x1b')) text = text.replace(colours, '')
    if (mayBePrefixed.test(text)) text = unprefixed(text)
    if (text.startsWith('{') && this.#json(text, number)) return
    this.#plain(text, number)
  }

  #plain(text: string, number: number): void {
    if (!this.#isLearned(text)) {
      this.#learned = ''
      if (text.includes('goroutine ') || text.includes('panic: ') || text.includes('fatal error: ')) {
        if (quoted.test(text) && this.#quoted(text, number)) return
        const before = indented.exec(text)?.[1]
        if (before !== undefined && isPrefix(before) && !text.startsWith('\tpanic: ')) this.#learned = before
      }
    }
    this.#reader.line(text.slice(this.#learned.length), number)
  }

  /** Editors and logs trim trailing spaces. */
  #isLearned(text: string): boolean {
    return this.#learned !== '' && (text.startsWith(this.#learned) || text === this.#learned.trimEnd())
  }

  /** Returns false if the line is not JSON or has no message. */
  #json(text: string, number: number): boolean {
    let entry: Readonly<Record<string, unknown>>
    try {
      entry = JSON.parse(text) as Readonly<Record<string, unknown>>
    } catch {
      return false
    }
    const message = textOf(entry, messageFields) ?? ''
    const stack = textOf(entry, stackFields)
    if (stack?.includes('\n')) {
      const reason = textOf(entry, reasonFields)
      const combined = reason && !message.includes(reason) ? (message ? `${message}: ${reason}` : reason) : message
      this.#reader.logged({ message: combined, level: textOf(entry, levelFields) ?? '', stack }, number)
      return true
    }
    // A dump in another field, or in the message itself.
    const dump = [message, ...Object.values(entry)].find(
      (value): value is string => typeof value === 'string' && /(^|\n)goroutine \d+ \[/.test(value),
    )
    if (dump !== undefined && dump !== message) this.#lines(`${message}\n${dump}`, number)
    else if (message === '') return false
    else if (typeof entry.log === 'string' && entry.log === message && typeof entry.stream === 'string')
      this.#docker(message, number)
    else this.#lines(message, number)
    return true
  }

  /** Docker splits lines at 16 KB: a piece without a line ending continues. */
  #docker(text: string, number: number): void {
    this.#partial += text
    if (!text.endsWith('\n') && this.#partial.length < maxLineLength) return
    const whole = this.#partial
    this.#partial = ''
    const inner = whole.replace(/\n$/, '')
    if (inner.startsWith('{') && this.#json(inner, number)) return
    this.#lines(inner, number)
  }

  #lines(text: string, number: number): void {
    for (const line of text.replace(/\n$/, '').split('\n')) {
      const bare = line.includes('\x1b') ? line.replace(colours, '') : line
      this.#plain(mayBePrefixed.test(bare) ? unprefixed(bare) : bare, number)
    }
  }

  /** Reads `level=error msg="…" stacktrace="goroutine 1 [running]:\n…"`, and console lines that end in JSON. */
  #quoted(text: string, number: number): boolean {
    const at = quoted.exec(text)?.index ?? 0
    const open = text.lastIndexOf('"', at)
    const [literal] = /^"(?:[^"\\]|\\.)*"/.exec(text.slice(open)) ?? []
    if (open < 0 || !literal) return false
    try {
      const stack = JSON.parse(literal) as string
      const message = text.slice(0, open).replace(/[\s,{]*"?[\w.]+"?[=:]\s*$/, '')
      this.#reader.logged({ message: message.trim(), level: '', stack }, number)
      return true
    } catch {
      return false
    }
  }
}

/**
 * Returns true for spaces, or one or two names with a number or a bar, such as `web-7f9 app `, but not for a sentence
 * about a panic.
 */
const isPrefix = (before: string): boolean =>
  /^\s+$/.test(before) || (/^\S+( \S+)?( [|>│])?\s+$/.test(before) && /[\d|>│\]]/.test(before) && !/:\s+$/.test(before))

/** Maximum length of a line, in characters. */
const maxLineLength = 16 * 1024 * 1024

function unprefixed(text: string): string {
  let rest = text
  for (const prefix of prefixes) rest = rest.replace(prefix, '')
  return rest
}

/** Returns the first of these fields that is not empty. */
function textOf(entry: Readonly<Record<string, unknown>>, fields: readonly string[]): string | undefined {
  for (const field of fields) {
    if (!Object.hasOwn(entry, field)) continue
    const value = entry[field]
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}
