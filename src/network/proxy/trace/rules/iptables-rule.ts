/** Reads one rule as `iptables-save` prints it. Matches that a trace cannot evaluate become unknown conditions. */
import type { Action, Condition, Rule } from './ruleset.ts'

/** Options of matches and targets without influence on where a packet goes. */
const ignored = new Set([
  ...['-m', '--mode', '--reject-with', '--name', '--mask', '--log-prefix', '--log-level', '--nflog-group'],
  ...['--nflog-prefix', '--nfacct-name'],
])
const ignoredWithoutValue = new Set(['--reap', '--rsource', '--set', '--random-fully', '--random', '--persistent'])
const withoutEnd = new Set(['LOG', 'NFLOG', 'CONNMARK', 'NOTRACK', 'CT', 'TCPMSS', 'TRACE'])

export class RuleReader {
  readonly #words: readonly string[]
  readonly #text: string
  readonly #isChain: (name: string) => boolean
  readonly #packets: number | undefined
  readonly #conditions: Condition[] = []
  #position = 0
  #comment: string | undefined
  #target: { readonly name: string; readonly isGoto: boolean } | undefined
  #destination = ''
  #mark: Action | undefined
  #seconds: number | undefined
  #listName = ''

  constructor(line: string, isChain: (name: string) => boolean) {
    const [, packets, text = line] = /^\[(\d+):\d+\] (.*)$/.exec(line) ?? []
    this.#packets = packets === undefined ? undefined : Number(packets)
    this.#text = text
    this.#words = wordsOf(text)
    this.#isChain = isChain
  }

  read(): Rule {
    // `-A CHAIN`
    this.#position = 2
    while (this.#position < this.#words.length) this.#readOption()
    const conditions = this.#conditions.map((condition) =>
      condition.kind === 'affinity' ? { ...condition, list: this.#listName, seconds: this.#seconds } : condition,
    )
    const actions = this.#action()
    return {
      text: this.#text,
      conditions,
      actions: actions ? [actions] : [],
      packets: this.#packets,
      comment: this.#comment,
    }
  }

  #next(): string {
    return this.#words[this.#position++] ?? ''
  }

  #readOption(): void {
    const isNegated = this.#words[this.#position] === '!'
    if (isNegated) this.#position++
    const option = this.#next()
    if (option === '--comment') this.#comment = this.#next()
    else if (option === '--seconds') this.#seconds = Number(this.#next())
    else if (option === '--name') this.#listName = this.#next()
    else if (ignored.has(option)) this.#next()
    else if (!ignoredWithoutValue.has(option) && !this.#readTarget(option)) this.#readCondition(option, isNegated)
  }

  /** Returns true for the options of targets. */
  #readTarget(option: string): boolean {
    switch (option) {
      case '-j':
      case '-g':
        this.#target = { name: this.#next(), isGoto: option === '-g' }
        return true
      case '--to-destination':
        this.#destination = this.#next()
        return true
      case '--set-xmark':
      case '--set-mark':
        this.#mark = markAction(this.#next())
        return true
      default:
        return false
    }
  }

  #readCondition(option: string, isNegated: boolean): void {
    const condition = this.#condition(option)
    this.#conditions.push(isNegated ? { ...condition, isNegated } : condition)
  }

  #condition(option: string): Condition {
    switch (option) {
      case '-s':
      case '-d':
        return { kind: 'address', side: option === '-s' ? 'source' : 'destination', ranges: this.#next().split(',') }
      case '-p':
        return { kind: 'protocol', names: [this.#next()] }
      case '-i':
      case '-o':
        return {
          kind: 'interface',
          direction: option === '-i' ? 'in' : 'out',
          names: [this.#next().replace(/\+$/, '*')],
        }
      case '--dport':
      case '--dports':
        return { kind: 'port', ranges: this.#next().split(',').map(portRange) }
      case '--ctstate':
      case '--state':
        return { kind: 'state', states: this.#next().toLowerCase().split(',') }
      case '--mark': {
        const [value = '0', mask = '0xffffffff'] = this.#next().split('/')
        return { kind: 'mark', value: Number(value), mask: Number(mask) }
      }
      case '--probability':
        return { kind: 'random', probability: Number(this.#next()) }
      case '--rcheck':
      case '--update':
        return { kind: 'affinity', list: '', seconds: undefined }
      case '--src-type':
      case '--dst-type': {
        const type = this.#next()
        if (type !== 'LOCAL') return { kind: 'unknown', text: `${option} ${type}` }
        return { kind: 'local', side: option === '--src-type' ? 'source' : 'destination' }
      }
      default:
        return { kind: 'unknown', text: [option, ...this.#values()].join(' ') }
    }
  }

  /** The words until the next option. */
  #values(): string[] {
    const values: string[] = []
    while (this.#position < this.#words.length && !/^(?:-|!$)/.test(this.#words[this.#position]!))
      values.push(this.#next())
    return values
  }

  #action(): Action | undefined {
    if (!this.#target) return undefined
    const { name, isGoto } = this.#target
    if (this.#isChain(name)) return { kind: isGoto ? 'goto' : 'jump', chain: name }
    switch (name) {
      case 'ACCEPT':
        return { kind: 'accept' }
      case 'DROP':
        return { kind: 'drop' }
      case 'REJECT':
        return { kind: 'reject' }
      case 'RETURN':
        return { kind: 'return' }
      case 'MASQUERADE':
        return { kind: 'masquerade' }
      case 'MARK':
        return this.#mark
      case 'DNAT':
        return destinationAction(this.#destination)
      default:
        return withoutEnd.has(name) ? undefined : { kind: 'unknown', text: name }
    }
  }
}

/** Splits at blanks outside of quotes, and removes the quotes. */
const wordsOf = (text: string): string[] =>
  (text.match(/"(?:\\.|[^"\\])*"|\S+/g) ?? []).map((word) =>
    word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word,
  )

function portRange(text: string): [number, number] {
  const [from = '', to = from] = text.split(':')
  return [Number(from), Number(to)]
}

function markAction(text: string): Action {
  const [value = '0', mask = '0xffffffff'] = text.split('/')
  return { kind: 'mark', clear: Number(mask), flip: Number(value) }
}

/** `10.0.0.1:80`, `[fd00::1]:80`, or without a port. */
function destinationAction(text: string): Action {
  const [, six, four, port] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d+))?/.exec(text) ?? []
  const address = six ?? four
  if (address === undefined) return { kind: 'unknown', text: `DNAT ${text}` }
  return { kind: 'dnat', address, port: port === undefined ? undefined : Number(port) }
}
